# SPDX-License-Identifier: Apache-2.0
# One Makefile, no recursion. Everything it makes is below build/VARIANT; sources are found by glob,
# so a new file needs no line here. `make help` lists the targets.

VARIANT := $(or $(subst $() ,-,$(strip $(if $(SAN),san) $(if $(FAULTS),faults))),release)
B       := build/$(VARIANT)
GEN     := $(B)/gen

CC       ?= gcc
CLANG    ?= clang
FUZZ_CC  ?= clang
BPFTOOL   = PATH="$$PATH:/usr/sbin:/sbin" bpftool
PREFIX   ?= /usr/local
TIME     ?= 60
Q        := $(if $(V),,@)
say       = $(if $(V),,@printf '  %-7s %s\n' $(1) $@)

ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += --jobs=$(shell nproc)
endif
.DELETE_ON_ERROR:

MACHINE   := $(shell uname -m)

# ---- flags -----------------------------------------------------------------------------------------
WARN      := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla
HARDEN    := -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=2 \
	$(if $(filter x86_64,$(MACHINE)),-fcf-protection)
SANITIZE  := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
WERROR    ?= $(if $(CI),1)
CPPFLAGS  += -D_GNU_SOURCE= -Iinclude -Iuser -Itools -I$(GEN)
CFLAGS    += -std=gnu11 -O2 -g -fPIE -ffunction-sections -fdata-sections $(WARN) $(if $(WERROR),-Werror)
CFLAGS    += $(if $(SAN),$(SANITIZE),$(HARDEN))
LDFLAGS   += -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--gc-sections $(if $(SAN),$(SANITIZE))
# A static program starts in half the time of a dynamic one; sanitizers need the dynamic loader.
STATIC    := $(if $(SAN),-pie,-static-pie)
LIBS      := -lbpf -lelf -lz -ljansson -lseccomp -lcap -lcares
TOP_LIBS  := -lncursesw -ltinfo
FAULTFLAG := -DSBX_FAULTS=1

ARCH_x86_64  := x86
ARCH_aarch64 := arm64
BPF_CFLAGS   := -target bpf -mcpu=v3 -D__TARGET_ARCH_$(or $(ARCH_$(MACHINE)),$(MACHINE)) -O2 -g -Wall -Wextra \
	-Wno-unused-parameter $(if $(WERROR),-Werror) -Ivmlinux -Iinclude -Ibpf

# ---- sources ---------------------------------------------------------------------------------------
LIB_SRC   := $(wildcard $(patsubst %,user/%/*.c,base policy kern run serve))
CTL_SRC   := $(wildcard tools/sbxctl/*.c)
TOP_SRC   := $(wildcard tools/sbxtop/*.c)
BPF_SRC   := $(wildcard bpf/*.bpf.c)
UNIT_SRC  := $(wildcard tests/unit/*.c)
KERN_SRC  := $(wildcard tests/kernel/*.c)
AID_SRC   := $(wildcard tests/lib/*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)
FUZZ_SRC  := $(wildcard tests/fuzz/*.c)
HEADERS   := $(wildcard include/sbx/*.h user/*/*.h tools/*/*.h bpf/*.h tests/*/*.h)
SOURCES   := $(LIB_SRC) $(CTL_SRC) $(TOP_SRC) $(UNIT_SRC) $(KERN_SRC) $(AID_SRC) $(BENCH_SRC) $(FUZZ_SRC)

SKEL      := $(if $(BPF_SRC),$(GEN)/sbx.skel.h $(GEN)/build_id.h)
UNIT      := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/unit_%)
KERN      := $(KERN_SRC:tests/kernel/%.c=$(B)/tests/kernel_%)
AIDS      := $(AID_SRC:tests/lib/%.c=$(B)/tests/%)
BENCH     := $(BENCH_SRC:tests/bench/%.c=$(B)/bench/%)
FUZZ      := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/tests/fuzz_%)
PROGRAMS  := $(if $(CTL_SRC),$(B)/sbxctl) $(if $(TOP_SRC),$(B)/sbxtop)
FAULTY    := $(if $(CTL_SRC),build/faults/sbxctl)

# Goals that promise to do all the set-up install what is missing before anything is compiled.
SETUP     := $(if $(filter demo,$(MAKECMDGOALS)),deps-build)
SETUP     := $(if $(filter check check-%,$(MAKECMDGOALS)),deps,$(SETUP))

# ---- what people call ------------------------------------------------------------------------------
.PHONY: help all tests demo check check-unit check-kernel check-e2e check-cases check-vm check-btf bench \
	bench-vm fuzz lint format documents deps deps-build install uninstall clean

all: $(PROGRAMS) ## build the programs (SAN=1: with sanitizers; FAULTS=1: with fault points; V=1: show commands)

help: ## show this list
	@awk -F':.*## ' '/^[a-z0-9_.-]+:.*## / { printf "  %-22s %s\n", $$1, $$2 }' Makefile

tests: all $(UNIT) $(KERN) $(AIDS) $(BENCH) ## build every test program

demo: $(SETUP) all ## install what is missing, build, and show one untrusted job from start to end
	$(Q)SBXCTL=$(B)/sbxctl tests/demo/demo

check: $(SETUP) tests $(FAULTY) $(FUZZ) ## install what is missing, build, run every test; a table at the end
	$(Q)BUILD=$(B) SAN=$(SAN) tests/lib/check

check-unit: $(SETUP) $(UNIT) ## tests without root or kernel features
	$(Q)BUILD=$(B) tests/lib/run-suite $(UNIT)

check-kernel: $(SETUP) $(KERN) $(AIDS) ## tests of the kernel half and user/kern (root)
	$(Q)BUILD=$(B) tests/lib/run-suite $(KERN)

check-e2e: $(SETUP) tests $(FAULTY) ## one promise a file, through the programs (root); ONLY=NAME for one
	$(Q)BUILD=$(B) tests/lib/run-suite $(if $(ONLY),$(ONLY:%=tests/e2e/%.sh),tests/e2e)

check-cases: $(SETUP) all ## faults reported against other tools, from SBX_SHARED (../shared); ONLY=NNN for one
	$(Q)BUILD=$(B) tests/cases/run $(ONLY)

check-vm: $(SETUP) tests $(FAULTY) ## suites in a virtual machine: KERNEL=6.1|6.12|7.3 PREEMPT= LOCKDOWN= SUITE= ONLY=
	$(Q)BUILD=$(B) tests/vm/check $(foreach v,KERNEL PREEMPT LOCKDOWN SUITE ONLY,$(if $($v),$v=$($v)))

check-btf: $(SETUP) $(SKEL) ## hold vmlinux/ and every hook against the BTF of each kernel
	$(Q)BUILD=$(B) tests/vm/btf

bench: $(SETUP) all $(BENCH) ## start, output, memory, kill, deadline and sbxtop, beside other tools
	$(Q)BUILD=$(B) tests/bench/run
	$(Q)BUILD=$(B) tests/bench/top

bench-vm: $(SETUP) tests ## instructions per operation in a virtual machine: KERNEL= PREEMPT= ROUNDS=; UPDATE=1 sets the baseline
	$(Q)BUILD=$(B) tests/vm/bench $(foreach v,KERNEL PREEMPT ROUNDS,$(if $($v),$v=$($v))) $(if $(UPDATE),--update-baseline)

fuzz: $(FUZZ) ## run every fuzz target for TIME=60 seconds
	$(Q)tests/lib/fuzz $(TIME) $(FUZZ)

lint: $(SKEL) ## layers, sizes, names, format, static checks
	$(Q)BUILD=$(B) tests/lint/run

format: ## rewrite the C sources with clang-format
	$(Q)clang-format -i $(SOURCES) $(HEADERS) $(BPF_SRC)

documents: all ## rewrite the man pages and completions/ from the tables of the programs
	$(Q)BUILD=$(B) man/generate

deps: ## install the missing Debian packages that build and tests need (root)
	$(Q)tests/lib/deps build test
	$(Q)tests/lib/deps real

deps-build:
	$(Q)tests/lib/deps build

# ---- the kernel half: objects, linked into one, then a header that carries it -----------------------
$(B)/bpf/%.bpf.o: bpf/%.bpf.c Makefile | $(SETUP)
	$(call say,BPF)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@

# The linker leaves DWARF out and keeps BTF: the object is stripped as far as it can be.
$(B)/sbx.bpf.o: $(BPF_SRC:%.c=$(B)/%.o)
	$(call say,BPFLINK)
	$(Q)$(BPFTOOL) gen object $@ $^

$(GEN)/sbx.skel.h: $(B)/sbx.bpf.o
	$(call say,SKEL)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name sbx_bpf > $@

$(GEN)/build_id.h: $(B)/sbx.bpf.o
	$(call say,ID)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#define SBX_BUILD_ID "%s"\n' "$$(sha256sum < $< | cut -d' ' -f1)" > $@

# ---- programs: $(1) is the folder, $(2) flags of its own ---------------------------------------------
define program
$(1)/%.o: %.c Makefile | $$(SKEL) $$(SETUP)
	$$(call say,CC)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CPPFLAGS) $$(CFLAGS) $(2) -MMD -MP -c $$< -o $$@

$(1)/libsbx.a: $$(LIB_SRC:%.c=$(1)/%.o)
$(1)/libsbxctl.a: $$(filter-out %/main.o,$$(CTL_SRC:%.c=$(1)/%.o))
$(1)/libsbxtop.a: $$(filter-out %/main.o,$$(TOP_SRC:%.c=$(1)/%.o))
$(1)/libsbx.a $(1)/libsbxctl.a $(1)/libsbxtop.a:
	$$(call say,AR)
	$$(Q)rm -f $$@ && $$(AR) crsD $$@ $$^

$(1)/sbxctl: $(1)/tools/sbxctl/main.o $(1)/libsbxctl.a $(1)/libsbx.a
	$$(call say,LINK)
	$$(Q)$$(CC) $$(CFLAGS) $$(STATIC) $$(LDFLAGS) $$^ $$(LIBS) -o $$@

# Started once and left on a screen: it need not be static, and terminals and locales want the libraries of the host.
$(1)/sbxtop: $(1)/tools/sbxtop/main.o $(1)/libsbxtop.a $(1)/libsbxctl.a $(1)/libsbx.a
	$$(call say,LINK)
	$$(Q)$$(CC) $$(CFLAGS) -pie $$(LDFLAGS) $$^ $$(LIBS) $$(TOP_LIBS) -o $$@
endef

$(eval $(call program,$(B),$(if $(FAULTS),$(FAULTFLAG))))
ifneq ($(B),build/faults)
$(eval $(call program,build/faults,$(FAULTFLAG)))
endif

# Objects of single tests are named nowhere; make would remove them, and compile them anew each time.
.SECONDARY: $(patsubst %.c,$(B)/%.o,$(UNIT_SRC) $(KERN_SRC) $(AID_SRC) $(BENCH_SRC)) $(FUZZ_SRC:%.c=build/fuzz/%.o)

# ---- tests -------------------------------------------------------------------------------------------
ARCHIVES := $(if $(TOP_SRC),$(B)/libsbxtop.a) $(if $(CTL_SRC),$(B)/libsbxctl.a) $(if $(LIB_SRC),$(B)/libsbx.a)

$(B)/tests/unit_%: $(B)/tests/unit/%.o $(ARCHIVES)
	$(call say,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pie $(LDFLAGS) $^ $(LIBS) $(TOP_LIBS) -lcmocka -lpthread -o $@

$(B)/tests/kernel_%: $(B)/tests/kernel/%.o $(ARCHIVES)
	$(call say,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -pie $(LDFLAGS) $^ $(LIBS) -lcmocka -lpthread -o $@

# Helpers of the end-to-end tests know nothing of the product, and run inside any root image: static.
$(B)/tests/%: $(B)/tests/lib/%.o
	$(call say,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(STATIC) $(LDFLAGS) $^ -lpthread -o $@

$(B)/bench/%: $(B)/tests/bench/%.o
	$(call say,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(STATIC) $(LDFLAGS) $^ -lpthread -o $@

FUZZ_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_OBJ   := $(LIB_SRC:%.c=build/fuzz/%.o)
build/fuzz/%.o: %.c Makefile | $(SKEL)
	$(call say,FUZZCC)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(CPPFLAGS) -std=gnu11 -O1 -g $(WARN) -fsanitize=fuzzer-no-link $(FUZZ_FLAGS) -MMD -MP -c $< -o $@

build/fuzz/libsbx.a: $(FUZZ_OBJ)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) crsD $@ $^

$(B)/tests/fuzz_%: build/fuzz/tests/fuzz/%.o build/fuzz/libsbx.a
	$(call say,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer $(FUZZ_FLAGS) $^ $(LIBS) -o $@

# ---- the rest ----------------------------------------------------------------------------------------
compile_commands.json: Makefile $(SOURCES) ## compilation database for editors and clang-tidy
	$(Q){ sep='['; for f in $(SOURCES); do \
		printf '%s\n{"directory": "%s", "file": "%s", "command": "%s"}' "$$sep" '$(CURDIR)' "$$f" \
			'$(CC) $(CPPFLAGS) $(CFLAGS) -c '"$$f"; sep=,; done; printf '\n]\n'; } > $@

MAN := $(wildcard man/*.[1-8])
BASH_COMPLETION := $(wildcard completions/*.bash)

install: all ## install below PREFIX (/usr/local), DESTDIR honoured
	install -D -m 0755 $(B)/sbxctl $(DESTDIR)$(PREFIX)/bin/sbxctl
	install -D -m 0755 $(B)/sbxtop $(DESTDIR)$(PREFIX)/bin/sbxtop
	$(foreach m,$(MAN),install -D -m 0644 $m $(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $m))/$(notdir $m)$(newline))
	$(foreach c,$(BASH_COMPLETION),install -D -m 0644 $c \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/$(basename $(notdir $c))$(newline))
	$(foreach c,_sbxctl _sbxtop,install -D -m 0644 completions/$c \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions/$c$(newline))
	install -D -m 0644 completions/sbxctl.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/sbxctl.fish

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/sbxctl $(DESTDIR)$(PREFIX)/bin/sbxtop \
		$(foreach m,$(MAN),$(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $m))/$(notdir $m)) \
		$(foreach c,$(BASH_COMPLETION),$(DESTDIR)$(PREFIX)/share/bash-completion/completions/$(basename $(notdir $c))) \
		$(foreach c,_sbxctl _sbxtop,$(DESTDIR)$(PREFIX)/share/zsh/site-functions/$c) \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/sbxctl.fish

clean: ## remove build/ and compile_commands.json
	rm -rf build compile_commands.json

define newline


endef

-include $(patsubst %.c,$(B)/%.d,$(SOURCES) $(BPF_SRC)) $(patsubst %.c,build/faults/%.d,$(LIB_SRC) $(CTL_SRC)) \
	$(patsubst %.c,build/fuzz/%.d,$(LIB_SRC) $(FUZZ_SRC))
