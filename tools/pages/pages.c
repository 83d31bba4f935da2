/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf pages: on which nodes the memory of a process is. */
#include "pages/pages.h"

#include "cli/cli.h"
#include "cli/verbs.h"
#include "pages/move.h"
#include "stat/target.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_RANGES 64

struct pages_opts {
	struct cli_common common;
	const char *process, *separator;
	const char *node, *label; /* of --move */
	long top;
	bool is_best_effort, is_dry;
};

static const struct cli_row rows[] = {
	{ "pid", 'p', CLI_TEXT, offsetof(struct pages_opts, process),
	  "PID|NAME", "the process, by number or by the name of its command" },
	{ "top", 't', CLI_INT, offsetof(struct pages_opts, top), "N",
	  "so many of the largest ranges (5)" },
	{ "csv", 'x', CLI_TEXT, offsetof(struct pages_opts, separator), "SEP",
	  "bytes, with SEP between them: -x," },
	{ "best-effort", 0, CLI_FLAG,
	  offsetof(struct pages_opts, is_best_effort), NULL,
	  "sums without nodes where nodes are refused" },
	{ "move", 'm', CLI_TEXT, offsetof(struct pages_opts, node), "NODE",
	  "moves the pages to that node, and tells which did not go and why" },
	{ "label", 'l', CLI_TEXT, offsetof(struct pages_opts, label), "NAME",
	  "those of the blocks of lkdf_alloc() and data of that name" },
	{ "dry-run", 'n', CLI_FLAG, offsetof(struct pages_opts, is_dry), NULL,
	  "with --move: only tells what would be moved" },
};

const struct cli_spec pages_spec = {
	.verb = "pages",
	.usage = "-p PID|NAME [--top N] [--json] [-x,] [ADDR+SIZE ...]\n"
		 "-p PID|NAME --move NODE [--dry-run] [--label NAME] "
		 "[ADDR+SIZE ...]",
	.help = "Shows on which nodes the memory of a process is, by class\n"
		"and for its largest ranges; with ADDR+SIZE (7f2c00000000+64G)\n"
		"only that part of it. Nothing is brought in. With --move its\n"
		"pages, those of the ranges, or of blocks with a label, go to a\n"
		"node once: they may go back where the kernel balances, and\n"
		"what is touched later is placed as before. Exit 1: some of\n"
		"them were refused.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.max_words = MAX_RANGES,
	.without = CLI_NO_VERBOSE,
};

struct request {
	const struct pages_opts *o;
	struct {
		uint64_t addr, bytes;
	} range[MAX_RANGES];
	int nr_ranges;
	int pid;
};

static int usage(const char *what, const char *word)
{
	struct cli_error e = { "pages", CLI_USAGE, NULL, "lkdf pages --help" };

	return cli_fail(&e, "%s%s%s%s", what, word ? " \"" : "",
			word ? word : "", word ? "\"" : "");
}

/* "7f2c00000000+64G". */
static bool read_range(const char *word, uint64_t *addr, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	unsigned shift = 0;
	char *end;

	if (!isxdigit((unsigned char)word[0]))
		return false;
	errno = 0;
	*addr = strtoull(word, &end, 16);
	if (errno || *end != '+' || !isdigit((unsigned char)end[1]))
		return false;
	*bytes = strtoull(end + 1, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (errno || *end || !*bytes || *bytes > UINT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return *bytes <= UINT64_MAX - *addr;
}

static int read_ranges(struct request *q, int argc, char **argv)
{
	int i, nr = cli_nr_words(argc, argv);

	for (i = 0; i < nr; i++) {
		if (!read_range(argv[1 + i], &q->range[i].addr,
				&q->range[i].bytes))
			return usage("not ADDR+SIZE:", argv[1 + i]);
	}
	q->nr_ranges = nr;
	if (!nr) {
		q->range[0].addr = 0;
		q->range[0].bytes = UINT64_MAX;
		q->nr_ranges = 1;
	}
	return 0;
}

static int walk(struct lkdf *rt, const struct request *q,
		struct pages_report *r)
{
	int i, rc = 0;

	for (i = 0; !rc && i < q->nr_ranges; i++)
		rc = lkdf_pages_walk(rt, q->pid,
				     (const void *)(uintptr_t)q->range[i].addr,
				     q->range[i].bytes, pages_report_add, r);
	return rc;
}

static int fail(const struct request *q, int rc)
{
	struct cli_error e = { .verb = "pages", .code = cli_code_of(rc) };
	char try[128];

	if (rc == -EFAULT)
		e.code = CLI_GONE;
	if (e.code == CLI_DENIED) {
		e.needs = "the same user, or CAP_SYS_PTRACE; a container may "
			  "also forbid the calls";
		snprintf(try, sizeof(try),
			 "sudo lkdf pages -p %d     or:  lkdf pages -p %d "
			 "--best-effort (sums without nodes)",
			 q->pid, q->pid);
		e.try = try;
	}
	return cli_fail(&e, "cannot count pages of %d: %s", q->pid,
			rc == -ENOMEM ? "no memory" : lkdf_errmsg());
}

static void print(const struct request *q, struct pages_report *r)
{
	size_t top = (size_t)q->o->top;

	pages_report_sort(r);
	if (q->o->common.is_json)
		pages_print_json(r, top);
	else if (q->o->separator)
		pages_print_csv(r, top, q->o->separator);
	else
		pages_print_text(r, top);
}

static int report(struct lkdf *rt, const struct request *q)
{
	struct pages_report *r = malloc(sizeof(*r));
	int rc;

	if (!r)
		return fail(q, -ENOMEM);
	pages_report_init(r, q->pid);
	rc = walk(rt, q, r);
	if (rc == -EPERM && q->o->is_best_effort) {
		if (!q->o->common.is_quiet)
			fprintf(stderr, "lkdf pages: sums only: %s\n",
				lkdf_errmsg());
		rc = pages_report_status(r);
	}
	if (!rc)
		print(q, r);
	pages_report_fini(r);
	free(r);
	return rc ? fail(q, rc) : CLI_OK;
}

/* ---- --move -------------------------------------------------------------- */

/* Whose process it is: it is refused by that name. */
static void name_owner(int pid, char *to, size_t size)
{
	char path[32], command[64];
	struct passwd *who;
	struct stat st;

	target_name(pid, command, sizeof(command));
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &st)) {
		snprintf(to, size, "%d", pid);
		return;
	}
	who = getpwuid(st.st_uid);
	if (who)
		snprintf(to, size, "%d (%s), of user %s", pid, command,
			 who->pw_name);
	else
		snprintf(to, size, "%d (%s), of user %u", pid, command,
			 (unsigned)st.st_uid);
}

static int fail_move(const struct request *q, const struct pages_move *m,
		     int rc)
{
	struct cli_error e = { .verb = "pages", .code = cli_code_of(rc) };
	char owner[160], why[160];

	name_owner(q->pid, owner, sizeof(owner));
	snprintf(why, sizeof(why), "%s", strerror(-rc));
	if (rc == -EPERM) {
		e.needs = "the same user, or CAP_SYS_NICE and CAP_SYS_PTRACE";
		e.try = "sudo lkdf pages --move, with the same words";
	} else if (rc == -ENODEV || rc == -EACCES) {
		e.code = CLI_USAGE;
		snprintf(why, sizeof(why),
			 rc == -ENODEV ? "there is no node %d with memory"
				       : "its cpuset has no node %d",
			 m->node);
		e.try = "lkdf topo";
	} else if (rc == -ENOENT) {
		e.code = CLI_GONE;
		snprintf(why, sizeof(why), "no block with the label \"%.60s\"",
			 q->o->label);
	} else if (rc == -EFAULT) {
		e.code = CLI_GONE;
		snprintf(why, sizeof(why), "nothing is mapped there");
	}
	return cli_fail(&e, "cannot move pages of %s: %s", owner, why);
}

static int move_all(struct lkdf *rt, const struct request *q,
		    struct pages_move *m)
{
	int i, rc = 0;

	if (q->o->label)
		return pages_move_label(m, rt, q->o->label);
	for (i = 0; !rc && i < q->nr_ranges; i++)
		rc = pages_move_range(m, rt, q->range[i].addr,
				      q->range[i].addr + q->range[i].bytes);
	return rc;
}

static bool is_node(int node)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", node);
	return !access(path, F_OK);
}

static int move(struct lkdf *rt, const struct request *q)
{
	struct pages_move m = { .pid = q->pid, .is_dry = q->o->is_dry };
	char *end;
	long node = strtol(q->o->node, &end, 10);
	int rc;

	if (!isdigit((unsigned char)q->o->node[0]) || *end ||
	    node >= MOVE_NODES)
		return usage("--move: the number of a node, not", q->o->node);
	m.node = (int)node;
	rc = is_node(m.node) ? move_all(rt, q, &m) : -ENODEV;
	if (rc)
		return fail_move(q, &m, rc);
	if (q->o->common.is_json)
		pages_move_json(&m);
	else
		pages_move_text(&m);
	return m.refused ? CLI_FINDINGS : CLI_OK;
}

static int check_words(const struct pages_opts *o, int nr_words)
{
	if (!o->node && (o->is_dry || o->label))
		return usage("--dry-run and --label go with --move", NULL);
	if (o->label && nr_words)
		return usage("--label, or ranges", NULL);
	return 0;
}

int verb_pages(int argc, char **argv)
{
	struct cli_error e = { "pages", CLI_ABSENT, NULL, "lkdf doctor" };
	struct pages_opts o = { .top = 5 };
	struct request q = { .o = &o };
	struct lkdf *rt;
	int code, rc;

	if (!cli_parse(&pages_spec, argc, argv, &o, &code))
		return code;
	if (o.top < 0) {
		e.code = CLI_USAGE;
		e.try = "lkdf pages --help";
		return cli_fail(&e, "--top %ld: 0 or more ranges", o.top);
	}
	code = target_find("pages", o.process, &q.pid);
	if (!code)
		code = read_ranges(&q, argc, argv);
	if (!code)
		code = check_words(&o, cli_nr_words(argc, argv));
	if (code)
		return code;
	rc = lkdf_open("workers=1,pin=no", &rt);
	if (rc) {
		e.code = cli_code_of(rc);
		return cli_fail(&e, "cannot open a runtime: %s", lkdf_errmsg());
	}
	code = o.node ? move(rt, &q) : report(rt, &q);
	lkdf_close(rt);
	return code;
}
