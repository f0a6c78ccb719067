/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err: one fault, owned by the caller, no allocation.
 *
 * `text` is one line for a person: what failed, on what, why, and the remedy where there is one. It
 * never holds environment values, file content or stdin. A fault is not an outcome: a deadline or
 * a non-zero exit of the command is a result, never a struct err.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum err_category {
	ERR_INTERNAL,
	ERR_VALIDATION,	    /* bad option, unit, limit, name */
	ERR_CANNOT_ENFORCE, /* this host cannot do what was asked: `capability` names it */
	ERR_UNSUPPORTED,    /* kernel or build lacks it altogether */
	ERR_COULD_NOT_RUN,  /* the command could not be started: `code` is its errno */
	ERR_PERMISSION,
	ERR_NOT_FOUND,
	ERR_BUSY,
	ERR_PROTOCOL,
	ERR_CLEANUP,
};

struct err {
	enum err_category category;
	int code;	     /* negative errno */
	char capability[32]; /* DESIGN 9 capability name, or "" */
	char text[512];	     /* one line of valid UTF-8, cut on a character boundary */
};

/* All return `code` (or -EINVAL when it is not negative), so that `return err_set(…)` is one
 * statement. `err` may be NULL. When `code` is not -EINVAL the text gets ": <strerror>"
 * appended. The category follows the code. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, with a category; nothing is appended to the text. */
int err_say(struct err *err, enum err_category category, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* ERR_CANNOT_ENFORCE for `capability`. Returns -EOPNOTSUPP. */
int err_cannot(struct err *err, const char *capability, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "<prefix>: " before the text that is there. Returns err->code. */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *err_category_name(enum err_category category);

#endif
