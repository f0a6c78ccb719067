/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "policy/profile_builtin.h"

/* What every program may write to, whatever else it may. */
#define DEVICES                                                               \
	"Write=-/dev/null -/dev/zero -/dev/full -/dev/random -/dev/urandom\n" \
	"Write=-/dev/tty -/dev/ptmx -/dev/pts\n"

#define TEMPORARY                          \
	"Write=/tmp -/var/tmp -/dev/shm\n" \
	"PrivateTmp=yes\n"                 \
	"Cache=private\n"

/* A literal path wins over a pattern: %h stays readable below /home, and /root where it is %h. */
static const char text_default[] =
	"# Read and run everything but credentials; write in the working directory.\n"
	"\n"
	"[Limits]\n"
	"TasksMax=1024\n"
	"MemoryMax=75%\n"
	"\n"
	"[Filesystem]\n"
	"Read=/ -%h\n"
	"Write=%d\n" TEMPORARY DEVICES "\n"
	"# Other users' homes: patterns, which the literal %h above wins over.\n"
	"Deny=-/home/* -/roo[t]\n"
	"\n"
	"# Keys and tokens.\n"
	"Deny=-~/.ssh -~/.gnupg -~/.aws -~/.azure -~/.config/gcloud -~/.config/gh -~/.kube\n"
	"Deny=-~/.docker/config.json -~/.netrc -~/.npmrc -~/.pypirc -~/.cargo/credentials*\n"
	"Deny=-~/.git-credentials -~/.pgpass -~/.vault-token -~/.password-store\n"
	"Deny=-~/.local/share/keyrings -~/.claude/.credentials.json -~/.codex/auth.json\n"
	"Deny=-/etc/shadow* -/etc/gshadow* -/etc/ssh/*_key -/etc/ssl/private -/run/secrets\n"
	"\n"
	"# Browsers: cookies and saved passwords.\n"
	"Deny=-~/.mozilla -~/.config/google-chrome* -~/.config/chromium -~/.config/BraveSoftware\n"
	"Deny=-~/.config/microsoft-edge* -~/.config/vivaldi -~/.config/opera -~/snap/firefox\n"
	"Deny=-~/snap/chromium -~/.var/app/org.mozilla.firefox -~/.var/app/com.google.Chrome\n"
	"\n"
	"# What was typed into shells.\n"
	"Deny=-~/.bash_history -~/.zsh_history -~/.zhistory -~/.histfile -~/.history\n"
	"Deny=-~/.sh_history -~/.ash_history -~/.local/share/fish/fish_history\n"
	"\n"
	"[Network]\n"
	"Mode=none\n";

static const char text_readonly[] = "# As default, and nothing of this host is writable.\n"
				    "Extends=default\n"
				    "\n"
				    "[Filesystem]\n"
				    "Write=\n" TEMPORARY DEVICES;

static const char text_none[] =
	"# Tracks, bounds and kills; denies nothing and leaves capabilities alone.\n";

/* Below the runtimes' own profiles, so that ~/.claude stays theirs where the working directory is the home. */
static const char text_agent_base[] =
	"# What coding agents share: the project's own settings for agents and editors are not "
	"theirs to change.\n"
	"Extends=default\n"
	"\n"
	"[Filesystem]\n"
	"Read=-%d/.claude -%d/.mcp.json -%d/.vscode -%d/.idea -%d/.envrc\n";

/* Each runtime's state (its own login included), the hosts it calls, the names its key goes by. */
#define CLAUDE_FILES "Write=-~/.claude -~/.claude.json -~/.claude/.credentials.json\n"
#define CLAUDE_HOSTS "Allow=api.anthropic.com:443 claude.ai:443 platform.claude.com:443\n"
#define CLAUDE_NAMES                                                            \
	"Pass=ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN\n" \
	"Pass=ANTHROPIC_BASE_URL ANTHROPIC_MODEL\n"

#define CODEX_FILES "Write=-~/.codex -~/.codex/auth.json\n"
#define CODEX_HOSTS "Allow=api.openai.com:443 auth.openai.com:443 chatgpt.com:443\n"
#define CODEX_NAMES "Pass=OPENAI_API_KEY CODEX_API_KEY OPENAI_BASE_URL\n"

#define GEMINI_FILES "Write=-~/.gemini\n"
#define GEMINI_HOSTS                                                                    \
	"Allow=generativelanguage.googleapis.com:443 cloudcode-pa.googleapis.com:443\n" \
	"Allow=oauth2.googleapis.com:443\n"
#define GEMINI_NAMES "Pass=GEMINI_API_KEY GOOGLE_API_KEY\n"

#define AGENT(files, hosts, names)                                                           \
	"Extends=agent-base\n\n[Filesystem]\n" files "\n[Network]\n" hosts "\n[Environment]" \
	"\n" names

static const char text_agent[] =
	"# The default for coding-agent runtimes: their own state, hosts and keys beside "
	"it.\n" AGENT(CLAUDE_FILES CODEX_FILES GEMINI_FILES, CLAUDE_HOSTS CODEX_HOSTS GEMINI_HOSTS,
		      CLAUDE_NAMES CODEX_NAMES GEMINI_NAMES);
static const char text_agent_claude[] =
	"# agent, for Claude Code alone.\n" AGENT(CLAUDE_FILES, CLAUDE_HOSTS, CLAUDE_NAMES);
static const char text_agent_codex[] =
	"# agent, for Codex alone.\n" AGENT(CODEX_FILES, CODEX_HOSTS, CODEX_NAMES);
static const char text_agent_gemini[] =
	"# agent, for Gemini CLI alone.\n" AGENT(GEMINI_FILES, GEMINI_HOSTS, GEMINI_NAMES);

const struct profile_builtin profile_builtins[] = {
	{ "default", "everything but credentials; writes in the working directory", text_default },
	{ "agent", "default for coding agents: their state, hosts and keys too", text_agent },
	{ "agent-base", "what the agent profiles share", text_agent_base },
	{ "agent-claude", "agent, for Claude Code alone", text_agent_claude },
	{ "agent-codex", "agent, for Codex alone", text_agent_codex },
	{ "agent-gemini", "agent, for Gemini CLI alone", text_agent_gemini },
	{ "readonly", "as default, and nothing of this host is writable", text_readonly },
	{ "none", "track, bound and kill; deny nothing", text_none },
};
const size_t profile_builtin_count = sizeof(profile_builtins) / sizeof(profile_builtins[0]);

const struct profile_builtin *profile_builtin_find(const char *name)
{
	for (size_t i = 0; i < profile_builtin_count; i++)
		if (!strcmp(profile_builtins[i].name, name))
			return &profile_builtins[i];
	return NULL;
}
