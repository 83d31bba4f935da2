/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf probe: the BPF programs that tell what the kernel knows of workers. */
#include "probe/probe.h"

#include "cli/cli.h"
#include "cli/verbs.h"
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HZ 250
#define NR_SLOTS 1024
#define COST_MS 1000
#define MAX_COSTS 8

struct probe_opts {
	struct cli_common common;
	const char *dir, *group;
	long hz, nr_slots;
	bool is_cost;
};

static const char *word_name(const void *u, unsigned i);

static const struct cli_row rows[] = {
	{ "dir", 0, CLI_TEXT, offsetof(struct probe_opts, dir), "DIR",
	  "where to pin, and to mount a bpffs (LKDF_PROBE, else " LKDF_PROBE_DIR
	  ")" },
	{ "group", 0, CLI_TEXT, offsetof(struct probe_opts, group), "NAME",
	  "who may be seen and look, besides root, by name or number (lkdf, "
	  "if there is one)" },
	{ "hz", 0, CLI_INT, offsetof(struct probe_opts, hz), "N",
	  "looks a second at each CPU, 10 .. 1000 (250)" },
	{ "slots", 0, CLI_INT, offsetof(struct probe_opts, nr_slots), "N",
	  "threads that can be seen at a time, 4 .. 65536 (1024)" },
	{ "cost", 0, CLI_FLAG, offsetof(struct probe_opts, is_cost), NULL,
	  "status: measures for a second what the programs cost" },
};

const struct cli_spec probe_spec = {
	.verb = "probe",
	.usage = "start|stop|status [--hz N] [--group NAME] [--slots N]",
	.help = "Loads the BPF programs that see the workers of lkdf programs\n"
		"which start from then on: preempted, blocked, in which futex\n"
		"word. Needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN;\n"
		"the programs that are seen need the group only. They stay\n"
		"until lkdf probe stop.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.max_words = 1,
	.choice = word_name,
};

static int usage(const char *what)
{
	struct cli_error e = { "probe", CLI_USAGE, NULL, "lkdf probe --help" };

	return cli_fail(&e, "%s", what);
}

static const char *dir_of(const struct probe_opts *o)
{
	return pins_dir(o->dir);
}

static uint32_t count_used(const struct pins *p)
{
	uint32_t i, nr = 0;

	for (i = 0; i < p->nr_slots; i++)
		nr += p->slot[i].tgid != 0;
	return nr;
}

static uint32_t count_words(const struct pins *p)
{
	uint32_t i, nr = 0;

	for (i = 0; i < p->nr_words; i++)
		nr += p->word[i].tag != 0;
	return nr;
}

/* ---- start and stop ------------------------------------------------------ */

#ifdef LKDF_HAVE_BPF
/* "integrity" or "confidentiality"; NULL: the kernel is not locked down. */
static const char *read_lockdown(char *to, size_t size)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char text[80] = "", *from = NULL, *end = NULL;

	if (f && fgets(text, sizeof(text), f))
		from = strchr(text, '[');
	if (f)
		fclose(f);
	if (from)
		end = strchr(from, ']');
	if (!end || !strncmp(from, "[none]", 6))
		return NULL;
	snprintf(to, size, "%.*s", (int)(end - from) - 1, from + 1);
	return to;
}

/* CAP_BPF and CAP_PERFMON, without which programs are refused in many ways, and
 * what mount(2) needs. */
static bool has_capabilities(void)
{
	const uint64_t all = 1ull << 39 | 1ull << 38 | 1ull << 21;
	FILE *f = fopen("/proc/self/status", "re");
	uint64_t has = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %" SCNx64, &has) == 1)
			break;
	if (f)
		fclose(f);
	return (has & all) == all;
}

static void say_needs(int rc, struct cli_error *e)
{
	if (rc != -ENOSYS && !has_capabilities()) {
		e->code = CLI_DENIED;
		e->needs = "root, or CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN";
		e->try = "sudo lkdf probe start";
	} else if (rc != -EOPNOTSUPP) {
		e->needs = "bpf(2), perf_event_open(2) and mount(2), which the "
			   "seccomp profile of a container may forbid";
		e->try = "lkdf probe start outside of it";
	}
}

static int refuse(int rc, const char *why)
{
	struct cli_error e = { "probe", cli_code_of(rc), NULL, NULL };
	char mode[32], needs[128];

	/* Which helpers a program may call goes by it, too. */
	if ((rc == -EPERM || rc == -EOPNOTSUPP) &&
	    read_lockdown(mode, sizeof(mode))) {
		snprintf(needs, sizeof(needs),
			 "a kernel that is not locked down: lockdown is \"%s\"",
			 mode);
		e.needs = needs;
		e.try = "a boot without lockdown=, or without Secure Boot";
	} else if (rc == -EPERM || rc == -EACCES || rc == -ENOSYS ||
		   rc == -EOPNOTSUPP) {
		say_needs(rc, &e);
	} else if (rc == -EPROTO) {
		e.try = "lkdf probe stop, which takes them away, then start";
	} else if (rc == -EBUSY) {
		e.try = "the same once more";
	} else if (rc == -ENOTDIR) {
		e.try = "lkdf probe start --dir DIR, where a directory can be";
	} else if (rc == -EINVAL) {
		e.code = CLI_USAGE;
		e.try = "groupadd -r lkdf";
	} else if (rc == -ENOENT) {
		e.code = CLI_ABSENT;
		e.needs = "a kernel from 6.1 on with BTF "
			  "(/sys/kernel/btf/vmlinux)";
	}
	return cli_fail(&e, "%s", why);
}

static int check_numbers(const struct probe_opts *o)
{
	if (o->hz && (o->hz < 10 || o->hz > 1000))
		return usage("--hz: 10 .. 1000");
	if (o->nr_slots && (o->nr_slots < 4 || o->nr_slots > 65536))
		return usage("--slots: 4 .. 65536");
	return 0;
}

/* A number that was asked for and is another one where it runs. */
static int refuse_other(const char *option, long want, long has)
{
	struct cli_error e = { "probe", CLI_USAGE, NULL,
			       "lkdf probe stop, then start" };

	return cli_fail(&e, "--%s %ld: it runs already, with %ld", option, want,
			has);
}

/* It runs: with what is asked for? */
static int keep(const struct probe_opts *o)
{
	char why[256];
	struct pins p;
	int rc = pins_open(dir_of(o), &p, why, sizeof(why)), code = CLI_OK;

	if (rc)
		return refuse(rc, why);
	if (o->hz && (uint32_t)o->hz != p.head->sample_hz)
		code = refuse_other("hz", o->hz, p.head->sample_hz);
	else if (o->nr_slots && (uint32_t)o->nr_slots != p.nr_slots)
		code = refuse_other("slots", o->nr_slots, p.nr_slots);
	else if (!o->common.is_quiet)
		printf("runs already in %s\n", dir_of(o));
	pins_close(&p);
	return code;
}

static int start(const struct probe_opts *o)
{
	struct probe_want w = { dir_of(o), o->group,
				o->hz ? (uint32_t)o->hz : HZ,
				o->nr_slots ? (uint32_t)o->nr_slots : NR_SLOTS,
				o->common.is_verbose };
	struct probe_got got;
	char why[256];
	struct pins p;
	int rc = check_numbers(o);

	if (rc)
		return rc;
	rc = pins_open(w.dir, &p, why, sizeof(why));
	if (!rc)
		pins_close(&p);
	else if (rc != -ENOENT && rc != -EACCES)
		return refuse(rc, why);
	rc = rc ? probe_load(&w, &got) : -EEXIST;
	if (rc == -EEXIST)
		return keep(o);
	if (rc)
		return refuse(rc, got.why);
	if (!o->common.is_quiet)
		printf("runs in %s: %u CPUs %u times a second, %u slots\n",
		       w.dir, got.nr_cpus, w.hz, w.nr_slots);
	if (got.missing[0])
		printf("without %s\n", got.missing);
	return CLI_OK;
}

static int stop(const struct probe_opts *o)
{
	char why[256];
	int rc = probe_unload(dir_of(o), why, sizeof(why));

	if (rc && rc != -ENOENT)
		return refuse(rc, why);
	if (!o->common.is_quiet)
		printf("%s\n", rc ? why : "stopped");
	return CLI_OK;
}

static int costs(const struct probe_opts *o, struct probe_cost *c)
{
	return probe_costs(dir_of(o), COST_MS, c, MAX_COSTS);
}
#else
static int absent(void)
{
	struct cli_error e = { "probe", CLI_ABSENT,
			       "clang, bpftool and libbpf-dev when it is built",
			       "make clean all" };

	return cli_fail(&e, "this lkdf was built without BPF programs");
}

static int start(const struct probe_opts *o)
{
	(void)o;
	return absent();
}

static int stop(const struct probe_opts *o)
{
	(void)o;
	return absent();
}

static int costs(const struct probe_opts *o, struct probe_cost *c)
{
	(void)o;
	(void)c;
	return -EOPNOTSUPP;
}
#endif

/* ---- status -------------------------------------------------------------- */

static void print_status(const struct pins *p, const char *dir)
{
	const struct lkdf_probe_head *h = p->head;
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	printf("%s in %s\n", pins_are_live(p) ? "runs" : "does not beat", dir);
	printf("hooks    %s%s%s%s%s\n",
	       h->hooks & LKDF_PROBE_SWITCH ? "switch " : "",
	       h->hooks & LKDF_PROBE_SAMPLE ? "sample " : "",
	       h->hooks & LKDF_PROBE_PLACE ? "place " : "",
	       h->hooks & LKDF_PROBE_WAKE ? "wake " : "",
	       h->hooks & LKDF_PROBE_STACK ? "stack" : "");
	printf("samples  %u CPUs, %u times a second, %" PRIu64 " missed\n",
	       h->nr_cpus, h->sample_hz, (uint64_t)h->missed);
	printf("threads  %u of %u slots, %" PRIu64 " refused\n", count_used(p),
	       p->nr_slots, (uint64_t)h->refused);
	printf("words    %u of %u, %" PRIu64 " lost\n", count_words(p),
	       p->nr_words, (uint64_t)h->lost);
	if (nr_cpus > (long)h->nr_cpus && h->hooks & LKDF_PROBE_SAMPLE)
		printf("%ld CPUs came later and are not sampled: "
		       "lkdf probe stop, then start\n",
		       nr_cpus - (long)h->nr_cpus);
	else if (h->cpus_ns && h->hooks & LKDF_PROBE_SAMPLE)
		printf("CPUs that were offline are not sampled: "
		       "lkdf probe stop, then start\n");
}

static void print_costs(const struct probe_cost *c, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		printf("cost     %-14s %" PRIu64 " runs a second, %" PRIu64
		       " ns each\n",
		       c[i].name, c[i].nr_runs,
		       c[i].nr_runs ? c[i].ns / c[i].nr_runs : 0);
}

static void write_status(const struct pins *p, const char *dir,
			 const struct probe_cost *c, int nr)
{
	const struct lkdf_probe_head *h = p->head;
	struct json j;
	int i;

	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/probe/1");
	json_text(&j, "dir", dir);
	json_bool(&j, "live", pins_are_live(p));
	json_bool(&j, "switch", h->hooks & LKDF_PROBE_SWITCH);
	json_bool(&j, "sample", h->hooks & LKDF_PROBE_SAMPLE);
	json_bool(&j, "place", h->hooks & LKDF_PROBE_PLACE);
	json_bool(&j, "wake", h->hooks & LKDF_PROBE_WAKE);
	json_bool(&j, "stack", h->hooks & LKDF_PROBE_STACK);
	json_int(&j, "sample_hz", h->sample_hz);
	json_int(&j, "sampled_cpus", h->nr_cpus);
	json_int(&j, "missed", (int64_t)h->missed);
	json_bool(&j, "cpus_changed", h->cpus_ns != 0);
	json_int(&j, "slots", p->nr_slots);
	json_int(&j, "slots_used", count_used(p));
	json_int(&j, "refused", (int64_t)h->refused);
	json_int(&j, "words", p->nr_words);
	json_int(&j, "words_used", count_words(p));
	json_int(&j, "lost", (int64_t)h->lost);
	json_open(&j, "cost", '[');
	for (i = 0; i < nr; i++) {
		json_open_flat(&j, NULL, '{');
		json_text(&j, "program", c[i].name);
		json_int(&j, "runs", (int64_t)c[i].nr_runs);
		json_int(&j, "ns", (int64_t)c[i].ns);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	printf("\n");
}

static int status(const struct probe_opts *o)
{
	struct cli_error e = { "probe", CLI_ABSENT, NULL, "lkdf probe start" };
	struct probe_cost cost[MAX_COSTS];
	char why[256], group[64], needs[128] = "root";
	struct pins p;
	int rc = pins_open(dir_of(o), &p, why, sizeof(why)), nr = 0;

	if (rc == -EACCES || rc == -EPERM) {
		if (pins_group(dir_of(o), group, sizeof(group)))
			snprintf(needs, sizeof(needs),
				 "root, or a member of the group %s", group);
		e.code = CLI_DENIED;
		e.needs = needs;
		e.try = NULL;
	} else if (rc == -EPROTO) {
		e.try = "lkdf probe stop, which takes them away, then start";
	}
	if (rc)
		return cli_fail(&e, "%s", why);
	if (o->is_cost)
		nr = costs(o, cost);
	if (nr < 0) {
		e.code = cli_code_of(nr);
		e.needs = "root, or CAP_SYS_ADMIN";
		e.try = NULL;
		pins_close(&p);
		return cli_fail(&e, "--cost: %s", strerror(-nr));
	}
	if (o->common.is_json) {
		write_status(&p, dir_of(o), cost, nr);
	} else {
		print_status(&p, dir_of(o));
		print_costs(cost, nr);
	}
	pins_close(&p);
	return CLI_OK;
}

static const struct {
	const char *name;
	int (*fn)(const struct probe_opts *o);
} words[] = {
	{ "start", start },
	{ "stop", stop },
	{ "status", status },
};
#define NR_WORDS (sizeof(words) / sizeof(words[0]))

static const char *word_name(const void *u, unsigned i)
{
	(void)u;
	return i < NR_WORDS ? words[i].name : NULL;
}

int verb_probe(int argc, char **argv)
{
	struct probe_opts o = { .hz = 0 };
	unsigned i;
	int code;

	if (!cli_parse(&probe_spec, argc, argv, &o, &code))
		return code;
	for (i = 0; i < NR_WORDS && cli_nr_words(argc, argv) == 1; i++)
		if (!strcmp(argv[1], words[i].name))
			return words[i].fn(&o);
	return usage("start, stop or status?");
}
