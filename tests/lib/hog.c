/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hog heap|memfd|shm BYTES [CHILDREN]: takes that much memory (in each of CHILDREN processes), touches every
 * page, and only then says ALLOCATED-PAST-CAP. Exit 3: refused, 4: a child did not get that far.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int backing(const char *kind, size_t bytes)
{
	char name[] = "/dev/shm/hog.XXXXXX";
	int fd = -1;

	if (!strcmp(kind, "memfd"))
		fd = memfd_create("hog", 0);
	else if (!strcmp(kind, "shm")) {
		fd = mkstemp(name);
		unlink(name);
	}
	return fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 ? fd : -1;
}

static int take(const char *kind, size_t bytes)
{
	int heap = !strcmp(kind, "heap");
	int fd = heap ? -1 : backing(kind, bytes);
	char *p;

	if (!heap && fd < 0)
		return 3;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		 heap ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 3;
	for (size_t i = 0; i < bytes; i += 4096)
		*(volatile char *)(p + i) = 1;
	return 0;
}

/* Every child holds what it has until all of them have theirs. */
static int children(const char *kind, size_t bytes, int count)
{
	int done[2], hold[2];
	char byte;

	if (pipe(done) < 0 || pipe(hold) < 0)
		return 3;
	for (int i = 0; i < count; i++) {
		if (fork() != 0)
			continue;
		close(hold[1]);
		close(done[0]);
		if (take(kind, bytes) == 0 && write(done[1], "x", 1) == 1 &&
		    read(hold[0], &byte, 1) == 0)
			_exit(0);
		_exit(3);
	}
	close(done[1]);
	for (int i = 0; i < count; i++)
		if (read(done[0], &byte, 1) != 1)
			return 4;
	return 0;
}

int main(int argc, char **argv)
{
	int rc;

	if (argc < 3)
		return 2;
	if (argc > 3)
		rc = children(argv[1], strtoull(argv[2], NULL, 0), atoi(argv[3]));
	else
		rc = take(argv[1], strtoull(argv[2], NULL, 0));
	if (rc == 0)
		puts("ALLOCATED-PAST-CAP");
	return rc;
}
