/* SPDX-License-Identifier: Apache-2.0 */
/* sha256: FIPS 180-4, for naming values, so that a static program needs no cryptography library.
 * Pure. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t state[8];
	uint64_t bytes; /* added so far */
	unsigned char block[64];
};

void sha256_init(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t len);
/* 64 hex digits and a NUL; the state is used up. */
void sha256_hex(struct sha256 *sha, char out[65]);

#endif
