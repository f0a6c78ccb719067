/* SPDX-License-Identifier: Apache-2.0 */
/* rows PINNED-MAP...: how many keys these BPF maps hold together. */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int open_map(const char *path)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.pathname = (uintptr_t)path;
	return (int)bpf(BPF_OBJ_GET, &attr);
}

static long count(int map)
{
	static char keys[2][512];
	union bpf_attr attr;
	long n = 0;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.next_key = (uintptr_t)keys[0];
	while (bpf(BPF_MAP_GET_NEXT_KEY, &attr) == 0) {
		n++;
		attr.key = attr.next_key;
		attr.next_key = (uintptr_t)keys[n % 2];
	}
	return n;
}

int main(int argc, char **argv)
{
	long n = 0;

	for (int i = 1; i < argc; i++) {
		int map = open_map(argv[i]);

		if (map < 0) {
			perror(argv[i]);
			return 1;
		}
		n += count(map);
		close(map);
	}
	printf("%ld\n", n);
	return 0;
}
