/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dbus: method calls to systemd, and no more of D-Bus than that takes.
 *
 * Over /run/systemd/private (root, no broker needed), else the system bus. Blocking, each call bounded by
 * DBUS_TIMEOUT_MS. Replies are checked for success only; signals that arrive meanwhile are dropped.
 */
#ifndef KERN_DBUS_H
#define KERN_DBUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define DBUS_TIMEOUT_MS 5000
#define DBUS_MESSAGE_MAX 4096 /* of ours */
#define DBUS_REPLY_MAX 65536  /* more is refused */

/* Marshalled values. Once something did not fit, `full` stays set and the call is refused. */
struct dbus_body {
	char bytes[DBUS_MESSAGE_MAX];
	size_t len;
	bool full;
};

void dbus_body_u32(struct dbus_body *b, uint32_t value);	 /* u, b */
void dbus_body_u64(struct dbus_body *b, uint64_t value);	 /* t */
void dbus_body_string(struct dbus_body *b, const char *text);	 /* s, o */
void dbus_body_signature(struct dbus_body *b, const char *text); /* g */
void dbus_body_struct(struct dbus_body *b); /* aligns for a struct or dict entry */
/* An array: begin, elements, end with what begin returned. `align` is that of the element. */
size_t dbus_body_array(struct dbus_body *b, size_t align);
void dbus_body_array_end(struct dbus_body *b, size_t mark, size_t align);

struct dbus_method {
	const char *destination, *path, *interface, *member, *signature;
};

/* The header of a method call, padded so that a body may follow. */
void dbus_header(struct dbus_body *out, const struct dbus_method *m, uint32_t serial,
		 size_t body_len);

enum dbus_kind { DBUS_CALL = 1, DBUS_RETURN = 2, DBUS_ERROR = 3, DBUS_SIGNAL = 4 };
struct dbus_reply {
	enum dbus_kind kind;
	uint32_t reply_serial; /* 0: none */
	char error_name[128];  /* "" when it is none */
	char text[256];	       /* of an error */
};
/* Reads one whole message of `len` bytes. -EPROTO when it is none. */
int dbus_parse(const char *bytes, size_t len, struct dbus_reply *out);

struct dbus {
	int fd;
	bool broker; /* the system bus, not systemd's own socket */
	uint32_t serial;
};
int dbus_open(struct dbus *bus, struct err *err);
/* -EREMOTEIO when the answer is an error: its text is in `err`, its name in `name` (may be NULL). */
int dbus_call(struct dbus *bus, const struct dbus_method *m, const struct dbus_body *body,
	      char name[128], struct err *err);
void dbus_close(struct dbus *bus);

#endif
