/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/sha256.h"

/* Fractional parts of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void schedule(const unsigned char *block, uint32_t w[64])
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t s0 = ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

/* Instead of moving all eight variables on, each round takes them one place further. */
static inline void turn(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
			uint32_t g, uint32_t *h, uint32_t in)
{
	uint32_t t = *h + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + (g ^ (e & (f ^ g))) + in;

	*d += t;
	*h = t + (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) | (c & (a | b)));
}

static void compress(struct sha256 *sha)
{
	uint32_t *s = sha->state, w[64];
	uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];

	schedule(sha->block, w);
	for (int i = 0; i < 64; i += 8) {
		turn(a, b, c, &d, e, f, g, &h, k[i] + w[i]);
		turn(h, a, b, &c, d, e, f, &g, k[i + 1] + w[i + 1]);
		turn(g, h, a, &b, c, d, e, &f, k[i + 2] + w[i + 2]);
		turn(f, g, h, &a, b, c, d, &e, k[i + 3] + w[i + 3]);
		turn(e, f, g, &h, a, b, c, &d, k[i + 4] + w[i + 4]);
		turn(d, e, f, &g, h, a, b, &c, k[i + 5] + w[i + 5]);
		turn(c, d, e, &f, g, h, a, &b, k[i + 6] + w[i + 6]);
		turn(b, c, d, &e, f, g, h, &a, k[i + 7] + w[i + 7]);
	}
	s[0] += a;
	s[1] += b;
	s[2] += c;
	s[3] += d;
	s[4] += e;
	s[5] += f;
	s[6] += g;
	s[7] += h;
}

void sha256_init(struct sha256 *sha)
{
	*sha = (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha256 *sha, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	while (len) {
		size_t at = sha->bytes % 64, n = 64 - at < len ? 64 - at : len;

		memcpy(sha->block + at, p, n);
		sha->bytes += n;
		p += n;
		len -= n;
		if (at + n == 64)
			compress(sha);
	}
}

void sha256_hex(struct sha256 *sha, char out[65])
{
	static const unsigned char pad[64] = { 0x80 };
	static const char digits[] = "0123456789abcdef";
	uint64_t bits = sha->bytes * 8;
	size_t at = sha->bytes % 64;
	unsigned char size[8];

	for (int i = 0; i < 8; i++)
		size[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(sha, pad, (at < 56 ? 56 : 120) - at);
	sha256_add(sha, size, sizeof(size));

	for (int i = 0; i < 32; i++) {
		unsigned int byte = sha->state[i / 4] >> (24 - 8 * (i % 4)) & 0xff;

		out[2 * i] = digits[byte >> 4];
		out[2 * i + 1] = digits[byte & 15];
	}
	out[64] = '\0';
}
