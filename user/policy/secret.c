/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names are looked at word by word, so that TOKENIZERS_PARALLELISM, KEYBOARD and GIT_AUTHOR_NAME
 * pass while GH_TOKEN, apiKey, R2_ACCESS_KEY_ID and OH_SESSION_API_KEYS_0 do not. Words end at
 * anything but a letter or digit and where lower case turns upper; trailing digits and a plural S
 * do not count.
 */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "policy/secret.h"

#define WORDS_MAX 32
#define WORD_MAX 48

struct words {
	char word[WORDS_MAX][WORD_MAX]; /* upper case */
	size_t count;
};

static const char *const anywhere[] = {
	"SECRET", "PASSWORD",	"PASSWD", "PASSPHRASE",	   "TOKEN",	 "CREDENTIAL",
	"CRED",	  "SESSION",	"COOKIE", "AUTH",	   "OAUTH",	 "BEARER",
	"JWT",	  "XAUTHORITY", "NETRC",  "AUTHORIZATION", "DSN",	 "WEBHOOK",
	"HMAC",	  "TOTP",	"APIKEY", "ACCESSKEY",	   "PRIVATEKEY",
};

/* Only as the last of several words: MYSQL_PWD but not PWD, STRIPE_KEY but not KEY_REPEAT. */
static const char *const last[] = { "KEY", "PASS", "PWD", "PAT", "PW" };

static const char *const pairs[][2] = {
	{ "API", "KEY" },	 { "ACCESS", "KEY" },
	{ "PRIVATE", "KEY" },	 { "ENCRYPTION", "KEY" },
	{ "SIGNING", "KEY" },	 { "MASTER", "KEY" },
	{ "SSH", "KEY" },	 { "GPG", "KEY" },
	{ "DATABASE", "URL" },	 { "DB", "URL" },
	{ "REDIS", "URL" },	 { "MONGO", "URL" },
	{ "MONGODB", "URL" },	 { "MONGO", "URI" },
	{ "MONGODB", "URI" },	 { "POSTGRES", "URL" },
	{ "POSTGRESQL", "URL" }, { "MYSQL", "URL" },
	{ "AMQP", "URL" },	 { "BROKER", "URL" },
	{ "DATABASE", "URI" },	 { "CONNECTION", "STRING" },
};

/* In words run together, githubsecret and dbpassword; a word may also end in TOKEN. */
static const char *const inside[] = { "SECRET",	    "PASSWORD", "PASSWD",    "PASSPHRASE",
				      "CREDENTIAL", "APIKEY",	"ACCESSKEY", "PRIVATEKEY" };

/* How known issuers begin their keys. */
static const char *const value_starts[] = {
	"sk-",	 "sk_live_",  "sk_test_",    "rk_live_", "ghp_",  "gho_",   "ghu_",
	"ghs_",	 "ghr_",      "github_pat_", "glpat-",	 "xoxb-", "xoxp-",  "xoxa-",
	"xapp-", "AKIA",      "ASIA",	     "AIza",	 "ya29.", "npm_",   "hf_",
	"pypi-", "dckr_pat_", "shpat_",	     "SG.",	 "eyJ",	  "whsec_", "-----BEGIN ",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool word_ends(const char *p)
{
	if (!isalnum((unsigned char)p[1]))
		return true;
	if (!isupper((unsigned char)p[1]))
		return false;
	return islower((unsigned char)p[0]) ||
	       (isupper((unsigned char)p[0]) && islower((unsigned char)p[2]) && p[2]);
}

/* "KEYS2" -> "KEYS"; a word of digits alone is none. */
static size_t trim(char *word, size_t len)
{
	while (len && isdigit((unsigned char)word[len - 1]))
		len--;
	word[len] = '\0';
	return len;
}

static void split(const char *name, struct words *w)
{
	size_t len = 0;

	w->count = 0;
	for (const char *p = name; *p && w->count < WORDS_MAX; p++) {
		char *word = w->word[w->count];

		if (!isalnum((unsigned char)*p))
			continue;
		if (len < WORD_MAX - 1)
			word[len++] = (char)toupper((unsigned char)*p);
		if (!word_ends(p))
			continue;
		if (trim(word, len))
			w->count++;
		len = 0;
	}
}

/* The word or its plural. */
static bool same(const char *word, const char *known)
{
	size_t len = strlen(known);

	return !strncmp(word, known, len) && !strcmp(word + len, word[len] == 'S' ? "S" : "");
}

static bool one_of(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (same(word, list[i]))
			return true;
	return false;
}

static bool runs_together(const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < COUNT(inside); i++)
		if (strstr(word, inside[i]))
			return true;
	return len > 5 && !strcmp(word + len - 5, "TOKEN");
}

static bool pair_at(const struct words *w, size_t at)
{
	for (size_t i = 0; at + 1 < w->count && i < COUNT(pairs); i++)
		if (!strcmp(w->word[at], pairs[i][0]) && same(w->word[at + 1], pairs[i][1]))
			return true;
	return false;
}

bool secret_name(const char *name)
{
	struct words w;

	split(name, &w);
	for (size_t i = 0; i < w.count; i++)
		if (one_of(w.word[i], anywhere, COUNT(anywhere)) || runs_together(w.word[i]) ||
		    pair_at(&w, i))
			return true;
	return w.count > 1 && one_of(w.word[w.count - 1], last, COUNT(last));
}

/* scheme://user:password@host */
static bool url_with_password(const char *value)
{
	const char *at = strstr(value, "://"), *end, *colon;

	if (!at)
		return false;
	at += 3;
	end = at + strcspn(at, "/?# ");
	colon = memchr(at, ':', (size_t)(end - at));
	return colon && memchr(colon, '@', (size_t)(end - colon));
}

bool secret_value(const char *value)
{
	for (size_t i = 0; i < COUNT(value_starts); i++)
		if (!strncmp(value, value_starts[i], strlen(value_starts[i])))
			return true;
	return url_with_password(value);
}
