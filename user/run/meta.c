/* SPDX-License-Identifier: Apache-2.0 */
#include "run/meta.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/text.h"

static int boot_id(char buf[64])
{
	ssize_t len = io_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", buf, 64);

	return len < 0 ? (int)len : 0;
}

static int add_argument(json_t *argv, const char *argument, size_t *room)
{
	size_t len = strlen(argument);
	bool lossy;

	if (len > *room)
		return -ENOBUFS;
	*room -= len;

	own_str utf8 = text_to_utf8(argument, len, &len, &lossy);

	return utf8 && !json_array_append_new(argv, json_stringn(utf8, len)) ? 0 : -ENOMEM;
}

json_t *meta_argv(const struct spec *spec, size_t *dropped)
{
	const char *const shell[] = { "sh", "-c", spec->shell };
	json_t *argv = json_array();
	size_t room = META_ARGV_BYTES;
	int rc = argv ? 0 : -ENOMEM;

	for (size_t i = 0; spec->shell && !rc && i < 3; i++)
		rc = add_argument(argv, shell[i], &room);
	*dropped = 0;
	for (size_t i = 0; rc != -ENOMEM && i < spec->argc; i++) {
		rc = rc ? rc : add_argument(argv, spec->argv[i], &room);
		*dropped += rc == -ENOBUFS;
	}
	if (rc == -ENOMEM) {
		json_decref(argv);
		argv = NULL;
	}
	return argv;
}

void meta_command(const json_t *argv, char *buf, size_t size)
{
	size_t used = 0, i;
	json_t *word;

	buf[0] = 0;
	json_array_foreach((json_t *)argv, i, word) {
		const char *text = json_string_value(word);

		if (!text || used >= size)
			return;
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? " " : "", text);
	}
	if (used >= size)
		buf[text_cut_head(buf, size - 1, size - 1)] = 0;
}

static json_t *cgroup_json(const struct meta_facts *facts)
{
	if (!facts->cgroup_path)
		return json_null();
	return json_pack("{s:s, s:s, s:I}", "driver", facts->cgroup_driver, "path",
			 facts->cgroup_path, "id", (json_int_t)facts->cgroup_id);
}

json_t *meta_json(const struct result *at_launch, const struct meta_facts *facts,
		  const struct rundir *d)
{
	char boot[64];
	size_t dropped;

	if (boot_id(boot))
		return NULL;

	json_t *argv = meta_argv(at_launch->spec, &dropped);

	return json_pack("{s:i, s:s, s:i, s:i, s:o, s:{s:I, s:I}, s:o, s:I, s:o}", "schema",
			 META_SCHEMA, "boot_id", boot, "keeper_pid", (int)getpid(), "root_pid",
			 (int)facts->root_pid, "cgroup", cgroup_json(facts), "reader", "uid",
			 (json_int_t)d->reader, "gid", (json_int_t)d->reader_gid, "argv", argv,
			 "argv_dropped", (json_int_t)dropped, "result", result_json(at_launch));
}

int meta_write(struct rundir *d, const struct result *at_launch, const struct meta_facts *facts,
	       struct err *err)
{
	json_t *json = meta_json(at_launch, facts, d);
	int rc;

	if (!json)
		return err_set(err, -ENOMEM, "describe run '%s'", d->id);
	rc = rundir_write_json(d, "meta.json", json, err);
	json_decref(json);
	return rc;
}

int meta_read(struct meta *m, const struct rundir *d, struct err *err)
{
	const char *boot = NULL, *path = NULL;
	json_int_t cgroup = 0, uid = 0, gid = 0;
	struct err local = { 0 };
	char now[64];

	*m = (struct meta){ .json = rundir_read_json(d, "meta.json", &local) };
	if (!m->json) {
		if (err)
			*err = local;
		return local.code;
	}
	if (json_unpack(m->json, "{s:s, s:i, s:i, s:{s:I, s:I}, s:o}", "boot_id", &boot,
			"keeper_pid", &m->keeper_pid, "root_pid", &m->root_pid, "reader", "uid",
			&uid, "gid", &gid, "result", &m->result)) {
		meta_done(m);
		return err_say(err, ERR_PROTOCOL, -EBADMSG, "'%s/meta.json' lacks a key", d->path);
	}
	if (!json_unpack(json_object_get(m->json, "cgroup"), "{s:s, s:I}", "path", &path, "id",
			 &cgroup)) {
		m->cgroup_path = path;
		m->cgroup_id = (uint64_t)cgroup;
	}
	m->attached = json_is_object(json_object_get(m->result, "attached"));
	m->reader = (uid_t)uid;
	m->reader_gid = (gid_t)gid;
	m->this_boot = !boot_id(now) && !strcmp(now, boot);
	return 0;
}

void meta_done(struct meta *m)
{
	json_decref(m->json);
	*m = (struct meta){ 0 };
}
