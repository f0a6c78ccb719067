/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/object.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kern/pins.h"

static int say_nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

void object_hush(void)
{
	if (!secure_getenv("SBX_BPF_LOG"))
		libbpf_set_print(say_nothing);
}

/* By these a hook finds whose act it is, and tells of it. */
static const enum half_pin always[] = { HALF_SANDBOXES, HALF_TASKS, HALF_FILTER, HALF_RINGS };
#define ALWAYS (sizeof(always) / sizeof(always[0]))

static int share(struct bpf_object *obj, struct kern *k, enum half_pin pin)
{
	struct bpf_map *m = bpf_object__find_map_by_name(obj, half_pin_names[pin]);
	int fd = half_fd(k, pin);

	bpf_map__set_autocreate(m, true);
	return fd < 0 ? fd : bpf_map__reuse_fd(m, fd);
}

int object_share_maps(struct bpf_object *obj, struct kern *k, const enum half_pin *shared,
		      size_t count)
{
	struct bpf_map *m;
	int rc = 0;

	bpf_object__for_each_map(m, obj) bpf_map__set_autocreate(m, bpf_map__is_internal(m));
	for (size_t i = 0; i < ALWAYS + count && !rc; i++)
		rc = share(obj, k, i < ALWAYS ? always[i] : shared[i - ALWAYS]);
	return rc;
}

int object_facts(struct kern *k, struct sbx_facts *facts)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(k->fds[HALF_FACTS], &zero, facts) ? -errno : 0;
}

int object_put_facts(struct kern *k, struct sbx_facts *facts)
{
	__u32 zero = 0;

	return bpf_map_update_elem(k->fds[HALF_FACTS], &zero, facts, BPF_ANY) ? -errno : 0;
}

int object_pin(const struct kern *k, int fd, const char *prefix, const char *name)
{
	char path[PINS_PATH + 64];

	snprintf(path, sizeof(path), "%s/%s%s", k->dir, prefix, name);
	if (unlink(path) && errno != ENOENT)
		return -errno;
	return bpf_obj_pin(fd, path) ? -errno : 0;
}

void object_unpin(const struct kern *k, const char *prefix, const char *name)
{
	char path[PINS_PATH + 64];

	snprintf(path, sizeof(path), "%s/%s%s", k->dir, prefix, name);
	unlink(path);
}
