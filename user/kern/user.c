/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/num.h"
#include "base/own.h"

extern char **environ;

/* One line of `getent DATABASE KEY` as a stream the fget*ent functions parse; NULL when there is none. */
static FILE *getent(const char *database, const char *key, pid_t *pid)
{
	char *argv[] = { (char *)"getent", (char *)database, (char *)key, NULL };
	posix_spawn_file_actions_t actions;
	int pair[2], rc;

	if (pipe2(pair, 0) < 0)
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pair[1], 1);
	posix_spawn_file_actions_addclose(&actions, pair[0]);
	rc = posix_spawnp(pid, "getent", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pair[1]);
	if (rc == 0)
		return fdopen(pair[0], "r");
	close(pair[0]);
	return NULL;
}

static int find_passwd(FILE *file, const char *name, uint64_t uid, struct user *u)
{
	struct passwd *pw;

	while (file && (pw = fgetpwent(file))) {
		if (strcmp(pw->pw_name, name) != 0 && pw->pw_uid != uid)
			continue;
		snprintf(u->name, sizeof(u->name), "%s", pw->pw_name);
		snprintf(u->home, sizeof(u->home), "%s", pw->pw_dir);
		snprintf(u->shell, sizeof(u->shell), "%s",
			 *pw->pw_shell ? pw->pw_shell : "/bin/sh");
		u->uid = pw->pw_uid;
		u->gid = pw->pw_gid;
		return 0;
	}
	return -ENOENT;
}

static int find_group(FILE *file, const char *name, uint64_t gid, gid_t *out)
{
	struct group *gr;

	while (file && (gr = fgetgrent(file))) {
		if (strcmp(gr->gr_name, name) != 0 && gr->gr_gid != gid)
			continue;
		*out = gr->gr_gid;
		return 0;
	}
	return -ENOENT;
}

static void add_groups(struct user *u)
{
	own_file file = fopen("/etc/group", "re");
	struct group *gr;

	u->groups[u->group_count++] = u->gid;
	while (file && (gr = fgetgrent(file)))
		for (char **m = gr->gr_mem; *m && u->group_count < USER_GROUPS_MAX; m++)
			if (!strcmp(*m, u->name) && gr->gr_gid != u->gid)
				u->groups[u->group_count++] = gr->gr_gid;
}

static int lookup_group(struct user *u, const char *group, uint64_t number)
{
	own_file file = fopen("/etc/group", "re");
	own_file other = NULL;
	pid_t pid = -1;
	int rc = find_group(file, group, number, &u->gid);

	if (rc < 0) {
		other = getent("group", group, &pid);
		rc = find_group(other, group, number, &u->gid);
		if (other)
			waitpid(pid, NULL, 0);
	}
	if (rc < 0 && number <= UINT32_MAX - 1) {
		u->gid = (gid_t)number;
		return 0;
	}
	return rc;
}

static int lookup_user(struct user *u, const char *name, uint64_t number)
{
	own_file file = fopen("/etc/passwd", "re");
	own_file other = NULL;
	pid_t pid = -1;
	int rc = find_passwd(file, name, number, u);

	if (rc < 0) {
		other = getent("passwd", name, &pid);
		rc = find_passwd(other, name, number, u);
		if (other)
			waitpid(pid, NULL, 0);
	}
	if (rc < 0 && number <= UINT32_MAX - 1) {
		u->uid = (uid_t)number;
		u->gid = (gid_t)number;
		snprintf(u->home, sizeof(u->home), "/");
		snprintf(u->shell, sizeof(u->shell), "/bin/sh");
		return 0;
	}
	return rc;
}

int user_lookup(struct user *u, const char *name, const char *group, struct err *err)
{
	uint64_t number;

	*u = (struct user){ .uid = (uid_t)-1 };
	if (num_u64(name, &number) < 0)
		number = UINT64_MAX;
	if (lookup_user(u, name, number) < 0)
		return err_say(err, ERR_VALIDATION, -ENOENT,
			       "--user %s: no such user (id %s and getent know none)", name, name);
	if (group) {
		if (num_u64(group, &number) < 0)
			number = UINT64_MAX;
		if (lookup_group(u, group, number) < 0)
			return err_say(err, ERR_VALIDATION, -ENOENT, "--user: no such group '%s'",
				       group);
	}
	add_groups(u);
	return 0;
}
