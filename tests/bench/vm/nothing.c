/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nothing: the smallest program there is, so that what an exec costs is the kernel's work and not
 * that of a C library. Built with -nostdlib.
 */
#include <sys/syscall.h>

__attribute__((force_align_arg_pointer)) void _start(void);

void _start(void)
{
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0));
	__builtin_unreachable();
}
