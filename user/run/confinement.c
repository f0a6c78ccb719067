/* SPDX-License-Identifier: Apache-2.0 */
#include "run/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "base/text.h"
#include "kern/idmap.h"
#include "kern/paths.h"
#include "policy/spec_environ.h"
#include "run/state.h"

#define CONFINEMENT "filesystem_confinement"
#define DENY_FUTURE "filesystem_deny_future"
#define PRIVATE_CACHE "/tmp/.cache"

/* Where the command starts, links resolved; what relative rules are relative to. */
static int find_directory(struct run *run, struct err *err)
{
	struct confinement *c = &run->confinement;
	const char *said = run->spec->chdir	? run->spec->chdir
			   : run->workdir[0]	? run->workdir
			   : run->spec->workdir ? run->spec->workdir
						: ".";
	own_str path = realpath(said, NULL);

	if (!path)
		return err_say(err, ERR_VALIDATION, -errno, "--chdir %s: %s", said,
			       strerror(errno));
	if (strlen(path) >= sizeof(c->directory))
		return err_set(err, -ENAMETOOLONG, "%s", said);
	memcpy(c->directory, path, strlen(path) + 1);
	return 0;
}

static int locate_cache(struct run *run, const char *home, struct err *err)
{
	struct confinement *c = &run->confinement;
	own_str cwd = getcwd(NULL, 0);
	const struct paths_context context = { .home = home ? home : "/",
					       .directory = cwd ? cwd : "/" };
	struct paths_place place = { 0 };

	if (paths_locate(&context, run->spec->cache, &place, err) < 0)
		return err_prefix(err, "--cache");
	snprintf(c->cache, sizeof(c->cache), "%s", place.path);
	free(place.path);
	return 0;
}

int confinement_cache(struct run *run, const char *home, const char **cache, struct err *err)
{
	struct confinement *c = &run->confinement;
	int rc = run->spec->cache ? locate_cache(run, home, err) : 0;

	if (!run->spec->cache && run->spec->cache_private && run->spec->private_tmp)
		strcpy(c->cache, PRIVATE_CACHE);
	*cache = c->cache[0] ? c->cache : NULL;
	return rc;
}

/* Whoever owns the directory around it may put something else in its place meanwhile: what is given away is
 * what was made here. */
static int make_owned(const char *path, uid_t uid, gid_t gid)
{
	const char *slash = strrchr(path, '/');
	own_str parent = strndup(path, slash == path ? 1 : (size_t)(slash - path));
	own_fd around = parent ? open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	own_fd made = -1;
	struct stat st;

	if (around < 0 || mkdirat(around, slash + 1, 0700) < 0)
		return !parent ? -ENOMEM : errno == EEXIST ? 0 : -errno;
	made = openat(around, slash + 1, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (made < 0 || fstat(made, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid())
		return -EPERM;
	return fchown(made, uid, gid) < 0 ? -errno : 0;
}

int confinement_make_cache(struct run *run, struct err *err)
{
	const char *path = run->confinement.cache;
	int rc = run->spec->cache ? make_owned(path, run_uid(run), run_gid(run)) : 0;

	return rc < 0 ? err_set(err, rc, "--cache %s", path) : 0;
}

/* What the run has of its own is its to write in, whatever holds around it. */
static size_t own_wishes(const struct run *run, struct file_wish *wishes)
{
	static char *const temporary[] = { (char *)"/tmp", (char *)"/var/tmp", (char *)"/dev/shm" };
	size_t n = 0;

	for (size_t i = 0; run->spec->private_tmp && i < 3; i++)
		wishes[n++] = (struct file_wish){ .verb = FILE_RW,
						  .path = temporary[i],
						  .optional = true,
						  .origin = (char *)"--private-tmp" };
	if (run->workdir[0])
		wishes[n++] = (struct file_wish){ .verb = FILE_RW,
						  .path = (char *)run->workdir,
						  .origin = (char *)"--workdir" };
	for (size_t i = 0; i < run->spec->mount_count; i++)
		wishes[n++] = (struct file_wish){
			.verb = run->spec->mounts[i].read_only ? FILE_RO : FILE_RW,
			.path = run->spec->mounts[i].target,
			.optional = true,
			.origin = run->spec->mounts[i].origin,
		};
	if (run->network.names.asked)
		wishes[n++] = (struct file_wish){ .verb = FILE_RO,
						  .path = (char *)run->network.names.target,
						  .origin = (char *)"--allow-net" };
	return n;
}
#define OWN_WISHES (5 + SPEC_MOUNTS_MAX)

static int resolve_policy(struct run *run, struct err *err)
{
	struct confinement *c = &run->confinement;
	const struct paths_context context = {
		.home = spec_environ_get(run->environ_vector, "HOME"),
		.directory = c->directory,
	};
	size_t said = run->spec->file_count, n;
	own_mem struct file_wish *wishes = calloc(said + OWN_WISHES, sizeof(*wishes));

	if (!wishes)
		return err_set(err, -ENOMEM, "file policy");
	n = own_wishes(run, wishes);
	for (size_t i = 0; i < said; i++)
		wishes[n++] = run->spec->files[i];
	return paths_resolve(wishes, n, &context, &c->policy, run->result.note, err);
}

static bool below_private(const char *path)
{
	static const char *const covered[] = { "/tmp/", "/var/tmp/", "/dev/shm/" };

	for (size_t i = 0; i < sizeof(covered) / sizeof(covered[0]); i++)
		if (!strncmp(path, covered[i], strlen(covered[i])))
			return true;
	return false;
}

/* Tools look for the top of the tree they work in above the working directory: git for its .git. */
static void find_top(struct confinement *c)
{
	char *slash;

	memcpy(c->top, c->directory, sizeof(c->top));
	while (below_private(c->top)) {
		own_fd dir = open(c->top, O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (dir >= 0 && faccessat(dir, ".git", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return;
		slash = strrchr(c->top, '/');
		*slash = '\0';
	}
	memcpy(c->top, c->directory, sizeof(c->top));
}

static int keep(struct run *run, const char *path, const char *origin, struct err *err)
{
	size_t n = 0;

	while (run->mounts.keep[n])
		n++;
	if (n + 1 == MOUNTS_KEEP_MAX)
		return err_say(err, ERR_VALIDATION, -E2BIG,
			       "%s: more than %d paths below the private /tmp", origin,
			       MOUNTS_KEEP_MAX - 1);
	run->mounts.keep[n] = path;
	return 0;
}

/* Where it works and what was named below the private directories stays visible in them, outer ones first. */
static int keep_visible(struct run *run, struct err *err)
{
	struct confinement *c = &run->confinement;
	int rc;

	if (!run->spec->private_tmp)
		return 0;
	find_top(c);
	rc = keep(run, c->top, "--chdir", err);
	if (rc == 0 && run->spec->workdir)
		rc = keep(run, run->spec->workdir, "--workdir", err);
	for (size_t i = 0; rc == 0 && i < c->policy.count; i++) {
		const struct file_rule *rule = &c->policy.rules[i];

		if (below_private(rule->path) && rule->reach == FILE_OBJECT && rule->rights)
			rc = keep(run, rule->path, rule->origin, err);
	}
	return rc;
}

/* Tier B holds what exists at the start; the rest is refused by name, or left out by request. */
static int judge(struct run *run, struct err *err)
{
	struct confinement *c = &run->confinement;
	const struct confine_limits *l = &c->limits;
	const struct confine_who who = {
		.uid = run_uid(run),
		.gid = run_gid(run),
		.groups = run->user.groups,
		.group_count = run->spec->keep_groups || run->spec->drop_privileges
				       ? 0
				       : run->user.group_count,
	};

	confine_judge(&c->policy, &c->limits);
	confine_freeze(&c->opts, &who, &c->limits);
	if (l->ungrantable)
		return err_cannot(err, CONFINEMENT,
				  "%s: without BPF LSM a path that does not exist yet can only be "
				  "allowed with its directory; create it first",
				  l->first);
	if ((l->future || l->anywhere) && !spec_may_reduce(run->spec, DENY_FUTURE))
		return err_cannot(
			err, DENY_FUTURE,
			"%s: without BPF LSM (%s) nothing denies what does not exist yet; "
			"--allow-reduced " DENY_FUTURE " runs without that",
			l->first, kern_facts(run->kern)->lsm_detail);
	return 0;
}

static bool denies_an_object(const struct file_policy *policy)
{
	for (size_t i = 0; i < policy->count; i++)
		if (policy->rules[i].reach == FILE_OBJECT && !policy->rules[i].rights)
			return true;
	return false;
}

/* Kernels whose tmpfs cannot be mapped (before 6.3) refuse the mask then, and with it the start. */
static int use_mounts(struct run *run, struct err *err)
{
	struct confinement *c = &run->confinement;
	int rc = judge(run, err);

	if (rc < 0 || run->spec->drop_privileges || run_uid(run) != 0 ||
	    !denies_an_object(&c->policy))
		return rc;
	c->opts.foreign = rc = idmap_foreign(err);
	return rc < 0 ? rc : 0;
}

int confinement_resolve(struct run *run, struct err *err)
{
	struct confinement *c = &run->confinement;
	const char *why;
	int rc;

	c->asked = run->spec->file_count > 0;
	if (network_asked(run)) /* what it covers, root could uncover */
		c->opts = (struct confine_opts){ .policy = &c->policy,
						 .landlock = confine_landlock_abi() > 0,
						 .uid = run_uid(run) };
	if (!c->asked && !run->spec->private_tmp) {
		if (network_asked(run))
			find_directory(run, NULL);
		return 0; /* it may start in a directory that has no name any more */
	}
	rc = find_directory(run, err);
	if (rc == 0 && c->asked)
		rc = resolve_policy(run, err);
	if (rc == 0)
		rc = keep_visible(run, err);
	if (rc < 0 || !c->asked)
		return rc;
	c->hooks = files_available(run->kern, &why);
	if (run->spec->audit && !c->hooks)
		return err_cannot(err, CONFINEMENT,
				  "--audit needs BPF LSM, which this host does not have (%s)", why);
	c->opts =
		(struct confine_opts){ .policy = &c->policy,
				       .mounts = !c->hooks,
				       .landlock = !run->spec->audit && confine_landlock_abi() > 0,
				       .signals = run->spec->drop_privileges &&
						  confine_landlock_abi() >= CONFINE_ABI_SCOPED,
				       .uid = run_uid(run) };
	return c->hooks ? 0 : use_mounts(run, err);
}

int confinement_enforce(struct run *run, struct err *err)
{
	struct confinement *c = &run->confinement;
	const struct files_opts opts = {
		.sandbox = run->id,
		.pid = run->child.pid,
		.audit = run->spec->audit,
	};

	int rc = 0;

	if (c->asked && c->hooks)
		rc = files_publish(&c->files, run->kern, &c->policy, &opts, err);
	/* Refusals are told as well as they are seen; that they are not must not end the start. */
	if (rc == 0 && ((c->asked && !c->hooks) || run->network.seccomp.sockets))
		report_open(run->kern, run->id, &c->report, NULL);
	return rc;
}

static void how(const struct confinement *c, char *buf, size_t size)
{
	int abi = c->opts.landlock ? confine_landlock_abi() : 0;
	size_t len;

	snprintf(buf, size, "%s", c->hooks ? "bpf lsm walk" : "private mounts");
	len = strlen(buf);
	if (abi)
		snprintf(buf + len, size - len, ", landlock abi %d", abi);
}

static void future_clause(const struct run *run, struct result *r)
{
	const struct confinement *c = &run->confinement;
	const struct confine_limits *l = &c->limits;

	if (c->hooks)
		result_clause(r, DENY_FUTURE, "bpf lsm walk", true, true, !run->spec->audit, NULL);
	else if (l->future || l->anywhere)
		result_clause(r, DENY_FUTURE, "none", true, true, false, "reduced by request: %s",
			      l->first);
	else
		result_clause(r, DENY_FUTURE, "not asked", false, false, false,
			      l->absent_at_start ? "%zu optional rules absent_at_start" : NULL,
			      l->absent_at_start);
}

void confinement_clauses(const struct run *run, struct result *r)
{
	const struct confinement *c = &run->confinement;
	char mechanism[48];

	if (!c->asked) {
		result_clause(r, CONFINEMENT, "not asked", false, false, false, NULL);
		return;
	}
	how(c, mechanism, sizeof(mechanism));
	if (c->limits.replaceable)
		result_clause(
			r, CONFINEMENT, mechanism, true, true, true,
			"%zu rules; %zu denied objects, such as %s, are open again when another "
			"process replaces them",
			c->policy.count, c->limits.replaceable, c->limits.first_replaceable);
	else
		result_clause(r, CONFINEMENT, mechanism, true, true, !run->spec->audit,
			      "%zu rules%s", c->policy.count,
			      run->spec->audit ? ", audit: logged, not denied" : "");
	future_clause(run, r);
}

const struct denied *run_denied(struct run *run)
{
	struct confinement *c = &run->confinement;
	struct denied *d = &run->result.denied;
	const struct report_net net = { .filter = run->network.seccomp.sockets,
					.scoped = c->opts.scoped,
					.covered = &run->network.unixes };
	const struct denied_source source = {
		.policy = &c->policy, .net = &net, .directory = c->directory, .files = c->files
	};

	if ((!c->asked && !network_asked(run)) || !run->kern || !run->id)
		return d;
	denied_done(d);
	denied_read(d, run->kern, run->id, &source);
	names_denied(&run->network.names, d);
	return d;
}

void confinement_tell(struct run *run)
{
	struct confinement *c = &run->confinement;
	const struct denied *d;

	if (!c->denied_news || !run->watch.denied)
		return;
	c->denied_news = false;
	d = run_denied(run);
	for (size_t i = 0; i < d->count; i++) {
		if (d->items[i].first_ns <= c->told_ns)
			continue;
		c->told_ns = d->items[i].first_ns;
		run->watch.denied(run->watch.arg, &d->items[i]);
	}
}

void confinement_release(struct run *run)
{
	struct confinement *c = &run->confinement;

	close_fd(&c->report);
	files_release(take_ptr(&c->files), run->kern);
	file_policy_done(&c->policy);
	if (c->opts.foreign > 0)
		close_fd(&c->opts.foreign);
	c->opts.foreign = 0;
	c->asked = false;
}
