/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/kern.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define ID_BITS (5 * SBX_ID_LEN)

static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";

uint64_t kern_id_new(void)
{
	uint64_t id = 0;

	/* Blocks until the kernel has entropy, and then never fails or falls short for so few
	 * bytes. */
	while (!id)
		if (getrandom(&id, sizeof(id), 0) == sizeof(id))
			id &= (1ull << ID_BITS) - 1;
	return id;
}

void kern_id_text(uint64_t id, char text[SBX_ID_LEN + 1])
{
	for (int i = SBX_ID_LEN - 1; i >= 0; i--, id >>= 5)
		text[i] = digits[id & 31];
	text[SBX_ID_LEN] = '\0';
}

int kern_id_parse(const char *text, uint64_t *id)
{
	uint64_t value = 0;

	if (strlen(text) != SBX_ID_LEN)
		return -EINVAL;
	for (const char *c = text; *c; c++) {
		const char *digit = strchr(digits, *c);

		if (!digit)
			return -EINVAL;
		value = value << 5 | (uint64_t)(digit - digits);
	}
	if (!value)
		return -EINVAL;
	*id = value;
	return 0;
}
