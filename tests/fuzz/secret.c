/* SPDX-License-Identifier: Apache-2.0 */
/* Any name, any value: an answer, and a secret word behind a name always tells. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/secret.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), grown[128];

	if (!text)
		return 0;
	secret_name(text);
	secret_value(text);
	/* Short enough that the words fit the bound. */
	if (strlen(text) < 24) {
		snprintf(grown, sizeof(grown), "%s_TOKEN", text);
		if (!secret_name(grown))
			abort();
	}
	free(text);
	return 0;
}
