/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/net_load.h"

#include <stddef.h>

#include "kern/net.h"
#include "kern/object.h"
#include "kern/part.h"

#define ON_ROOT(name)                                                \
	{                                                            \
		.program = "net_group_" #name, .where = PART_ON_ROOT \
	}
#define ON_GROUP(name)                                                \
	{                                                             \
		.program = "net_group_" #name, .where = PART_ON_GROUP \
	}
#define BY_LSM(name)                                              \
	{                                                         \
		.program = "net_lsm_" #name, .where = PART_BY_LSM \
	}

/* Those on a run's own group are attached by kern_net_publish. */
static const struct part_hook hooks[] = {
	ON_ROOT(sock_create), ON_ROOT(connect4), ON_ROOT(connect6), ON_ROOT(sendmsg4),
	ON_ROOT(sendmsg6),    ON_ROOT(bind4),	 ON_ROOT(bind6),    ON_ROOT(setsockopt),
	ON_GROUP(egress),     ON_GROUP(ingress), BY_LSM(create),    BY_LSM(post_create),
	BY_LSM(connect),      BY_LSM(listen),	 BY_LSM(sendmsg),   BY_LSM(setsockopt),
	BY_LSM(unix_connect), BY_LSM(unix_send),
};

static bool try_hooks(struct part_loading *l, char detail[SBX_DETAIL])
{
	return net_try(l->k, detail);
}

static const struct part net_part = {
	.what = "network hooks",
	.hooks = hooks,
	.hook_count = sizeof(hooks) / sizeof(hooks[0]),
	.first = HALF_NET_RULES,
	.end = HALF_PINS,
	.shared = { HALF_DENIALS, HALF_NET_LIVE },
	.map = "net_socks",
	.without_lsm = true,
	.state = offsetof(struct sbx_facts, net),
	.detail = offsetof(struct sbx_facts, net_detail),
	.try = try_hooks,
};

int net_control(struct kern *k, uint64_t sandbox, uint32_t what, uint64_t generation,
		uint64_t space)
{
	struct sbx_control c = {
		.sandbox = sandbox, .what = what, .key = generation, .start_ns = space
	};
	int fd = half_fd(k, HALF_CONTROL);
	int rc = fd < 0 ? fd : half_run(fd, &c, sizeof(c));

	return rc ? rc : c.error;
}

bool kern_net_available(struct kern *k, const char **why)
{
	*why = k->facts.net_detail;
	return part_available(&net_part, k, k->facts.net_detail);
}

bool kern_net_lsm(struct kern *k)
{
	struct sbx_facts f;

	return k->facts.lsm && !object_facts(k, &f) && f.net == SBX_WORKS;
}
