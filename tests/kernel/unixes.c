/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 60 */
/* Sockets of others that have a path: found, covered in the mounts of a child, and of nobody else. */
#include "scratch.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "kern/unixes.h"

static struct sockaddr_un address(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	MUST(strlen(top) + strlen(path) + 2 <= sizeof(at.sun_path));
	strcat(strcat(strcpy(at.sun_path, top), "/"), path);
	return at;
}

static int bound(const char *path, int type)
{
	struct sockaddr_un at = address(path);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	MUST(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	if (type == SOCK_STREAM)
		MUST(listen(fd, 8) == 0);
	return fd;
}

/* 0, or the errno of a connect(2). */
static int dial(const char *path, int type)
{
	struct sockaddr_un to = address(path);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	int rc;

	rc = connect(fd, (struct sockaddr *)&to, sizeof(to)) ? errno : 0;
	close(fd);
	return rc;
}

static bool lists(const struct unixes *u, const char *path)
{
	char whole[PATH_MAX + 64];

	snprintf(whole, sizeof(whole), "%s/%s", top, path);
	for (size_t i = 0; i < u->count; i++)
		if (!strcmp(u->paths[i], whole))
			return true;
	return false;
}

/* Runs `act` where what was found is covered. */
static void covered(const struct unixes *u, void (*act)(void))
{
	static const struct mounts_opts bare;
	char what[MOUNTS_WHAT] = "";
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		MUST(mounts_apply(&bare, what) == 0);
		must(unixes_cover(u, what) == 0, "cover", what, __FILE__, __LINE__);
		act();
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
}

static void nobody_answers(void)
{
	MUST(dial("stream", SOCK_STREAM) == ECONNREFUSED);
	MUST(dial("datagrams", SOCK_DGRAM) == ECONNREFUSED);
	MUST(symlink("stream", "alias") == 0 && dial("alias", SOCK_STREAM) == ECONNREFUSED);
	MUST(link("stream", "hard") < 0);
	MUST(unlink("stream") < 0 && errno == EBUSY);
	MUST(rename("stream", "elsewhere") < 0 && errno == EBUSY);
	bound("own", SOCK_STREAM);
	MUST(dial("own", SOCK_STREAM) == 0);
}

static void what_others_bound_is_covered(void **state)
{
	int stream = bound("stream", SOCK_STREAM), datagrams = bound("datagrams", SOCK_DGRAM);
	struct unixes u;
	struct err err = { 0 };

	(void)state;
	OK(&err, unixes_find(&u, NULL, 0, &err));
	assert_true(lists(&u, "stream") && lists(&u, "datagrams"));
	covered(&u, nobody_answers);
	assert_int_equal(dial("stream", SOCK_STREAM), 0); /* here nothing changed */
	assert_int_equal(dial("datagrams", SOCK_DGRAM), 0);
	unixes_done(&u);
	close(stream);
	close(datagrams);
}

static void one_answers(void)
{
	MUST(dial("stream", SOCK_STREAM) == 0);
	MUST(dial("other", SOCK_STREAM) == ECONNREFUSED);
}

static void what_is_kept_answers_by_any_name(void **state)
{
	int stream = bound("stream", SOCK_STREAM), other = bound("other", SOCK_STREAM);
	char named[PATH_MAX + 64];
	char *const kept[] = { (char *)"/nowhere/at/all", named };
	struct unixes u;
	struct err err = { 0 };

	(void)state;
	MUST(symlink("stream", "link") == 0);
	snprintf(named, sizeof(named), "%s/link", top);
	OK(&err, unixes_find(&u, kept, 2, &err));
	assert_true(!lists(&u, "stream") && lists(&u, "other"));
	covered(&u, one_answers);
	unixes_done(&u);
	close(stream);
	close(other);
}

/* Many connections have the path of one socket, a socket that is gone has no way in. */
static void one_line_a_socket_that_is_there(void **state)
{
	int stream = bound("stream", SOCK_STREAM), gone = bound("gone", SOCK_STREAM);
	int peers[8];
	struct unixes u;
	struct err err = { 0 };
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct sockaddr_un to = address("stream");
		int c = socket(AF_UNIX, SOCK_STREAM, 0);

		MUST(connect(c, (struct sockaddr *)&to, sizeof(to)) == 0);
		peers[i] = c;
	}
	MUST(unlink("gone") == 0);
	OK(&err, unixes_find(&u, NULL, 0, &err));
	for (size_t i = 0; i < u.count; i++)
		n += !strncmp(u.paths[i], top, strlen(top));
	assert_int_equal(n, 1);
	unixes_done(&u);
	for (int i = 0; i < 8; i++)
		close(peers[i]);
	close(stream);
	close(gone);
}

static void nothing_happens(void)
{
}

static void what_went_meanwhile_needs_no_cover(void **state)
{
	int stream = bound("h/stream", SOCK_STREAM);
	struct unixes u;
	struct err err = { 0 };

	(void)state;
	OK(&err, unixes_find(&u, NULL, 0, &err));
	assert_true(lists(&u, "h/stream"));
	MUST(unlink("h/stream") == 0);
	covered(&u, nothing_happens);
	unixes_done(&u);
	close(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_others_bound_is_covered),
		TEST(what_is_kept_answers_by_any_name),
		TEST(one_line_a_socket_that_is_there),
		TEST(what_went_meanwhile_needs_no_cover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
