/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"

#define NS_PER_SEC 1000000000ULL
/* Half of what a timer takes, so that "now + limit" never overflows: 146 years. */
#define NUM_MAX ((uint64_t)INT64_MAX / 2)

/* `scale` is what one unit is worth. Within one compound text units only get smaller. */
struct unit {
	const char *name;
	uint64_t scale;
};

static const struct unit duration_units[] = {
	{ "d", 86400 * NS_PER_SEC },
	{ "h", 3600 * NS_PER_SEC },
	{ "m", 60 * NS_PER_SEC },
	{ "s", NS_PER_SEC },
	{ "ms", 1000000 },
	{ "us", 1000 },
	{ "ns", 1 },
	{ NULL, 0 },
};

static const struct unit size_units[] = {
	{ "P", 1ULL << 50 }, { "T", 1ULL << 40 }, { "G", 1ULL << 30 }, { "M", 1ULL << 20 },
	{ "K", 1ULL << 10 }, { "B", 1 },	  { NULL, 0 },
};

static int say(struct err *err, int code, const char *text, const char *what)
{
	return err_say(err, ERR_VALIDATION, code, "%.80s: %s", *text ? text : "''", what);
}

static int say_code(struct err *err, int code, const char *text, const char *form)
{
	if (code == -EDOM)
		return say(err, code, text, "must be greater than zero");
	if (code == -ERANGE)
		return say(err, code, text, "out of range");
	return say(err, code, text, form);
}

/* A decimal number at *text times a unit: digits and fraction apart, so that nothing is rounded but
 * what is smaller than one. */
struct decimal {
	uint64_t whole, fraction, divisor; /* fraction / divisor < 1 */
	const char *end;
};

static int decimal_read(const char *text, struct decimal *d)
{
	*d = (struct decimal){ .divisor = 1 };

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	for (; isdigit((unsigned char)*text); text++) {
		if (__builtin_mul_overflow(d->whole, 10, &d->whole) ||
		    __builtin_add_overflow(d->whole, (uint64_t)(*text - '0'), &d->whole))
			return -ERANGE;
	}

	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return -EINVAL;
		for (; isdigit((unsigned char)*text); text++) {
			if (d->divisor >= NS_PER_SEC)
				continue;
			d->fraction = d->fraction * 10 + (uint64_t)(*text - '0');
			d->divisor *= 10;
		}
	}
	d->end = text;
	return 0;
}

/* *sum += d * scale. */
static int decimal_add(const struct decimal *d, uint64_t scale, uint64_t *sum)
{
	uint64_t whole;
	__uint128_t part = (__uint128_t)d->fraction * scale / d->divisor;

	if (__builtin_mul_overflow(d->whole, scale, &whole) ||
	    __builtin_add_overflow(*sum, whole, sum) ||
	    __builtin_add_overflow(*sum, (uint64_t)part, sum) || *sum > NUM_MAX)
		return -ERANGE;
	return 0;
}

static int negative(const char *text)
{
	return text[0] == '-' && isdigit((unsigned char)text[1]) ? -EDOM : 0;
}

static const struct unit *duration_unit(const char *text, size_t len, const struct unit *from)
{
	for (; from->name; from++)
		if (strlen(from->name) == len && !strncmp(from->name, text, len))
			return from;
	return NULL;
}

static int duration_read(const char *text, uint64_t *ns)
{
	const struct unit *next = duration_units;
	const char *at = text;
	struct decimal d;
	int r = negative(text);

	*ns = 0;
	do {
		const struct unit *unit;
		size_t len;

		r = r ? r : decimal_read(at, &d);
		if (r < 0)
			return r;
		len = strspn(d.end, "abcdefghijklmnopqrstuvwxyz");
		/* A bare number is seconds, alone. */
		unit = !len && at == text && !*d.end ? &duration_units[3]
						     : duration_unit(d.end, len, next);
		if (!unit)
			return -EINVAL;
		r = decimal_add(&d, unit->scale, ns);
		at = d.end + len;
		next = unit + 1;
	} while (!r && *at);
	return r ? r : *ns ? 0 : -EDOM;
}

int num_duration(const char *text, uint64_t *ns, struct err *err)
{
	uint64_t value;
	int r = duration_read(text, &value);

	if (r < 0)
		return say_code(err, r, text,
				"not a duration; write 30, 1.5s, 200ms, 2m, 1h or 1m30s");
	*ns = value;
	return 0;
}

static int size_read(const char *text, uint64_t *bytes)
{
	const struct unit *unit = size_units;
	struct decimal d;
	const char *rest;
	int r = negative(text);

	*bytes = 0;
	r = r ? r : decimal_read(text, &d);
	if (r < 0)
		return r;

	rest = d.end;
	if (!*rest)
		rest = "B";
	while (unit->name && toupper((unsigned char)*rest) != *unit->name)
		unit++;
	if (!unit->name)
		return -EINVAL;
	rest++;
	if (unit->scale > 1 && *rest && strcasecmp(rest, "B") && strcasecmp(rest, "iB"))
		return -EINVAL;
	if (unit->scale == 1 && (*rest || d.divisor > 1))
		return -EINVAL;

	r = decimal_add(&d, unit->scale, bytes);
	return r ? r : *bytes ? 0 : -EDOM;
}

int num_size(const char *text, uint64_t *bytes, struct err *err)
{
	uint64_t value;
	int r = size_read(text, &value);

	if (r < 0 && strchr(text, '%'))
		return say(err, -EINVAL, text,
			   "a percentage has no meaning here; write bytes, 64K, 512M or 1.5G");
	if (r < 0)
		return say_code(err, r, text, "not a size; write bytes, 64K, 512M or 1.5G");
	*bytes = value;
	return 0;
}

int num_count(const char *text, uint64_t *count, struct err *err)
{
	uint64_t value = 0;
	int r = negative(text);

	r = r ? r : num_u64(text, &value);
	if (!r && (!value || value > NUM_MAX))
		r = value ? -ERANGE : -EDOM;
	if (r < 0)
		return say_code(err, r, text, "not a number; write a whole one, such as 100");
	*count = value;
	return 0;
}

static int cpus_read(const char *text, uint64_t *millicores)
{
	struct decimal d;
	uint64_t scale;
	int r = negative(text);

	*millicores = 0;
	r = r ? r : decimal_read(text, &d);
	if (r < 0)
		return r;

	scale = *d.end == 'm' ? 1 : 1000;
	if (d.end[*d.end == 'm'] || (scale == 1 && d.divisor > 1))
		return -EINVAL;
	r = decimal_add(&d, scale, millicores);
	if (r < 0)
		return r;
	return *millicores ? 0 : d.fraction ? -ERANGE : -EDOM;
}

int num_cpus(const char *text, uint64_t *millicores, struct err *err)
{
	uint64_t value;
	int r = cpus_read(text, &value);

	if (r < 0)
		return say_code(err, r, text, "not a number of CPUs; write 2, 0.5 or 250m");
	*millicores = value;
	return 0;
}

int num_u64(const char *text, uint64_t *value)
{
	struct decimal d;
	int r = decimal_read(text, &d);

	if (r < 0)
		return r;
	if (*d.end || d.divisor > 1)
		return -EINVAL;
	*value = d.whole;
	return 0;
}

static int signal_read(const char *text, int *sig)
{
	const char *name = strncasecmp(text, "SIG", 3) ? text : text + 3;
	uint64_t number;

	if (!num_u64(text, &number)) {
		*sig = (int)number;
		return number && number <= (uint64_t)SIGRTMAX ? 0 : -ERANGE;
	}
	for (int s = 1; s < NSIG; s++) {
		const char *known = sigabbrev_np(s);

		if (known && !strcasecmp(known, name)) {
			*sig = s;
			return 0;
		}
	}
	if (!strncasecmp(name, "RTMIN+", 6) && !num_u64(name + 6, &number) &&
	    number <= (uint64_t)(SIGRTMAX - SIGRTMIN)) {
		*sig = SIGRTMIN + (int)number;
		return 0;
	}
	return -EINVAL;
}

int num_signal(const char *text, int *sig, struct err *err)
{
	int value;
	int r = signal_read(text, &value);

	if (r < 0)
		return say(err, r, text, "not a signal; write TERM, SIGTERM or 15");
	*sig = value;
	return 0;
}

/* value / scale as an exact decimal without trailing zeros. */
static void decimal_text(uint64_t value, uint64_t scale, const char *unit, char *buf, size_t size)
{
	unsigned long long billionths = value % scale * (NS_PER_SEC / scale);
	char fraction[24];
	int len = snprintf(fraction, sizeof(fraction), ".%09llu", billionths);

	while (len && strchr("0.", fraction[len - 1]))
		fraction[--len] = '\0';
	snprintf(buf, size, "%llu%s %s", (unsigned long long)(value / scale), fraction, unit);
}

void num_duration_text(uint64_t ns, char *buf, size_t size)
{
	if (ns && ns % (3600 * NS_PER_SEC) == 0)
		decimal_text(ns / (3600 * NS_PER_SEC), 1, "h", buf, size);
	else if (ns && ns % (60 * NS_PER_SEC) == 0)
		decimal_text(ns / (60 * NS_PER_SEC), 1, "min", buf, size);
	else if (!ns || ns >= NS_PER_SEC)
		decimal_text(ns, NS_PER_SEC, "s", buf, size);
	else if (ns >= 1000000)
		decimal_text(ns, 1000000, "ms", buf, size);
	else if (ns >= 1000)
		decimal_text(ns, 1000, "us", buf, size);
	else
		decimal_text(ns, 1, "ns", buf, size);
}

void num_size_text(uint64_t bytes, char *buf, size_t size)
{
	for (const struct unit *unit = size_units; bytes && unit->scale > 1; unit++) {
		if (bytes % unit->scale == 0) {
			snprintf(buf, size, "%llu %siB", (unsigned long long)(bytes / unit->scale),
				 unit->name);
			return;
		}
	}
	snprintf(buf, size, "%llu B", (unsigned long long)bytes);
}

void num_signal_text(int sig, char *buf, size_t size)
{
	const char *name = sigabbrev_np(sig);

	if (name)
		snprintf(buf, size, "SIG%s", name);
	else
		snprintf(buf, size, "signal %d", sig);
}
