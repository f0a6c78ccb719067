/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog: 60 */
/* Which sockets a tree may have: what the table says, on every way that the kernel has to ask for one. */
#include "must.h"

#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include "kern/seccomp.h"

#define FAMILIES 64
#define I386_SOCKET 359
#define I386_SOCKETCALL 102

/* Runs `act` in a child under the filter. */
static void filtered(const struct seccomp_opts *opts, void (*act)(void))
{
	char what[MOUNTS_WHAT] = "";
	pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (pid == 0) {
		MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
		MUST(seccomp_apply(opts, what) == 0);
		act();
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
}

static const struct seccomp_opts sockets = { .sockets = true };

/* A socket of the table may still not be there (no IPv6, no such protocol): that is not our refusal. */
static void try_all(void)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM,  SOCK_RAW, SOCK_RDM, SOCK_SEQPACKET,
				     SOCK_DCCP,	  SOCK_PACKET, 0,	 15 };

	for (int family = 0; family < FAMILIES; family++)
		for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
			for (int protocol = 0; protocol < 300; protocol++) {
				int type = types[t] | (protocol % 2 ? SOCK_CLOEXEC : SOCK_NONBLOCK);
				int fd = socket(family, type, protocol);
				bool refused = fd < 0 && errno == SECCOMP_ERRNO;

				if (fd >= 0)
					close(fd);
				if (refused == seccomp_allows((uint32_t)family, (uint32_t)type,
							      (uint32_t)protocol)) {
					print_error("socket(%d, %d, %d)\n", family, type, protocol);
					_exit(1);
				}
			}
}

static void the_table_decides(void **state)
{
	(void)state;
	assert_true(seccomp_allows(AF_UNIX, SOCK_SEQPACKET, 0));
	assert_true(seccomp_allows(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
	assert_true(seccomp_allows(AF_NETLINK, SOCK_RAW, 0));
	assert_false(seccomp_allows(AF_NETLINK, SOCK_RAW, 4 /* NETLINK_SOCK_DIAG */));
	assert_false(seccomp_allows(AF_INET, SOCK_STREAM, IPPROTO_SCTP));
	assert_false(seccomp_allows(AF_INET, SOCK_STREAM, IPPROTO_MPTCP));
	assert_false(seccomp_allows(AF_INET, SOCK_DGRAM, IPPROTO_ICMP));
	assert_false(seccomp_allows(AF_INET, SOCK_RAW, IPPROTO_RAW));
	assert_false(seccomp_allows(AF_PACKET, SOCK_RAW, 0));
	assert_false(seccomp_allows(AF_VSOCK, SOCK_STREAM, 0));
	assert_false(seccomp_allows(AF_ALG, SOCK_SEQPACKET, 0));
	filtered(&sockets, try_all);
}

static void try_pairs(void)
{
	int pair[2];

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	MUST(socketpair(AF_TIPC, SOCK_STREAM, 0, pair) < 0 && errno == SECCOMP_ERRNO);
}

static void socketpair_is_under_it_too(void **state)
{
	(void)state;
	filtered(&sockets, try_pairs);
}

/* The kernel takes an int: what is above its 32 bits says nothing. */
static void try_high_bits(void)
{
	for (int bit = 32; bit < 64; bit++) {
		long high = (long)(1ULL << bit);

		MUST(syscall(SYS_socket, high | AF_PACKET, SOCK_RAW, 0L) < 0 &&
		     errno == SECCOMP_ERRNO);
		MUST(syscall(SYS_socket, (long)AF_INET, high | SOCK_RAW, 1L) < 0 &&
		     errno == SECCOMP_ERRNO);
		MUST(syscall(SYS_socket, (long)AF_INET, (long)SOCK_DGRAM, high | IPPROTO_ICMP) <
			     0 &&
		     errno == SECCOMP_ERRNO);
	}
}

static void high_bits_hide_nothing(void **state)
{
	(void)state;
	filtered(&sockets, try_high_bits);
}

#ifdef __x86_64__
/* A 64-bit process enters through the 32-bit gate; -ENOSYS also where the kernel has none. */
static long gate(long nr, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

static void try_gate(void)
{
	long fd = gate(I386_SOCKET, AF_INET, SOCK_STREAM, 0);

	MUST(fd >= 0);
	MUST(gate(I386_SOCKET, AF_PACKET, SOCK_RAW, 0) == -SECCOMP_ERRNO);
	MUST(gate(I386_SOCKET + 1, AF_TIPC, SOCK_STREAM, 0) == -SECCOMP_ERRNO);
	MUST(gate(I386_SOCKETCALL, 1, 0, 0) == -ENOSYS);
	MUST(gate(425, 1, 0, 0) == -ENOSYS);
}

static bool has_gate(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		_exit(gate(20 /* getpid */, 0, 0, 0) == getpid() ? 0 : 1);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void the_32_bit_gate_is_under_it_too(void **state)
{
	(void)state;
	if (!has_gate()) {
		print_message("this kernel has no 32-bit gate\n");
		skip();
	}
	filtered(&sockets, try_gate);
}

static void try_x32(void)
{
	MUST(syscall(0x40000000L | SYS_socket, (long)AF_PACKET, (long)SOCK_RAW, 0L) < 0 &&
	     errno == ENOSYS);
	MUST(syscall(0x40000000L | SYS_getpid) < 0 && errno == ENOSYS);
}

static void x32_is_refused(void **state)
{
	(void)state;
	filtered(&sockets, try_x32);
}
#endif

static void try_uring(void)
{
	char params[256] = { 0 };

	MUST(syscall(SYS_io_uring_setup, 4U, params) < 0 && errno == ENOSYS);
}

static void io_uring_is_not_there(void **state)
{
	(void)state;
	filtered(&sockets, try_uring);
}

static void try_to_leave(void)
{
	int ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	MUST(ns >= 0 && setns(ns, CLONE_NEWNET) < 0 && errno == EPERM);
	MUST(socket(AF_NETLINK, SOCK_RAW, 4) >= 0); /* not asked for here */
}

static void try_to_stay(void)
{
	int ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	MUST(ns >= 0 && setns(ns, CLONE_NEWNET) == 0);
}

static void who_keeps_capabilities_stays(void **state)
{
	static const struct seccomp_opts stay = { .stay = true };

	(void)state;
	filtered(&stay, try_to_leave);
	filtered(&sockets, try_to_stay);
}

/* Which kernel interfaces are closed, and that each row looks at its own argument only. */
static void try_guard(void)
{
	int window[2], tty = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);

	MUST(tty >= 0);
	MUST(syscall(SYS_ioctl, tty, 0x5412L /* TIOCSTI */, "x") < 0 && errno == EPERM);
	MUST(syscall(SYS_ioctl, tty, (1L << 40) | 0x5412, "x") < 0 && errno == EPERM);
	MUST(syscall(SYS_ioctl, tty, 0x5413L /* TIOCGWINSZ */, window) == 0);
	MUST(unshare(CLONE_NEWUSER) < 0 && errno == EPERM);
	MUST(unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 && errno == EPERM);
	MUST(unshare(CLONE_FILES) == 0);
	MUST(syscall(SYS_clone3, NULL, 0L) < 0 && errno == ENOSYS);
	MUST(syscall(SYS_bpf, 0L, NULL, 0L) < 0 && errno == EPERM);
	MUST(syscall(SYS_keyctl, 0L, -4L, 0L) < 0 && errno == ENOSYS);
	MUST(socket(AF_NETLINK, SOCK_RAW, 4) >= 0); /* not asked for here */
}

static void what_opens_the_kernel_is_closed(void **state)
{
	static const struct seccomp_opts guard = { .guard = true };

	(void)state;
	filtered(&guard, try_guard);
}

static void try_to_listen(void)
{
	MUST(listen(socket(AF_INET, SOCK_STREAM, 0), 1) < 0 && errno == EPERM);
}

static void nobody_listens_unasked(void **state)
{
	static const struct seccomp_opts no_listen = { .sockets = true, .no_listen = true };

	(void)state;
	filtered(&no_listen, try_to_listen);
}

static void try_after_exec(void)
{
	struct err err = { 0 };

	OK(&err, seccomp_verify(getpid(), &err));
	execlp("python3", "python3", "-c",
	       "import socket, errno\n"
	       "try: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\n"
	       "except OSError as e: raise SystemExit(e.errno != errno.EPERM)\n"
	       "raise SystemExit(2)",
	       (char *)NULL);
	_exit(errno == ENOENT ? 0 : 3);
}

static void it_outlives_an_exec_and_is_seen(void **state)
{
	struct err err = { 0 };

	(void)state;
	filtered(&sockets, try_after_exec);
	assert_int_not_equal(seccomp_verify(getpid(), &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_decides),
		cmocka_unit_test(socketpair_is_under_it_too),
		cmocka_unit_test(high_bits_hide_nothing),
#ifdef __x86_64__
		cmocka_unit_test(the_32_bit_gate_is_under_it_too),
		cmocka_unit_test(x32_is_refused),
#endif
		cmocka_unit_test(io_uring_is_not_there),
		cmocka_unit_test(who_keeps_capabilities_stays),
		cmocka_unit_test(what_opens_the_kernel_is_closed),
		cmocka_unit_test(nobody_listens_unasked),
		cmocka_unit_test(it_outlives_an_exec_and_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
