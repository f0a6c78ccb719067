/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

#define ANY 0xffffffffu
#define TYPE_MASK 0xfu /* of socket's second argument; the rest are flags */
#define PROGRAM_MAX 320

/* ---- what passes ---------------------------------------------------------------------------- */

/* netlink: interfaces and routes can be looked at, as getifaddrs(3) and getaddrinfo(3) do. */
static const struct socket_row {
	uint32_t family, type, protocol;
} allowed[] = {
	{ AF_UNIX, ANY, ANY },
	{ AF_INET, SOCK_STREAM, 0 },
	{ AF_INET, SOCK_STREAM, IPPROTO_TCP },
	{ AF_INET, SOCK_DGRAM, 0 },
	{ AF_INET, SOCK_DGRAM, IPPROTO_UDP },
	{ AF_INET6, SOCK_STREAM, 0 },
	{ AF_INET6, SOCK_STREAM, IPPROTO_TCP },
	{ AF_INET6, SOCK_DGRAM, 0 },
	{ AF_INET6, SOCK_DGRAM, IPPROTO_UDP },
	{ AF_NETLINK, ANY, 0 /* NETLINK_ROUTE */ },
};
#define ROWS (sizeof(allowed) / sizeof(allowed[0]))

bool seccomp_allows(uint32_t family, uint32_t type, uint32_t protocol)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct socket_row *r = &allowed[i];

		if (r->family == family && (r->type == ANY || r->type == (type & TYPE_MASK)) &&
		    (r->protocol == ANY || r->protocol == protocol))
			return true;
	}
	return false;
}

/* ---- which calls are looked at, by the numbers that each architecture has for them ------------ */

enum { SOCKETS = 1 << 0, STAY = 1 << 1, NO_LISTEN = 1 << 2, GUARD = 1 << 3 };
#define NO_CALL ANY

static const struct call_row {
	uint32_t native, i386;
	uint32_t error; /* 0: the table above decides */
	unsigned int when;
	struct {
		uint32_t at, mask, value; /* mask 0: whatever its arguments */
	} arg;
} calls[] = {
	{ SYS_socket, 359, 0, SOCKETS, { 0 } },
	{ SYS_socketpair, 360, 0, SOCKETS, { 0 } },
	/* Its arguments are in memory, where no filter looks; libraries fall back to the calls above. */
	{ NO_CALL, 102 /* socketcall */, ENOSYS, SOCKETS, { 0 } },
	{ SYS_io_uring_setup, 425, ENOSYS, SOCKETS, { 0 } },
	{ SYS_setns, 346, EPERM, STAY, { 0 } },
	{ SYS_listen, 363, EPERM, NO_LISTEN, { 0 } },
	/* Input for whoever reads the terminal next, and its console. */
	{ SYS_ioctl, 54, EPERM, GUARD, { 1, ANY, TIOCSTI } },
	{ SYS_ioctl, 54, EPERM, GUARD, { 1, ANY, TIOCLINUX } },
	{ SYS_ioctl, 54, EPERM, GUARD, { 1, ANY, TIOCCONS } },
	/* In a user namespace everybody has every capability, and with it most of the kernel to attack.
	 * clone3's flags are in memory; libraries fall back to clone. */
	{ SYS_clone, 120, EPERM, GUARD, { 0, CLONE_NEWUSER, CLONE_NEWUSER } },
	{ SYS_unshare, 310, EPERM, GUARD, { 0, CLONE_NEWUSER, CLONE_NEWUSER } },
	{ SYS_clone3, 435, ENOSYS, GUARD, { 0 } },
	{ SYS_bpf, 357, EPERM, GUARD, { 0 } },
	{ SYS_perf_event_open, 336, EPERM, GUARD, { 0 } },
	{ SYS_userfaultfd, 374, EPERM, GUARD, { 0 } },
	/* Keys belong to a user, whose keyrings are the same outside. */
	{ SYS_add_key, 286, ENOSYS, GUARD, { 0 } },
	{ SYS_request_key, 287, ENOSYS, GUARD, { 0 } },
	{ SYS_keyctl, 288, ENOSYS, GUARD, { 0 } },
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

#ifdef __x86_64__
#define NATIVE AUDIT_ARCH_X86_64
#define X32_BIT 0x40000000u
#else
#define NATIVE AUDIT_ARCH_AARCH64
#endif

/* ---- the program ------------------------------------------------------------------------------ */

struct program {
	struct sock_filter code[PROGRAM_MAX];
	unsigned int len;
};

#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))
/* The low half, which is all that the kernel takes of an int. Little endian, as all we build for. */
#define ARG(n) ((uint32_t)offsetof(struct seccomp_data, args[n]))

static void put(struct program *p, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
	if (p->len < PROGRAM_MAX)
		p->code[p->len] = (struct sock_filter){ .code = code, .jt = yes, .jf = no, .k = k };
	p->len++;
}

static void load(struct program *p, uint32_t offset)
{
	put(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

static void verdict(struct program *p, uint32_t error)
{
	put(p, BPF_RET | BPF_K, 0, 0, error ? SECCOMP_RET_ERRNO | error : SECCOMP_RET_ALLOW);
}

/* Where the table begins is known at the end: a jump of length 0 stands for it until then. */
static void jump_to_table(struct program *p)
{
	put(p, BPF_JMP | BPF_JA, 0, 0, 0);
}

static void put_call(struct program *p, uint32_t number, const struct call_row *r)
{
	bool looks = r->arg.mask != 0;

	put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, looks ? 5 : 1, number);
	if (looks) {
		load(p, ARG(r->arg.at));
		put(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, r->arg.mask);
		put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, r->arg.value);
	}
	if (r->error)
		verdict(p, r->error);
	else
		jump_to_table(p);
	if (looks)
		load(p, FIELD(nr)); /* another row may be about the same call */
}

static void put_architecture(struct program *p, uint32_t arch, unsigned int when)
{
	unsigned int test;

	load(p, FIELD(arch));
	test = p->len;
	put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, arch);
	load(p, FIELD(nr));
#ifdef X32_BIT
	if (arch == NATIVE) {
		put(p, BPF_JMP | BPF_JSET | BPF_K, 0, 1, X32_BIT);
		verdict(p, ENOSYS);
	}
#endif
	for (size_t i = 0; i < CALLS; i++) {
		uint32_t number = arch == NATIVE ? calls[i].native : calls[i].i386;

		if (number != NO_CALL && calls[i].when & when)
			put_call(p, number, &calls[i]);
	}
	verdict(p, 0);
	p->code[test].jf = (uint8_t)(p->len - test - 1);
}

/* Each condition that does not hold leads to the next row: how many instructions are left is its jump. */
static void put_row(struct program *p, const struct socket_row *r)
{
	load(p, ARG(0));
	put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 7, r->family);
	load(p, ARG(1));
	put(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, r->type == ANY ? 0 : TYPE_MASK);
	put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, r->type == ANY ? 0 : r->type);
	load(p, ARG(2));
	put(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, r->protocol == ANY ? 0 : ANY);
	put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, r->protocol == ANY ? 0 : r->protocol);
	verdict(p, 0);
}

static void put_table(struct program *p)
{
	for (unsigned int i = 0; i < p->len; i++)
		if (p->code[i].code == (BPF_JMP | BPF_JA) && !p->code[i].k)
			p->code[i].k = p->len - i - 1;
	for (size_t i = 0; i < ROWS; i++)
		put_row(p, &allowed[i]);
	verdict(p, SECCOMP_ERRNO);
}

int seccomp_apply(const struct seccomp_opts *opts, char what[MOUNTS_WHAT])
{
	unsigned int when = (opts->sockets ? SOCKETS : 0) | (opts->stay ? STAY : 0) |
			    (opts->no_listen ? NO_LISTEN : 0) | (opts->guard ? GUARD : 0);
	struct program p;
	struct sock_fprog filter;

	p.len = 0;
	put_architecture(&p, NATIVE, when);
#ifdef __x86_64__
	put_architecture(&p, AUDIT_ARCH_I386, when);
#endif
	verdict(&p, ENOSYS);
	put_table(&p);
	if (p.len > PROGRAM_MAX) {
		errno = E2BIG;
		return mounts_fail(what, "seccomp filter");
	}
	filter = (struct sock_fprog){ .len = (unsigned short)p.len, .filter = p.code };
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) <
	    0)
		return mounts_fail(what, "seccomp filter");
	return 0;
}

int seccomp_verify(pid_t pid, struct err *err)
{
	char path[48], status[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	n = io_read_file(-1, path, status, sizeof(status));
	if (n < 0)
		return err_set(err, (int)n, "read '%s'", path);
	return strstr(status, "\nSeccomp:\t2\n")
		       ? 0
		       : err_set(err, -ESTALE, "process %d is not under a seccomp filter",
				 (int)pid);
}
