/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf trace check: is a file whole, and what is in it. */
#include "json.h"
#include "trace/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char verb[] = "trace check";

const struct cli_spec trace_check_spec = {
	.verb = verb,
	.usage = "FILE [--json] [-q|-v]",
	.help = "Reads a recording from end to end: checksums, numbers, order.\n"
		"-v and --json also tell how many records of each sort it\n"
		"holds, and its facts. Exit status 6: it is damaged or was cut, and where.",
	.max_words = 1,
	.has_files = true,
};

enum count {
	SLICES,
	EVENTS,
	SPANS,
	SAMPLES,
	EXECUTORS,
	KINDS,
	GRAPHS,
	TASKS,
	THREADS,
	LANES,
	LINKED,
	PROBED,
	WORDS,
	NR_COUNTS,
};

static const char *const count_names[] = {
	"slices", "events",  "spans", "samples", "executors", "kinds", "graphs",
	"tasks",  "threads", "lanes", "linked",	 "probed",    "words",
};

struct check {
	uint64_t nr[NR_COUNTS];
	bool says_facts; /* on standard output */
	FILE *keep; /* for JSON: keys and values, each with its NUL */
	char *facts;
	size_t facts_size;
	struct trace_info info;
	struct trace_fault fault;
};

static void on_slice(void *u, const struct trace_slice *s)
{
	struct check *c = u;

	c->nr[SLICES]++;
	c->nr[LINKED] += s->links.is_known;
}

static void on_event(void *u, const struct trace_event *e)
{
	(void)e;
	((struct check *)u)->nr[EVENTS]++;
}

static void on_span(void *u, const struct trace_span *s)
{
	(void)s;
	((struct check *)u)->nr[SPANS]++;
}

static void on_sample(void *u, uint32_t executor, uint64_t ticks)
{
	(void)executor;
	(void)ticks;
	((struct check *)u)->nr[SAMPLES]++;
}

static void on_executor(void *u, const struct trace_executor *x)
{
	(void)x;
	((struct check *)u)->nr[EXECUTORS]++;
}

static void on_kind(void *u, const struct trace_kind *k)
{
	(void)k;
	((struct check *)u)->nr[KINDS]++;
}

static void on_graph(void *u, const struct trace_graph *g)
{
	(void)g;
	((struct check *)u)->nr[GRAPHS]++;
}

static void on_task(void *u, const struct trace_task *t)
{
	(void)t;
	((struct check *)u)->nr[TASKS]++;
}

static void on_thread(void *u, const struct trace_thread *t)
{
	(void)t;
	((struct check *)u)->nr[THREADS]++;
}

static void on_lane(void *u, const struct trace_lane *l)
{
	(void)l;
	((struct check *)u)->nr[LANES]++;
}

static void on_probed_thread(void *u, const struct trace_probed_thread *t)
{
	(void)t;
	((struct check *)u)->nr[PROBED]++;
}

static void on_probed_word(void *u, const struct trace_probed_word *w)
{
	(void)w;
	((struct check *)u)->nr[WORDS]++;
}

static void on_fact(void *u, const char *key, const char *value)
{
	struct check *c = u;

	if (c->says_facts)
		printf("  %s = %s\n", key, value);
	if (c->keep)
		fprintf(c->keep, "%s%c%s%c", key, 0, value, 0);
}

static int read_all(FILE *in, struct check *c)
{
	const struct trace_sink sink = {
		.slice = on_slice,
		.event = on_event,
		.executor = on_executor,
		.sample = on_sample,
		.span = on_span,
		.kind = on_kind,
		.graph = on_graph,
		.task = on_task,
		.thread = on_thread,
		.fact = on_fact,
		.lane = on_lane,
		.probed_thread = on_probed_thread,
		.probed_word = on_probed_word,
		.u = c,
	};

	return trace_read(in, &sink, &c->info, &c->fault);
}

static void print_facts(struct json *j, const struct check *c)
{
	const char *key = c->facts, *end = key + c->facts_size, *value;

	json_open(j, "facts", '{');
	for (; key < end; key = value + strlen(value) + 1) {
		value = key + strlen(key) + 1;
		json_text(j, key, value);
	}
	json_close(j, '}');
}

static void print_json(const char *path, const struct check *c, int rc)
{
	struct json j;
	int i;

	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/trace_check/1");
	json_text(&j, "file", path);
	json_bool(&j, "whole", !rc);
	json_text(&j, "runtime", c->info.runtime);
	json_int(&j, "pid", c->info.header.pid);
	json_int(&j, "slices_lost", (int64_t)c->info.slices_lost);
	json_int(&j, "events_lost", (int64_t)c->info.events_lost);
	for (i = 0; i < NR_COUNTS; i++)
		json_int(&j, count_names[i], (int64_t)c->nr[i]);
	print_facts(&j, c);
	if (rc) {
		json_int(&j, "offset", (int64_t)c->fault.offset);
		json_text(&j, "why", c->fault.why);
	}
	json_close(&j, '}');
	putchar('\n');
}

static void print_text(const char *path, const struct check *c)
{
	printf("%s: whole, %llu slices (%llu lost), %llu events "
	       "(%llu lost)\n",
	       path, (unsigned long long)c->info.slices,
	       (unsigned long long)c->info.slices_lost,
	       (unsigned long long)c->info.events,
	       (unsigned long long)c->info.events_lost);
}

static void print_counts(const struct check *c)
{
	int i;

	for (i = 0; i < NR_COUNTS; i++)
		printf("  %-10s %llu\n", count_names[i],
		       (unsigned long long)c->nr[i]);
}

/* The sums at the end have to be those of the file. */
static int compare_end(struct check *c)
{
	const struct trace_info *t = &c->info;

	if (t->slices == c->nr[SLICES] && t->events == c->nr[EVENTS])
		return 0;
	c->fault.offset = 0;
	snprintf(c->fault.why, sizeof(c->fault.why),
		 "%llu slices and %llu events, the end says %llu and %llu",
		 (unsigned long long)c->nr[SLICES],
		 (unsigned long long)c->nr[EVENTS],
		 (unsigned long long)t->slices, (unsigned long long)t->events);
	return -EBADMSG;
}

static int check(const char *path, FILE *in, const struct cli_common *o)
{
	struct check c = { .says_facts = o->is_verbose && !o->is_json };
	int rc = 0;

	if (o->is_json) {
		c.keep = open_memstream(&c.facts, &c.facts_size);
		rc = c.keep ? 0 : -ENOMEM;
	}
	if (!rc)
		rc = read_all(in, &c);
	if (!rc)
		rc = compare_end(&c);
	if (c.keep && fclose(c.keep))
		rc = -ENOMEM;
	if (o->is_json && (!rc || rc == -EBADMSG))
		print_json(path, &c, rc);
	else if (!rc && !o->is_quiet)
		print_text(path, &c);
	if (!rc && o->is_verbose && !o->is_json)
		print_counts(&c);
	trace_info_fini(&c.info);
	free(c.facts);
	return rc ? trace_refuse(verb, path, rc, &c.fault) : CLI_OK;
}

int trace_check(int argc, char **argv)
{
	struct cli_error e = { verb, CLI_USAGE, NULL,
			       "lkdf trace check --help" };
	struct cli_common o = { .is_json = false };
	FILE *in;
	int code;

	if (!cli_parse(&trace_check_spec, argc, argv, &o, &code))
		return code;
	if (!cli_nr_words(argc, argv))
		return cli_fail(&e, "which file?");
	in = trace_input(verb, argv[1], &code);
	if (!in)
		return code;
	code = check(argv[1], in, &o);
	fclose(in);
	return code;
}
