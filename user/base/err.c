/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

static const char *const category_names[] = {
	[ERR_INTERNAL] = "internal",
	[ERR_VALIDATION] = "validation",
	[ERR_CANNOT_ENFORCE] = "cannot_enforce",
	[ERR_UNSUPPORTED] = "unsupported_capability",
	[ERR_COULD_NOT_RUN] = "could_not_run",
	[ERR_PERMISSION] = "permission",
	[ERR_NOT_FOUND] = "not_found",
	[ERR_BUSY] = "busy",
	[ERR_PROTOCOL] = "protocol",
	[ERR_CLEANUP] = "cleanup",
};

const char *err_category_name(enum err_category category)
{
	return category_names[category];
}

static enum err_category category_of(int code)
{
	switch (-code) {
	case EINVAL:
		return ERR_VALIDATION;
	case EPERM:
	case EACCES:
		return ERR_PERMISSION;
	case ENOENT:
	case ESRCH:
		return ERR_NOT_FOUND;
	case EBUSY:
		return ERR_BUSY;
	case EOPNOTSUPP:
	case ENOSYS:
		return ERR_UNSUPPORTED;
	default:
		return ERR_INTERNAL;
	}
}

/* Names in messages come from people and from inside sandboxes: the text is made printable last. */
static void finish(struct err *err)
{
	size_t len = strlen(err->text);

	err->text[text_cut_head(err->text, len, sizeof(err->text) - 1)] = '\0';
	text_line(err->text);
}

__attribute__((format(printf, 4, 0))) static int fill(struct err *err, enum err_category category,
						      int code, const char *fmt, va_list ap)
{
	if (code >= 0)
		code = -EINVAL;
	if (!err)
		return code;

	err->category = category;
	err->code = code;
	err->capability[0] = '\0';
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	finish(err);
	return code;
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	code = fill(err, category_of(code < 0 ? code : -EINVAL), code, fmt, ap);
	va_end(ap);

	if (err && code != -EINVAL) {
		const char *why = strerrordesc_np(-code);
		size_t len = strlen(err->text);

		snprintf(err->text + len, sizeof(err->text) - len, ": %s",
			 why ? why : "unknown error");
	}
	return code;
}

int err_say(struct err *err, enum err_category category, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	code = fill(err, category, code, fmt, ap);
	va_end(ap);
	return code;
}

int err_cannot(struct err *err, const char *capability, const char *fmt, ...)
{
	va_list ap;
	int code;

	va_start(ap, fmt);
	code = fill(err, ERR_CANNOT_ENFORCE, -EOPNOTSUPP, fmt, ap);
	va_end(ap);

	if (err)
		snprintf(err->capability, sizeof(err->capability), "%s", capability);
	return code;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
	char rest[sizeof(err->text)];
	va_list ap;
	size_t len;

	if (!err)
		return -EINVAL;

	memcpy(rest, err->text, sizeof(rest));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);

	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", rest);
	finish(err);
	return err->code;
}
