/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "policy/secret.h"

static const char *const secrets[] = {
	"ANTHROPIC_API_KEY",
	"OPENAI_API_KEY",
	"GH_TOKEN",
	"GITHUB_TOKEN",
	"OH_SECRET_KEY",
	"OH_SESSION_API_KEYS_0",
	"R2_ACCESS_KEY_ID",
	"AWS_SECRET_ACCESS_KEY",
	"AWS_SESSION_TOKEN",
	"AWS_ACCESS_KEY_ID",
	"db_password",
	"DB_PASSWORD_2",
	"SSH_AUTH_SOCK",
	"STRIPE_WEBHOOK_SECRET",
	"DATABASE_URL",
	"REDIS_URL",
	"POSTGRES_URL",
	"MONGODB_URI",
	"SENTRY_DSN",
	"MYSQL_PWD",
	"DB_PASS",
	"PGPASSWORD",
	"apiKey",
	"myAPIKey",
	"stripeKey",
	"dbPassword",
	"githubtoken",
	"GITHUB_PAT",
	"NPM_CONFIG__AUTH",
	"npm_config__authToken",
	"DOCKER_AUTH_CONFIG",
	"CI_JOB_JWT",
	"COOKIE",
	"SESSION",
	"PRIVATE-KEY",
	"gpg.key.private.key",
	"HF_TOKEN",
	"CARGO_REGISTRY_TOKEN",
	"GOOGLE_APPLICATION_CREDENTIALS",
	"AZURE_CLIENT_SECRET",
	"ENCRYPTION_KEY",
	"SIGNING_KEY_1",
	"TWILIO_AUTH_TOKEN",
	"OAUTH2_CLIENT",
	"VAULT_PASSPHRASE",
	"SLACK_WEBHOOK_URL",
	"TOKEN",
	"SECRETS",
	"CREDS",
	"X_SECRETKEY",
};

static void names_that_hold_credentials_are_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		if (!secret_name(secrets[i]))
			fail_msg("%s passes", secrets[i]);
}

static void ordinary_names_pass(void **state)
{
	static const char *const names[] = {
		"PATH",
		"HOME",
		"PWD",
		"OLDPWD",
		"USER",
		"LANG",
		"LC_ALL",
		"TERM",
		"TZ",
		"EDITOR",
		"SHLVL",
		"TOKENIZERS_PARALLELISM",
		"KEYBOARD_LAYOUT",
		"GIT_AUTHOR_NAME",
		"GIT_AUTHOR_EMAIL",
		"KEY",
		"COMPASS",
		"BYPASS_CACHE",
		"MONKEY",
		"NO_COLOR",
		"DISPLAY",
		"XDG_RUNTIME_DIR",
		"PYTHONPATH",
		"NODE_ENV",
		"URL",
		"API_URL",
		"BASE_URL",
		"CI",
		"KEY_REPEAT",
		"PATTERN",
		"COMPATIBILITY",
		"",
		"_",
		"0",
		"HTTP_PROXY",
		"AUTHORS",
		"DESCRIPTION",
		"PASSAGES",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (secret_name(names[i]))
			fail_msg("%s is taken for a secret", names[i]);
}

static void a_name_of_any_length_is_safe_to_look_at(void **state)
{
	char name[5000];

	(void)state;
	memset(name, 'A', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_false(secret_name(name));
	for (size_t i = 1; i < sizeof(name) - 1; i += 2)
		name[i] = '_';
	assert_false(secret_name(name));
	assert_false(secret_name("\xff\xfe\x80"));
}

static void values_that_look_like_keys_are_known(void **state)
{
	static const char *const values[] = {
		"sk-ant-api03-looks-like-a-key",
		"ghp_0123456789",
		"github_pat_11AAAA",
		"glpat-xxxx",
		"xoxb-1-2",
		"AKIAIOSFODNN7EXAMPLE",
		"AIzaSyA",
		"eyJhbGciOiJIUzI1NiJ9.e30.x",
		"npm_abc",
		"hf_abc",
		"-----BEGIN RSA PRIVATE KEY-----",
		"postgres://user:pw@host/db",
		"redis://:pw@host:6379",
		"https://user:pw@proxy:3128",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (!secret_value(values[i]))
			fail_msg("%s passes", values[i]);
}

static void ordinary_values_pass(void **state)
{
	static const char *const values[] = {
		"",
		"1",
		"/usr/bin:/bin",
		"en_US.UTF-8",
		"xterm-256color",
		"UTC",
		"Asia/Tokyo",
		"skip",
		"task-1",
		"http://proxy:3128",
		"https://host/a:b@c",
		"postgres://user@host/db",
		"a:b@c",
		"-O2 -g",
		"https://host:8080/?x=a:b@c",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (secret_value(values[i]))
			fail_msg("%s is taken for a secret", values[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_hold_credentials_are_known),
		cmocka_unit_test(ordinary_names_pass),
		cmocka_unit_test(a_name_of_any_length_is_safe_to_look_at),
		cmocka_unit_test(values_that_look_like_keys_are_known),
		cmocka_unit_test(ordinary_values_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
