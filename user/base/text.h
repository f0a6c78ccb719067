/* SPDX-License-Identifier: Apache-2.0 */
/* text: UTF-8 views of bytes. Pure. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the longest prefix of at most `max` bytes that does not end inside a character. */
size_t text_cut_head(const char *bytes, size_t len, size_t max);
/* Offset at which a suffix of at most `max` bytes starts on a character boundary. */
size_t text_cut_tail(const char *bytes, size_t len, size_t max);
bool text_valid(const char *bytes, size_t len);
/* New NUL-terminated valid UTF-8 copy (invalid bytes become U+FFFD, *lossy says so); caller
 * frees; NULL when out of memory. *out_len is its length; NUL bytes stay. */
char *text_to_utf8(const char *bytes, size_t len, size_t *out_len, bool *lossy);
/* In place: one line of valid UTF-8. Control characters and invalid bytes become '?'. */
void text_line(char *text);
/* Shell glob over a whole name: * and ? only. */
bool text_glob(const char *pattern, const char *name);
/* `path`, taken relative to `base` unless absolute, without ".", ".." and doubled slashes, by its text
 * alone: links are not followed. 0, or -ENAMETOOLONG. */
int text_path(const char *base, const char *path, char *out, size_t size);
/* Nearest of `count` names by edit distance, NULL when none is near enough to be meant. */
const char *text_nearest(const char *word, const char *const *names, size_t count);

#endif
