/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/report.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "base/text.h"
#include "kern/half.h"
#include "kern/pins.h"
#include "kern/report_load.h"
#include "kern/seccomp.h"

/* ---- the link ------------------------------------------------------------------------------- */

static int link_id(int link, __u32 *id)
{
	struct bpf_link_info info = { 0 };
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(link, &info, &size))
		return -errno;
	*id = info.id;
	return 0;
}

/*
 * One link serves all: a second would report everything twice. It is pinned nowhere, so that it goes
 * with the last keeper, however that one ends; the map tells its id, and the lock on the pins keeps two
 * from making one each.
 */
static int share_link(const struct report_half *half, int *link)
{
	__u32 zero = 0, id = 0;
	int rc;

	if (bpf_map_lookup_elem(half->links_fd, &zero, &id))
		return -errno;
	*link = id ? bpf_link_get_fd_by_id(id) : -1;
	if (*link >= 0)
		return 0;
	*link = bpf_raw_tracepoint_open(NULL, half->prog_fd);
	if (*link < 0)
		return -errno;
	rc = link_id(*link, &id);
	if (!rc && bpf_map_update_elem(half->links_fd, &zero, &id, BPF_ANY))
		rc = -errno;
	if (rc)
		close_fd(link);
	return rc;
}

static int load_and_attach(struct kern *k, int *link)
{
	struct report_half half = { .prog_fd = -1, .links_fd = -1 };
	int rc = report_load(k, &half);

	if (!rc)
		rc = share_link(&half, link);
	close_fd(&half.prog_fd);
	close_fd(&half.links_fd);
	return rc;
}

int report_open(struct kern *k, uint64_t id, int *link, struct err *err)
{
	struct pins pins;
	int rc;

	*link = -1;
#ifndef __x86_64__
	return err_say(err, ERR_UNSUPPORTED, -EOPNOTSUPP,
		       "denials are reported on x86-64 alone where BPF LSM is refused");
#endif
	rc = pins_open(&pins, true, err);
	if (rc)
		return rc;
	rc = load_and_attach(k, link);
	pins_close(&pins);
	if (!rc)
		rc = half_control(k, id, SBX_CONTROL_REPORT);
	if (rc) {
		close_fd(link);
		return err_set(err, rc,
			       "load the reporter of denials (SBX_BPF_LOG=1 shows what the kernel "
			       "says)");
	}
	return 0;
}

/* ---- whose doing it was --------------------------------------------------------------------- */

static bool name_of(const char *full, bool follow, char out[REPORT_PATH])
{
	const struct open_how how = { .flags = (uint64_t)(O_PATH | O_CLOEXEC |
							  (follow ? 0 : O_NOFOLLOW)),
				      .resolve = RESOLVE_CACHED | RESOLVE_NO_MAGICLINKS };
	own_fd fd = (int)syscall(SYS_openat2, AT_FDCWD, full, &how, sizeof(how));
	char link[32];
	ssize_t n;

	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out, REPORT_PATH - 1);
	if (n <= 0 || *out != '/')
		return false;
	out[n] = '\0';
	return true;
}

/* The object itself: true; or a name in its directory, or what the words say. */
static bool resolve(const char *full, bool follow, char out[REPORT_PATH])
{
	char dir[REPORT_PATH];
	const char *last = strrchr(full, '/');
	size_t len;

	if (name_of(full, follow, out))
		return true;
	snprintf(dir, sizeof(dir), "%.*s/", (int)(last - full), full);
	if (last[1] && strcmp(last, "/.") && strcmp(last, "/..") && name_of(dir, true, out)) {
		len = strlen(out);
		snprintf(out + len, REPORT_PATH - len, "%s", out[1] ? last : last + 1);
	} else {
		text_path("/", full, out, REPORT_PATH); /* shorter than what it is made of */
	}
	return false;
}

static unsigned int right_of(enum sbx_act act)
{
	return act == SBX_ACT_READ ? FILE_READ : act == SBX_ACT_EXECUTE ? FILE_EXEC : FILE_WRITE;
}

static bool below(const char *dir, const char *path)
{
	size_t len = strlen(dir);

	return !strncmp(dir, path, len) && path[len] == '/';
}

/* A directory that has a narrower rule below it stays where it is. */
static const struct file_rule *pinned_by(const struct file_policy *policy, const char *path)
{
	for (size_t i = 0; i < policy->count; i++) {
		const struct file_rule *r = &policy->rules[i];

		if (r->reach == FILE_OBJECT &&
		    (!strcmp(r->path, path) || (below(path, r->path) && r->rights != FILE_ALL)))
			return r;
	}
	return NULL;
}

static bool full_path(const struct denial *denial, const char *start, char full[REPORT_PATH])
{
	int n;

	if (!*denial->path || *denial->path == '?' || (*denial->path != '/' && !*start))
		return false;
	n = *denial->path == '/' ? snprintf(full, REPORT_PATH, "%s", denial->path)
				 : snprintf(full, REPORT_PATH, "%s/%s", start, denial->path);
	return n >= 0 && n < REPORT_PATH;
}

const struct file_rule *report_blame(const struct file_policy *policy, struct denial *denial,
				     const char *start, char path[REPORT_PATH])
{
	bool follow = denial->act != SBX_ACT_REMOVE && denial->act != SBX_ACT_RENAME &&
		      denial->act != SBX_ACT_LINK && denial->act != SBX_ACT_CREATE;
	char full[REPORT_PATH];
	const struct file_rule *r;

	if (!full_path(denial, start, full))
		return NULL;
	/* An open that makes the file: what was refused is the entry. */
	if (!resolve(full, follow, path) && denial->act == SBX_ACT_WRITE)
		denial->act = SBX_ACT_CREATE;
	if (denial->error == EBUSY)
		return pinned_by(policy, path);
	r = files_decide(policy, path);
	return r && right_of(denial->act) & ~r->rights ? r : NULL;
}

/* ---- sockets -------------------------------------------------------------------------------- */

static bool is_covered(const struct unixes *covered, const char *path)
{
	for (size_t i = 0; covered && i < covered->count; i++)
		if (!strcmp(covered->paths[i], path))
			return true;
	return false;
}

bool report_blames_net(const struct report_net *net, const struct denial *denial, const char *start,
		       char path[REPORT_PATH])
{
	char full[REPORT_PATH];

	snprintf(path, REPORT_PATH, "%s", denial->path);
	if (denial->act == SBX_ACT_SOCKET)
		return net->filter && denial->error == SECCOMP_ERRNO &&
		       !seccomp_allows(denial->family, denial->type, denial->protocol);
	if (*denial->path == '@')
		return net->scoped && denial->error == EPERM;
	if (denial->error != ECONNREFUSED || !full_path(denial, start, full))
		return false;
	text_path("/", full, path, REPORT_PATH);
	return is_covered(net->covered, path) ||
	       (resolve(full, true, path) && is_covered(net->covered, path));
}
