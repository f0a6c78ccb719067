/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/protocol.h"

#include <errno.h>
#include <string.h>

#include "base/own.h"

#define SIGNAL_MAX 64

const struct request_row request_table[REQUEST__COUNT] = {
	[REQUEST_STATUS] = { "status", PERMISSION_OWNER, 0 },
	[REQUEST_PROCESSES] = { "processes", PERMISSION_OWNER, 0 },
	[REQUEST_WHY] = { "why", PERMISSION_OWNER, 0 },
	[REQUEST_STOP] = { "stop", PERMISSION_OUTSIDE, REQUEST_KEY_GRACE },
	[REQUEST_TERMINATE] = { "terminate", PERMISSION_OUTSIDE, 0 },
	[REQUEST_CANCEL] = { "cancel", PERMISSION_OUTSIDE, 0 },
	[REQUEST_SIGNAL] = { "signal", PERMISSION_OUTSIDE, REQUEST_KEY_SIGNAL | REQUEST_KEY_TREE },
	[REQUEST_FREEZE] = { "freeze", PERMISSION_OUTSIDE, 0 },
	[REQUEST_THAW] = { "thaw", PERMISSION_OUTSIDE, 0 },
	[REQUEST_DETACH] = { "detach", PERMISSION_OUTSIDE, 0 },
	[REQUEST_UPDATE] = { "update", PERMISSION_OUTSIDE, REQUEST_KEY_LIMITS },
	[REQUEST_WAIT] = { "wait", PERMISSION_OUTSIDE, 0 },
	[REQUEST_LOGS] = { "logs", PERMISSION_OUTSIDE,
			   REQUEST_KEY_FOLLOW | REQUEST_KEY_STDOUT | REQUEST_KEY_STDERR },
	[REQUEST_EVENTS] = { "events", PERMISSION_OUTSIDE, REQUEST_KEY_FOLLOW },
};

static int malformed(struct err *err, const char *what, const char *key)
{
	return err_say(err, ERR_PROTOCOL, -EBADMSG, "bad request: %s%s%.40s%s", what,
		       key ? " '" : "", key ? key : "", key ? "'" : "");
}

/* ---- one function a kind of value; each refuses what is out of range ---- */

static int set_signal(struct request *r, json_t *value)
{
	json_int_t sig = json_integer_value(value);

	r->signal = (int)sig;
	return json_is_integer(value) && sig >= 1 && sig <= SIGNAL_MAX ? 0 : -EBADMSG;
}

static int set_bool(bool *out, const json_t *value)
{
	*out = json_is_true(value);
	return json_is_boolean(value) ? 0 : -EBADMSG;
}

static int set_tree(struct request *r, json_t *value)
{
	return set_bool(&r->tree, value);
}

static int set_follow(struct request *r, json_t *value)
{
	return set_bool(&r->follow, value);
}

static int set_offset(uint64_t *out, const json_t *value)
{
	json_int_t offset = json_integer_value(value);

	*out = (uint64_t)offset;
	return json_is_integer(value) && offset >= 0 ? 0 : -EBADMSG;
}

static int set_stdout(struct request *r, json_t *value)
{
	return set_offset(&r->offset[0], value);
}

static int set_stderr(struct request *r, json_t *value)
{
	return set_offset(&r->offset[1], value);
}

static int set_grace(struct request *r, json_t *value)
{
	r->has_grace = true;
	return set_offset(&r->grace_ns, value);
}

static int find_limit(const char *name)
{
	for (int i = 0; i < LIMIT__COUNT; i++)
		if (!strcmp(limit_table[i].name, name))
			return i;
	return -1;
}

static int set_limits(struct request *r, json_t *value)
{
	const char *name;
	json_t *number;

	if (!json_object_size(value))
		return -EBADMSG;
	json_object_foreach(value, name, number) {
		int id = find_limit(name);
		json_int_t n = json_integer_value(number);

		if (id < 0 || !json_is_integer(number) || n < (id == LIMIT_SWAP ? 0 : 1))
			return -EBADMSG;
		r->has_limit[id] = true;
		r->limits[id] = (uint64_t)n;
	}
	return 0;
}

static const struct request_key {
	const char *name;
	unsigned int bit;
	int (*set)(struct request *r, json_t *value);
} request_keys[] = {
	{ "signal", REQUEST_KEY_SIGNAL, set_signal }, { "tree", REQUEST_KEY_TREE, set_tree },
	{ "follow", REQUEST_KEY_FOLLOW, set_follow }, { "stdout", REQUEST_KEY_STDOUT, set_stdout },
	{ "stderr", REQUEST_KEY_STDERR, set_stderr }, { "limits", REQUEST_KEY_LIMITS, set_limits },
	{ "grace_ns", REQUEST_KEY_GRACE, set_grace },
};
#define REQUIRED (REQUEST_KEY_SIGNAL | REQUEST_KEY_LIMITS)

static const struct request_key *find_key(const char *name)
{
	for (size_t i = 0; i < sizeof(request_keys) / sizeof(*request_keys); i++)
		if (!strcmp(request_keys[i].name, name))
			return &request_keys[i];
	return NULL;
}

static int find_op(const char *name)
{
	for (int i = 0; name && i < REQUEST__COUNT; i++)
		if (!strcmp(request_table[i].name, name))
			return i;
	return -1;
}

static int set_keys(struct request *r, json_t *object, struct err *err)
{
	unsigned int allowed = request_table[r->op].keys, seen = 0;
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		const struct request_key *key = find_key(name);

		if (!strcmp(name, "op"))
			continue;
		if (!key || !(key->bit & allowed))
			return malformed(err, "unknown key", name);
		if (key->set(r, value))
			return malformed(err, "bad value of", name);
		seen |= key->bit;
	}
	if (~seen & allowed & REQUIRED)
		return malformed(err, "a required key is missing from", request_table[r->op].name);
	return 0;
}

int protocol_parse_request(const char *bytes, size_t len, struct request *out, struct err *err)
{
	json_error_t where;
	json_t *object;
	int op, rc;

	*out = (struct request){ 0 };
	if (len > PROTOCOL_MAX)
		return malformed(err, "too long", NULL);
	object = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &where);
	op = find_op(json_string_value(json_object_get(object, "op")));
	out->op = op < 0 ? 0 : (enum request_op)op;
	if (!json_is_object(object))
		rc = malformed(err, "not a JSON object", NULL);
	else if (op < 0)
		rc = malformed(err, "unknown operation", NULL);
	else
		rc = set_keys(out, object, err);
	json_decref(object);
	return rc;
}

static json_t *limits_object(const struct request *request)
{
	json_t *limits = json_object();

	for (int i = 0; limits && i < LIMIT__COUNT; i++)
		if (request->has_limit[i] &&
		    json_object_set_new(limits, limit_table[i].name,
					json_integer((json_int_t)request->limits[i]))) {
			json_decref(limits);
			return NULL;
		}
	return limits;
}

static json_t *key_value(const struct request *request, unsigned int bit)
{
	switch (bit) {
	case REQUEST_KEY_SIGNAL:
		return json_integer(request->signal);
	case REQUEST_KEY_TREE:
		return json_boolean(request->tree);
	case REQUEST_KEY_FOLLOW:
		return json_boolean(request->follow);
	case REQUEST_KEY_STDOUT:
		return json_integer((json_int_t)request->offset[0]);
	case REQUEST_KEY_STDERR:
		return json_integer((json_int_t)request->offset[1]);
	case REQUEST_KEY_GRACE:
		return json_integer((json_int_t)request->grace_ns);
	default:
		return limits_object(request);
	}
}

json_t *protocol_request(const struct request *request)
{
	const struct request_row *row = &request_table[request->op];
	json_t *object = json_pack("{s:s}", "op", row->name);

	for (size_t i = 0; object && i < sizeof(request_keys) / sizeof(*request_keys); i++) {
		const struct request_key *key = &request_keys[i];

		if (key->bit == REQUEST_KEY_GRACE && !request->has_grace)
			continue;
		if (key->bit & row->keys &&
		    json_object_set_new(object, key->name, key_value(request, key->bit))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

json_t *protocol_error(const struct err *err)
{
	return json_pack("{s:b, s:{s:s, s:s, s:i, s:s}}", "ok", 0, "error", "category",
			 err_category_name(err->category), "text", err->text, "code", err->code,
			 "capability", err->capability);
}

int protocol_reply_error(const json_t *reply, struct err *err)
{
	const json_t *error = json_object_get(reply, "error");
	const char *name = json_string_value(json_object_get(error, "category"));
	const char *text = json_string_value(json_object_get(error, "text"));
	int code = (int)json_integer_value(json_object_get(error, "code"));
	enum err_category category = ERR_PROTOCOL;

	if (json_is_true(json_object_get(reply, "ok")))
		return 0;
	for (int i = ERR_INTERNAL; name && i <= ERR_CLEANUP; i++)
		if (!strcmp(err_category_name((enum err_category)i), name))
			category = (enum err_category)i;
	return err_say(err, category, code < 0 ? code : -EBADMSG, "%s",
		       text ? text : "the keeper's reply makes no sense");
}

/* ---- bytes in JSON ---- */

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static size_t encode(const char *bytes, size_t len, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t group = 0;

		for (size_t k = 0; k < 3; k++)
			group = group << 8 | (k < n ? (unsigned char)bytes[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			out[used++] = k <= n ? base64[group >> (18 - 6 * k) & 63] : '=';
	}
	return used;
}

static ssize_t decode(const char *text, size_t len, char *out, size_t size)
{
	size_t used = 0;

	if (len % 4)
		return -EBADMSG;
	for (size_t i = 0; i < len; i += 4) {
		size_t pad = 0;
		uint32_t group = 0;

		for (size_t k = 0; k < 4; k++) {
			const char *at = text[i + k] ? strchr(base64, text[i + k]) : NULL;

			if (!at && (text[i + k] != '=' || i + 4 < len || k < 2))
				return -EBADMSG;
			if (at && pad)
				return -EBADMSG;
			pad += !at;
			group = group << 6 | (at ? (uint32_t)(at - base64) : 0);
		}
		for (size_t k = 0; k < 3 - pad; k++) {
			if (used == size)
				return -EBADMSG;
			out[used++] = (char)(group >> (16 - 8 * k));
		}
	}
	return (ssize_t)used;
}

json_t *protocol_chunk(int stream, uint64_t offset, const char *bytes, size_t len)
{
	own_str text = malloc(len / 3 * 4 + 5);

	if (!text)
		return NULL;

	size_t used = encode(bytes, len, text);

	return json_pack("{s:s, s:I, s:s%}", "stream", stream == 1 ? "stdout" : "stderr", "offset",
			 (json_int_t)offset, "base64", text, used);
}

ssize_t protocol_chunk_bytes(const json_t *message, int *stream, uint64_t *offset, char *buf,
			     size_t size)
{
	const char *name = json_string_value(json_object_get(message, "stream"));
	const json_t *text = json_object_get(message, "base64");
	const json_t *at = json_object_get(message, "offset");

	if (!name || !json_is_string(text) || set_offset(offset, at))
		return -EBADMSG;
	if (strcmp(name, "stdout") && strcmp(name, "stderr"))
		return -EBADMSG;
	*stream = strcmp(name, "stdout") ? 2 : 1;
	return decode(json_string_value(text), json_string_length(text), buf, size);
}
