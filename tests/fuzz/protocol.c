/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, replies and chunks from whoever may connect: what is accepted means the same after a round trip. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "serve/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_request(const char *bytes, size_t size)
{
	struct err err = { 0 };
	struct request first, second;
	json_t *json;
	char *text;

	if (protocol_parse_request(bytes, size, &first, &err)) {
		must(err.category == ERR_PROTOCOL && text_valid(err.text, strlen(err.text)));
		return;
	}
	must(first.op < REQUEST__COUNT);
	json = protocol_request(&first);
	text = json_dumps(json, JSON_COMPACT);
	must(!protocol_parse_request(text, strlen(text), &second, &err));
	must(!memcmp(&first, &second, sizeof(first)));
	free(text);
	json_decref(json);
}

static void check_reply(const char *bytes, size_t size)
{
	json_error_t where;
	json_t *json = json_loadb(bytes, size, JSON_ALLOW_NUL, &where);
	struct err err = { 0 };
	char got[256];
	uint64_t offset;
	int stream;

	if (protocol_reply_error(json, &err))
		must(err.code < 0 && text_valid(err.text, strlen(err.text)));
	must(protocol_chunk_bytes(json, &stream, &offset, got, sizeof(got)) <=
	     (ssize_t)sizeof(got));
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_request((const char *)data, size);
	check_reply((const char *)data, size);
	return 0;
}
