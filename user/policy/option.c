/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "policy/option.h"
#include "policy/option_set.h"

#define NO_CAPS                                                                                 \
	"capabilities are never dropped in this build; leave it out, and a root command keeps " \
	"them"

#define OFFSET(field) offsetof(struct spec, field)

/* One row an option, as in DESIGN 8: name, letter, argument, group, repeat, refused, setter,
 * aux, help. */
const struct option run_options[] = {
	{ "--timeout", 't', "DUR", GROUP_LIMITS, false, NULL, option_set_limit, LIMIT_WALL,
	  "end the tree after this much time (exit status 124)" },
	{ "--idle-timeout", 0, "DUR", GROUP_LIMITS, false, NULL, option_set_limit, LIMIT_IDLE,
	  "end it after this much time with neither output nor CPU use" },
	{ "--kill-after", 'k', "DUR", GROUP_LIMITS, false, NULL, option_set_grace, 0,
	  "time between the signal and SIGKILL (2s; none: at once)" },
	{ "--signal", 's', "SIG", GROUP_LIMITS, false, NULL, option_set_signal, 0,
	  "signal that asks the tree to end (TERM)" },
	{ "--memory", 'm', "SIZE", GROUP_LIMITS, false, NULL, option_set_limit, LIMIT_MEMORY,
	  "memory of the whole tree" },
	{ "--swap", 0, "SIZE", GROUP_LIMITS, false, NULL, option_set_limit, LIMIT_SWAP,
	  "swap of the whole tree; 0: none at all" },
	{ "--cpus", 0, "N", GROUP_LIMITS, false, NULL, option_set_limit, LIMIT_CPUS,
	  "CPUs at once: 2, 0.5 or 250m" },
	{ "--cpu-time", 0, "DUR", GROUP_LIMITS, false, NULL, option_set_limit, LIMIT_CPU_TIME,
	  "CPU time of the whole tree" },
	{ "--pids", 0, "N", GROUP_LIMITS, false, NULL, option_set_limit, LIMIT_PIDS,
	  "processes and threads at once" },
	{ "--disk", 0, "SIZE", GROUP_LIMITS, false, NULL, option_set_limit, LIMIT_DISK,
	  "size of the working directory and the private /tmp" },
	{ "--max-file", 0, "SIZE", GROUP_LIMITS, false, NULL, option_set_limit, LIMIT_MAX_FILE,
	  "largest file a process may write" },
	{ "--nofile", 0, "N", GROUP_LIMITS, false, NULL, option_set_limit, LIMIT_NOFILE,
	  "open descriptors of each process" },
	{ "--max-execs", 0, "N", GROUP_LIMITS, false, NULL, option_set_limit, LIMIT_EXECS,
	  "programs started in all" },
	{ "--max-depth", 0, "N", GROUP_LIMITS, false, NULL, option_set_limit, LIMIT_DEPTH,
	  "generations of processes below the command" },
	{ "--limits", 0, "strict|default|relaxed|none", GROUP_LIMITS, false, NULL,
	  option_set_preset, 0, "a preset, for what is not said by itself" },

	{ "--ro", 0, "PATH", GROUP_FILES, true, NULL, option_set_file, FILE_RO,
	  "readable, not writable; -PATH: fine when absent" },
	{ "--rw", 0, "PATH", GROUP_FILES, true, NULL, option_set_file, FILE_RW,
	  "readable and writable; -PATH: fine when absent" },
	{ "--noexec", 0, "PATH", GROUP_FILES, true, NULL, option_set_file, FILE_NOEXEC,
	  "nothing below it may be executed; -PATH: fine when absent" },
	{ "--deny", 0, "PATH", GROUP_FILES, true, NULL, option_set_file, FILE_DENY,
	  "no access at all; -PATH: fine when absent; **/NAME: anywhere" },
	{ "--mount", 0, "SRC:DST[:ro]", GROUP_FILES, true, NULL, option_set_mount, 0,
	  "show SRC at DST" },
	{ "--workdir", 0, "DIR|new", GROUP_FILES, false, NULL, option_set_workdir, 0,
	  "working directory; new: a private one that is gone at the end" },
	{ "--chdir", 'C', "DIR", GROUP_FILES, false, NULL, option_set_text, OFFSET(chdir),
	  "start the command in DIR" },
	{ "--private-tmp", 0, NULL, GROUP_FILES, false, NULL, option_set_true, OFFSET(private_tmp),
	  "/tmp, /var/tmp and /dev/shm of its own" },
	{ "--cache", 0, "DIR", GROUP_FILES, false, NULL, option_set_cache, 0,
	  "keep tool caches in DIR" },

	{ "--net", 0, "none|allow|host", GROUP_NETWORK, false, NULL, option_set_net, 0,
	  "none of the network, what is allowed of it, or the host's" },
	{ "--allow-net", 0, "HOST|CIDR[:PORT[-PORT]][/udp]", GROUP_NETWORK, true, NULL,
	  option_set_allow_net, 0, "may connect there; implies --net allow" },
	{ "--allow-bind", 0, "PORT", GROUP_NETWORK, true, NULL, option_set_allow_bind, 0,
	  "may listen there for others than itself" },
	{ "--allow-unix", 0, "PATH|@NAME", GROUP_NETWORK, true, NULL, option_set_allow_unix, 0,
	  "may connect to that unix socket" },

	{ "--env", 'e', "NAME[=VALUE]", GROUP_ENVIRONMENT, true, NULL, option_set_env, 0,
	  "set a variable, or hand the caller's over" },
	{ "--pass-env", 0, "GLOB", GROUP_ENVIRONMENT, true, NULL, option_set_pass_env, 0,
	  "hand over what matches and does not look like a secret" },
	{ "--pass-path", 0, NULL, GROUP_ENVIRONMENT, false, NULL, option_set_true,
	  OFFSET(pass_path), "under sudo: the PATH of whoever called it" },

	{ "--user", 'u', "USER[:GROUP]", GROUP_IDENTITY, false, NULL, option_set_user, 0,
	  "run as (under sudo: who called it; else the caller)" },
	{ "--keep-groups", 0, NULL, GROUP_IDENTITY, false, NULL, option_set_true,
	  OFFSET(keep_groups), "keep the caller's supplementary groups" },
	{ "--allow-root-caps", 0, NULL, GROUP_IDENTITY, false, NO_CAPS, NULL, 0,
	  "a root command keeps its capabilities" },

	{ "--stdin", 'i', "[inherit|FILE]", GROUP_IO, false, NULL, option_set_stdin, 0,
	  "pass stdin on (it is /dev/null otherwise)" },
	{ "--pty", 0, NULL, GROUP_IO, false, NULL, option_set_pty, TRI_ON, "give it a terminal" },
	{ "--no-pty", 0, NULL, GROUP_IO, false, NULL, option_set_pty, TRI_OFF, "give it pipes" },
	{ "--max-output", 0, "SIZE", GROUP_IO, false, NULL, option_set_limit, LIMIT_OUTPUT,
	  "end the tree when stdout and stderr together exceed this" },
	{ "--spill-at", 0, "SIZE", GROUP_IO, false, NULL, option_set_spill_at, 0,
	  "output beyond this goes to a file (4M)" },
	{ "--preview", 0, "SIZE", GROUP_IO, false, NULL, option_set_preview, 0,
	  "head and tail of spilled output in the result (64K)" },
	{ "--no-keep-spill", 0, NULL, GROUP_IO, false, NULL, option_set_false, OFFSET(keep_spill),
	  "remove that file at the end" },
	{ "--quiet", 'q', NULL, GROUP_IO, false, NULL, option_set_true, OFFSET(quiet),
	  "no lines of our own on stderr" },
	{ "--verbose", 'v', NULL, GROUP_IO, false, NULL, option_set_true, OFFSET(verbose),
	  "say what is enforced and how it ended" },
	{ "--color", 0, "auto|always|never", GROUP_IO, false, NULL, option_set_color, 0,
	  "colour in our own lines (auto)" },
	{ "--tree", 0, NULL, GROUP_IO, false, NULL, option_set_true, OFFSET(tree),
	  "print the process tree with exit codes at the end" },

	{ "--result", 0, "FILE|fd:N", GROUP_RESULT, false, NULL, option_set_result, 0,
	  "write the result as JSON there, also when nothing ran" },
	{ "--json", 0, NULL, GROUP_RESULT, false, NULL, option_set_true, OFFSET(json),
	  "capture the output and print the result as JSON" },

	{ "--pid-ns", 0, "on|off", GROUP_LIFE, false, NULL, option_set_pid_ns, 0,
	  "a pid namespace of its own (off under -p none)" },
	{ "--owner", 0, "PID|none|fd:N", GROUP_LIFE, false, NULL, option_set_owner, 0,
	  "the tree ends with this process (our parent; none under -d)" },
	{ "--leftovers", 0, "kill|wait|keep", GROUP_LIFE, false, NULL, option_set_leftovers, 0,
	  "processes that outlive the command (kill)" },
	{ "--detach", 'd', NULL, GROUP_LIFE, false, NULL, option_set_true, OFFSET(detach),
	  "run in the background and print the ID" },
	{ "--name", 0, "NAME", GROUP_LIFE, false, NULL, option_set_name, 0,
	  "a name to use instead of the ID" },
	{ "--label", 0, "K=V", GROUP_LIFE, true, NULL, option_set_label, 0,
	  "recorded in the result" },
	{ "--cgroup-parent", 0, "PATH", GROUP_LIFE, false, NULL, option_set_cgroup_parent, 0,
	  "control group to run below (ours)" },

	{ "--profile", 'p', "NAME|FILE", GROUP_POLICY, false, NULL, option_set_profile, 0,
	  "policy; none: track, bound and kill, deny nothing" },
	{ "--allow-reduced", 0, "CAP,...", GROUP_POLICY, true, NULL, option_set_allow_reduced, 0,
	  "run even if this host cannot enforce these" },
	{ "--audit", 0, NULL, GROUP_POLICY, false, NULL, option_set_true, OFFSET(audit),
	  "log what would be denied, deny nothing" },
	{ NULL, 'c', "STRING", GROUP_POLICY, false, NULL, option_set_text, OFFSET(shell),
	  "run STRING with sh" },
};

#define OPTION_COUNT (sizeof(run_options) / sizeof(run_options[0]))
const size_t run_option_count = OPTION_COUNT;

static const char *const group_names[GROUP__COUNT] = {
	[GROUP_LIMITS] = "limits",     [GROUP_FILES] = "files",
	[GROUP_NETWORK] = "network",   [GROUP_ENVIRONMENT] = "environment",
	[GROUP_IDENTITY] = "identity", [GROUP_IO] = "input and output",
	[GROUP_RESULT] = "result",     [GROUP_LIFE] = "life",
	[GROUP_POLICY] = "policy",
};

const char *option_group_name(enum option_group group)
{
	return group_names[group];
}

const char *option_label(const struct option *option, char *buf)
{
	buf[0] = '-';
	buf[1] = option->letter;
	buf[2] = '\0';
	return option->name ? option->name : buf;
}

/* One pass over the arguments. */
struct parse {
	struct spec *spec;
	unsigned int groups;
	int argc;
	char *const *argv;
	int at; /* the argument that is looked at */
	bool seen[OPTION_COUNT];
	struct err *err;
};

static int refuse(struct parse *p, const char *label, const char *text)
{
	return err_say(p->err, ERR_VALIDATION, -EINVAL, "%s: %s", label, text);
}

static bool allowed(const struct parse *p, const struct option *option)
{
	return p->groups & 1U << option->group;
}

static int unknown(struct parse *p, const char *name)
{
	const char *names[OPTION_COUNT], *nearest;
	size_t count = 0;

	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (run_options[i].name && allowed(p, &run_options[i]))
			names[count++] = run_options[i].name;
	nearest = text_nearest(name, names, count);
	if (nearest)
		return err_say(p->err, ERR_VALIDATION, -EINVAL,
			       "%s: unknown option; did you mean %s?", name, nearest);
	return refuse(p, name, "unknown option");
}

static int apply(struct parse *p, const struct option *option, const char *label, const char *value)
{
	bool *seen = &p->seen[option - run_options];
	struct err why = { 0 };
	int r;

	if (option->refused)
		return err_say(p->err, ERR_UNSUPPORTED, -EINVAL, "%s: %s", label, option->refused);
	if (*seen && !option->repeat)
		return refuse(p, label, "given twice");
	if (value && !*value)
		return refuse(p, label, "its value is empty");
	*seen = true;

	r = option->set(p->spec, option, value, &why);
	if (r < 0)
		return err_say(p->err, why.category, r, "%s %s", label, why.text);
	return 0;
}

/* The next argument as the value of `option`, or an error that says what is missing. */
static int take_next(struct parse *p, const struct option *option, const char *label)
{
	if (p->at + 1 >= p->argc)
		return err_say(p->err, ERR_VALIDATION, -EINVAL, "%s: needs %s", label, option->arg);
	return apply(p, option, label, p->argv[++p->at]);
}

static int parse_long(struct parse *p, const char *arg)
{
	size_t len = strcspn(arg, "=");
	const char *value = arg[len] ? arg + len + 1 : NULL;
	const struct option *option = NULL;
	char name[64];

	memcpy(name, arg, len < sizeof(name) ? len : sizeof(name) - 1);
	name[len < sizeof(name) ? len : sizeof(name) - 1] = '\0';
	for (size_t i = 0; i < OPTION_COUNT && !option; i++)
		if (run_options[i].name && !strcmp(run_options[i].name, name))
			option = &run_options[i];

	if (!option)
		return unknown(p, name);
	if (!allowed(p, option))
		return refuse(p, name, "not an option of this command");
	if (!option->arg && value)
		return refuse(p, name, "takes no value");
	if (!option->arg || value || option->arg[0] == '[')
		return apply(p, option, name, value);
	return take_next(p, option, name);
}

static const struct option *find_letter(const struct parse *p, char letter)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (run_options[i].letter == letter && allowed(p, &run_options[i]))
			return &run_options[i];
	return NULL;
}

/* "-qi", "-t5", "-qt 5". */
static int parse_letters(struct parse *p, const char *arg)
{
	for (const char *letter = arg + 1; *letter; letter++) {
		const char label[] = { '-', *letter, '\0' };
		const struct option *option = find_letter(p, *letter);
		int r;

		if (!option)
			return refuse(p, label, "unknown option");
		if (option->arg && option->arg[0] != '[')
			return letter[1] ? apply(p, option, label, letter + 1)
					 : take_next(p, option, label);
		r = apply(p, option, label, NULL);
		if (r < 0)
			return r;
	}
	return 0;
}

int option_parse(struct spec *spec, unsigned int groups, int argc, char *const *argv, int *used,
		 struct err *err)
{
	struct parse p = { .spec = spec, .groups = groups, .argc = argc, .argv = argv, .err = err };
	int r;

	for (; p.at < argc; p.at++) {
		const char *arg = argv[p.at];

		if (arg[0] != '-' || !arg[1])
			break;
		if (!strcmp(arg, "--")) {
			p.at++;
			break;
		}
		r = arg[1] == '-' ? parse_long(&p, arg) : parse_letters(&p, arg);
		if (r < 0)
			return r;
	}
	*used = p.at;
	return 0;
}
