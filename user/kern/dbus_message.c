/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format: everything aligned to its own size, from the start of the message. */
#include "kern/dbus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 'l' : 'B')
#define VERSION 1
#define HEADER_FIXED 16 /* up to and with the length of the field array */

enum {
	FIELD_PATH = 1,
	FIELD_INTERFACE,
	FIELD_MEMBER,
	FIELD_ERROR,
	FIELD_REPLY,
	FIELD_DESTINATION,
	FIELD_SIGNATURE = 8
};

static void put(struct dbus_body *b, const void *bytes, size_t len)
{
	if (b->full || len > sizeof(b->bytes) - b->len) {
		b->full = true;
		return;
	}
	memcpy(b->bytes + b->len, bytes, len);
	b->len += len;
}

static void align_to(struct dbus_body *b, size_t align)
{
	static const char zero[8];

	put(b, zero, (align - b->len % align) % align);
}

static void put_byte(struct dbus_body *b, uint8_t value)
{
	put(b, &value, 1);
}

void dbus_body_u32(struct dbus_body *b, uint32_t value)
{
	align_to(b, 4);
	put(b, &value, sizeof(value));
}

void dbus_body_u64(struct dbus_body *b, uint64_t value)
{
	align_to(b, 8);
	put(b, &value, sizeof(value));
}

void dbus_body_string(struct dbus_body *b, const char *text)
{
	size_t len = strlen(text);

	dbus_body_u32(b, (uint32_t)len);
	put(b, text, len + 1);
}

void dbus_body_signature(struct dbus_body *b, const char *text)
{
	size_t len = strlen(text);

	put_byte(b, (uint8_t)len);
	put(b, text, len + 1);
}

void dbus_body_struct(struct dbus_body *b)
{
	align_to(b, 8);
}

size_t dbus_body_array(struct dbus_body *b, size_t align)
{
	size_t mark;

	dbus_body_u32(b, 0);
	mark = b->len;
	align_to(b, align);
	return mark;
}

/* The length counts from the first element: not the padding before it. */
void dbus_body_array_end(struct dbus_body *b, size_t mark, size_t align)
{
	size_t first = (mark + align - 1) / align * align;
	uint32_t len = (uint32_t)(b->len - first);

	if (!b->full)
		memcpy(b->bytes + mark - sizeof(len), &len, sizeof(len));
}

static void put_field(struct dbus_body *b, uint8_t code, const char *type, const char *value)
{
	if (!value)
		return;
	dbus_body_struct(b);
	put_byte(b, code);
	dbus_body_signature(b, type);
	if (*type == 'g')
		dbus_body_signature(b, value);
	else
		dbus_body_string(b, value);
}

void dbus_header(struct dbus_body *out, const struct dbus_method *m, uint32_t serial,
		 size_t body_len)
{
	size_t fields;

	put_byte(out, ENDIAN);
	put_byte(out, DBUS_CALL);
	put_byte(out, 0);
	put_byte(out, VERSION);
	dbus_body_u32(out, (uint32_t)body_len);
	dbus_body_u32(out, serial);
	fields = dbus_body_array(out, 8);
	put_field(out, FIELD_PATH, "o", m->path);
	put_field(out, FIELD_INTERFACE, "s", m->interface);
	put_field(out, FIELD_MEMBER, "s", m->member);
	put_field(out, FIELD_DESTINATION, "s", m->destination);
	put_field(out, FIELD_SIGNATURE, "g", body_len ? m->signature : NULL);
	dbus_body_array_end(out, fields, 8);
	align_to(out, 8);
}

/* What is being read; `bad` stays set once it ran out. */
struct reader {
	const char *bytes;
	size_t at, end;
	bool bad;
};

static void skip_to(struct reader *r, size_t align)
{
	r->at = (r->at + align - 1) / align * align;
}

static const char *take(struct reader *r, size_t len)
{
	const char *p = r->bytes + r->at;

	if (r->bad || r->at > r->end || len > r->end - r->at) {
		r->bad = true;
		return NULL;
	}
	r->at += len;
	return p;
}

static uint32_t take_u32(struct reader *r)
{
	const char *p;
	uint32_t value = 0;

	skip_to(r, 4);
	p = take(r, sizeof(value));
	if (p)
		memcpy(&value, p, sizeof(value));
	return value;
}

/* A string, or with `small` a signature. Borrowed, NUL-terminated, "" when bad. */
static const char *take_text(struct reader *r, bool small)
{
	const char *len = small ? take(r, 1) : NULL;
	size_t n = small ? (len ? (uint8_t)*len : 0) : take_u32(r);
	const char *text = n < DBUS_REPLY_MAX ? take(r, n + 1) : NULL;

	if (!text || text[n])
		r->bad = true;
	return r->bad ? "" : text;
}

static void read_field(struct reader *r, struct dbus_reply *out)
{
	const char *code, *type;

	skip_to(r, 8);
	code = take(r, 1);
	type = take_text(r, true);
	if (!code)
		return;
	if (!strcmp(type, "u")) {
		uint32_t value = take_u32(r);

		if (*code == FIELD_REPLY)
			out->reply_serial = value;
	} else if (!strcmp(type, "s") || !strcmp(type, "o") || !strcmp(type, "g")) {
		const char *text = take_text(r, *type == 'g');

		if (*code == FIELD_ERROR)
			snprintf(out->error_name, sizeof(out->error_name), "%s", text);
	} else {
		r->bad = true;
	}
}

int dbus_parse(const char *bytes, size_t len, struct dbus_reply *out)
{
	struct reader r = { .bytes = bytes, .at = 4, .end = len };
	uint32_t body, fields;
	size_t end;

	memset(out, 0, sizeof(*out));
	if (len < HEADER_FIXED || bytes[0] != ENDIAN || bytes[3] != VERSION)
		return -EPROTO;
	out->kind = (enum dbus_kind)bytes[1];
	body = take_u32(&r);
	take_u32(&r);
	fields = take_u32(&r);
	if (fields > len - HEADER_FIXED)
		return -EPROTO;

	end = r.at + fields;
	while (!r.bad && r.at < end)
		read_field(&r, out);
	skip_to(&r, 8);
	if (out->kind == DBUS_ERROR && body && !r.bad)
		snprintf(out->text, sizeof(out->text), "%s", take_text(&r, false));
	return r.bad ? -EPROTO : 0;
}
