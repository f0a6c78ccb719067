/* SPDX-License-Identifier: Apache-2.0 */
/* sudo: what sudo took from the environment of whoever called it, found where the kernel keeps it. */
#ifndef KERN_SUDO_H
#define KERN_SUDO_H

/* PATH as it was before the sudo above us replaced it (--pass-path): a new string, or NULL when no
 * sudo of root's is among our ancestors, or its environment cannot be read. */
char *sudo_caller_path(void);

#endif
