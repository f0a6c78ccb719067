/* SPDX-License-Identifier: Apache-2.0 */
/* io: whole reads and writes of small files and descriptors. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Writes all of it, through EINTR and EAGAIN (poll). 0 or negative errno. */
int io_write_all(int fd, const void *bytes, size_t len);
/* As write(2) to a socket, but -1 and EAGAIN rather than waiting, and EPIPE without a signal. */
ssize_t io_send_nowait(int socket, const void *bytes, size_t len);
/* Reads a small file below dirfd (AT_FDCWD) into buf, NUL-terminated, trailing newline cut.
 * Length or negative errno; -EFBIG when it does not fit. */
ssize_t io_read_file(int dirfd, const char *path, char *buf, size_t size);
/* One write(2) to an existing file (cgroupfs, procfs). 0 or negative errno. */
int io_write_file(int dirfd, const char *path, const char *text);
/* Unsigned number that is a file's whole text ("max" -> UINT64_MAX). */
int io_read_u64(int dirfd, const char *path, uint64_t *value);
/* Replaces `name` below dirfd by write + rename, mode 0600 unless given. What is there and is not a
 * regular file stays (-EEXIST): a device or a pipe must not turn into a file. */
int io_replace_file(int dirfd, const char *name, const void *bytes, size_t len, mode_t mode,
		    struct err *err);
/* mkdir -p of an absolute path. */
int io_mkdir_p(const char *path, mode_t mode, struct err *err);
/* Removes a tree below dirfd without following links or crossing a mount; chmods what stands in
 * the way. */
int io_remove_tree(int dirfd, const char *name);

#endif
