/* SPDX-License-Identifier: Apache-2.0 */
/* Every number parser: the value is untouched on failure, positive and bounded on success, and its
 * text form is one line that names the input. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"

#define UNTOUCHED 0x5bULL
#define LARGEST ((uint64_t)INT64_MAX / 2)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check(int (*parse)(const char *, uint64_t *, struct err *), const char *text)
{
	struct err err = { 0 };
	uint64_t value = UNTOUCHED;
	int r = parse(text, &value, &err);

	must(r <= 0);
	if (!r) {
		must(value > 0 && value <= LARGEST);
		return;
	}
	must(value == UNTOUCHED);
	must(*err.text && !strchr(err.text, '\n') && text_valid(err.text, strlen(err.text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), shown[64];
	uint64_t value;
	int sig = -7;

	if (!text)
		return 0;
	check(num_duration, text);
	check(num_size, text);
	check(num_count, text);
	check(num_cpus, text);
	if (!num_signal(text, &sig, NULL))
		must(sig > 0 && sig <= 64);
	else
		must(sig == -7);
	/* What a plain number means does not depend on how it is read. */
	if (!num_u64(text, &value) && value && value <= LARGEST) {
		uint64_t bytes = 0;

		must(!num_size(text, &bytes, NULL) && bytes == value);
		num_size_text(value, shown, sizeof(shown));
		num_duration_text(value, shown, sizeof(shown));
		must(strlen(shown) < sizeof(shown) - 1);
	}
	free(text);
	return 0;
}
