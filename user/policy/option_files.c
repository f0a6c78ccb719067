/* SPDX-License-Identifier: Apache-2.0 */
/* What the options about files and the network do with their values: rows of the option table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/option_set.h"

static int refuse(struct err *err, const char *value, const char *why)
{
	return err_say(err, ERR_VALIDATION, -EINVAL, "%.80s: %s", value, why);
}

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "take it");
}

int option_set_file(struct spec *spec, const struct option *option, const char *value,
		    struct err *err)
{
	return spec_add_file(spec, (enum file_verb)option->aux, value, option->name,
			     FILE_LEVEL_COMMAND_LINE, err);
}

int option_set_mount(struct spec *spec, const struct option *option, const char *value,
		     struct err *err)
{
	return spec_add_mount(spec, value, option->name, err);
}

int option_set_cache(struct spec *spec, const struct option *option, const char *value,
		     struct err *err)
{
	(void)option;
	if (value[0] != '/' && value[0] != '~')
		return refuse(err, value, "not an absolute path");
	if (strlen(value) > SPEC_PATH_MAX)
		return refuse(err, value, "too long for a path");
	spec->cache = strdup(value);
	if (!spec->cache)
		return no_memory(err);
	return spec_add_file(spec, FILE_RW, value, "--cache", FILE_LEVEL_COMMAND_LINE, err);
}

int option_set_net(struct spec *spec, const struct option *option, const char *value,
		   struct err *err)
{
	(void)option;
	for (int mode = NET_NONE; mode <= NET_HOST; mode++) {
		if (strcmp(value, net_mode_name((enum net_mode)mode)) != 0)
			continue;
		spec->net.said = (enum net_mode)mode;
		return 0;
	}
	return refuse(err, value, "not one of none, allow, host");
}

int option_set_allow_net(struct spec *spec, const struct option *option, const char *value,
			 struct err *err)
{
	return net_policy_allow(&spec->net, value, option->name, FILE_LEVEL_COMMAND_LINE, err);
}

int option_set_allow_bind(struct spec *spec, const struct option *option, const char *value,
			  struct err *err)
{
	return net_policy_bind(&spec->net, value, option->name, FILE_LEVEL_COMMAND_LINE, err);
}

int option_set_allow_unix(struct spec *spec, const struct option *option, const char *value,
			  struct err *err)
{
	return net_policy_unix(&spec->net, value, option->name, FILE_LEVEL_COMMAND_LINE, err);
}
