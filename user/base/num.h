/* SPDX-License-Identifier: Apache-2.0 */
/*
 * num: numbers with units as people type them. Pure.
 *
 * All refuse empty, negative, zero, overflowing and trailing text with one line, "TEXT: what is
 * wrong and the form wanted": -EINVAL malformed, -EDOM zero or negative, -ERANGE too large or too
 * small to be represented; the value is then untouched. `none` is the caller's word, not a number.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* "30", "1.5s", "200ms", "10us", "2m", "1h", "1d", "1m30s" -> ns; bare numbers are seconds. */
int num_duration(const char *text, uint64_t *ns, struct err *err);
/* "4096", "64K", "1.5G", "1GiB", "10MB" (K = KB = KiB = 1024) -> bytes. "75%" is refused here. */
int num_size(const char *text, uint64_t *bytes, struct err *err);
/* "100", "1K"-less plain count > 0. */
int num_count(const char *text, uint64_t *count, struct err *err);
/* "1.5", "0.25", "250m" -> thousandths of a CPU. */
int num_cpus(const char *text, uint64_t *millicores, struct err *err);
/* "TERM", "SIGTERM", "15" -> signal number. */
int num_signal(const char *text, int *sig, struct err *err);
/* Plain unsigned, whole text, no sign or space. */
int num_u64(const char *text, uint64_t *value);

/* "1.5 s", "64 KiB": shortest exact form, for messages. */
void num_duration_text(uint64_t ns, char *buf, size_t size);
void num_size_text(uint64_t bytes, char *buf, size_t size);
/* "SIGKILL" or "signal 99". */
void num_signal_text(int sig, char *buf, size_t size);

#endif
