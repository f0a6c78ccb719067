/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/report_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/object.h"
#include "kern/pins.h"
#include "sbx.skel.h"

#define PROGRAM "report_sys_exit"
#define LINKS "report_links"

/* Maps of the half that this hook shares. */
static const enum half_pin shared[] = { HALF_DENIALS };

/*
 * libbpf takes a kernel whose lockdown refuses bpf_probe_read_kernel for one from before 5.5, and
 * puts bpf_probe_read into the place of bpf_probe_read_user as well, which lockdown refuses too (libbpf
 * 1.1, bpf_object__sanitize_prog). This takes it back.
 */
static int read_user_again(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	size_t count = bpf_program__insn_cnt(prog);
	own_mem struct bpf_insn *insns = malloc(count * sizeof(*insns));

	(void)opts;
	(void)cookie;
	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), count * sizeof(*insns));
	for (size_t i = 0; i < count; i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg)
			continue;
		if (insns[i].imm == BPF_FUNC_probe_read)
			insns[i].imm = BPF_FUNC_probe_read_user;
		if (insns[i].imm == BPF_FUNC_probe_read_str)
			insns[i].imm = BPF_FUNC_probe_read_user_str;
	}
	return bpf_program__set_insns(prog, insns, count);
}

static int load(struct kern *k, struct sbx_bpf *skel)
{
	struct bpf_program *p;
	int rc = object_share_maps(skel->obj, k, shared, sizeof(shared) / sizeof(shared[0]));

	bpf_map__set_autocreate(skel->maps.report_links, true);

	bpf_object__for_each_program(p, skel->obj)
		bpf_program__set_autoload(p, p == skel->progs.report_sys_exit);
	if (!rc)
		rc = bpf_program__set_attach_target(skel->progs.report_sys_exit, 0, "sys_exit");
	return rc ? rc : sbx_bpf__load(skel);
}

/* ---- pins ----------------------------------------------------------------------------------- */

static void path_of(const struct kern *k, const char *name, char path[PINS_PATH + 32])
{
	snprintf(path, PINS_PATH + 32, "%s/%s", k->dir, name);
}

/* The program last: without it the map is a leftover. */
static int pin(struct kern *k, const struct sbx_bpf *skel)
{
	char links[PINS_PATH + 32], program[PINS_PATH + 32];

	path_of(k, LINKS, links);
	path_of(k, PROGRAM, program);
	if (unlink(links) && errno != ENOENT)
		return -errno;
	if (bpf_obj_pin(bpf_map__fd(skel->maps.report_links), links) ||
	    bpf_obj_pin(bpf_program__fd(skel->progs.report_sys_exit), program))
		return -errno;
	return 0;
}

static int get(const struct kern *k, struct report_half *half)
{
	char path[PINS_PATH + 32];

	path_of(k, PROGRAM, path);
	half->prog_fd = bpf_obj_get(path);
	path_of(k, LINKS, path);
	half->links_fd = half->prog_fd < 0 ? -1 : bpf_obj_get(path);
	return half->links_fd < 0 ? -errno : 0;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int load_and_pin(struct kern *k)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = read_user_again);
	int handler = libbpf_register_prog_handler("tp_btf/sys_exit", BPF_PROG_TYPE_TRACING,
						   BPF_TRACE_RAW_TP, &opts);
	struct sbx_bpf *skel = handler < 0 ? NULL : sbx_bpf__open();
	int rc = handler < 0 ? handler : skel ? 0 : -errno;

	if (!rc)
		rc = load(k, skel);
	if (!rc)
		rc = pin(k, skel);
	sbx_bpf__destroy(skel);
	if (handler >= 0)
		libbpf_unregister_prog_handler(handler);
	return rc;
}

int report_load(struct kern *k, struct report_half *half)
{
	int rc = get(k, half);

	if (rc != -ENOENT)
		return rc;
	rc = load_and_pin(k);
	return rc ? rc : get(k, half);
}
