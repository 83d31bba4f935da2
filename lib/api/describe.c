/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The runtime's description of itself. Names of counters come from the table in
 * trace/counters.h, options from the one in config.c.
 */
#include <lkdf/runtime.h>

#include "api/border.h"
#include "api/config.h"
#include "api/kindstat.h"
#include "api/memstat.h"
#include "base/quote.h"
#include "base/text.h"
#include "data/facts.h"
#include "data/place.h"
#include "io/io_ring.h"
#include "rt/topo_tell.h"
#include "rt/why.h"
#include "sched/bind.h"
#include "task/give_way.h"
#include "trace/counters.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNTER_ROW(name, text, unit, help) { text, unit, help },
static const struct counter_row {
	const char *name, *unit, *help;
} counter_rows[] = { COUNTER_TABLE(COUNTER_ROW) };

static const struct cap_row {
	uint64_t cap;
	const char *name, *help;
} cap_rows[] = {
	{ LKDF_CAP_PINNED, "pinned", "workers are bound to one CPU each" },
	{ LKDF_CAP_NODES, "nodes", "more than one NUMA node is in use" },
	{ LKDF_CAP_TRACE, "trace", "counters and events are in a memfd" },
	{ LKDF_CAP_BIND, "bind", "memory of a node is bound to it" },
	{ LKDF_CAP_URING, "uring", "operations go through io_uring" },
	{ LKDF_CAP_PAGES, "pages", "placement sees where pages are" },
	{ LKDF_CAP_KMOD, "kmod", "the kernel module tells when they move" },
	{ LKDF_CAP_PROBE, "probe", "futex words and preemption are seen" },
};

static uint64_t read_counter(const struct lkdf *rt, int executor, size_t i)
{
	return a_load(&rt->trace.rings[executor].counters->v[i], relaxed);
}

/* The outside counts too. */
static uint64_t sum_counter(const struct lkdf *rt, size_t i)
{
	uint64_t sum = 0;
	int executor;

	for (executor = 0; executor <= rt->nr_executors; executor++)
		sum += read_counter(rt, executor, i);
	return sum;
}

static int find_counter(const char *name, size_t *out)
{
	size_t i;

	for (i = 0; i < NR_COUNTERS; i++) {
		if (!strcmp(name, counter_rows[i].name)) {
			*out = i;
			return 0;
		}
	}
	return -ENOENT;
}

/* -1: a thread of the pool, or not bound to one. */
static int cpu_of(const struct lkdf *rt, long executor)
{
	const struct worker *w = &rt->sched.workers[executor];

	return executor < rt->nr_workers &&
			       a_load(&w->bind, relaxed) == BIND_CPU
		       ? w->cpu
		       : -1;
}

/* name is "3.tasks". */
static int executor_stat(const struct lkdf *rt, const char *name, uint64_t *out)
{
	char *end;
	long executor;
	size_t i;
	int cpu;

	if (*name < '0' || *name > '9')
		return -ENOENT;
	executor = strtol(name, &end, 10);
	if (*end != '.' || executor >= rt->nr_executors)
		return -ENOENT;
	cpu = cpu_of(rt, executor);
	if (!strcmp(end + 1, "cpu") && cpu >= 0) {
		*out = (uint64_t)cpu;
		return 0;
	}
	if (find_counter(end + 1, &i))
		return -ENOENT;
	*out = read_counter(rt, (int)executor, i);
	return 0;
}

static int find_stat(struct lkdf *rt, const char *name, uint64_t *out)
{
	size_t i;

	if (strncmp(name, "lkdf.", 5))
		return -ENOENT;
	name += 5;
	if (!strncmp(name, "worker.", 7))
		return executor_stat(rt, name + 7, out);
	if (!strcmp(name, "workers")) {
		*out = (uint64_t)rt->nr_workers;
		return 0;
	}
	if (!strcmp(name, "workers.regular")) {
		*out = (uint64_t)rt->nr_regular;
		return 0;
	}
	if (!strcmp(name, "substitutes")) {
		*out = (uint64_t)(rt->nr_workers - rt->nr_regular);
		return 0;
	}
	if (find_counter(name, &i) && !kindstat_find(rt, name, out))
		return 0;
	if (find_counter(name, &i))
		return memstat_find(rt->heap, name, out);
	*out = sum_counter(rt, i);
	return 0;
}

int lkdf_stat(struct lkdf *rt, const char *name, uint64_t *out)
{
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!name || !out)
		return err(-EINVAL, "stat: name or out is NULL");
	rc = find_stat(rt, name, out);
	if (rc)
		return err(rc, "stat: there is no \"%s\" here", name);
	/* A body may ask for many numbers, and for none twice. */
	if (!thread_self()->executor)
		give_way(rt);
	return 0;
}

static void put_json_text(struct text *f, const char *s)
{
	char c[QUOTE_SIZE];

	text_put(f, "\"");
	while ((s = quote_next(s, c)))
		text_put(f, "%s", c);
	text_put(f, "\"");
}

static void put_field(struct text *f, const char *name, const char *text)
{
	text_put(f, "\"%s\":", name);
	put_json_text(f, text ? text : "");
}

static int write_topo(struct lkdf *rt, struct text *f, bool is_json)
{
	return topo_tell(rt, is_json, f);
}

/* Why there is no such thing here; "": see the help. */
static const char *why_not(struct lkdf *rt, uint64_t cap)
{
	const char *why = NULL;

	if (cap == LKDF_CAP_PINNED && rt->sched.is_bound)
		why = "they are to those of their nodes";
	if (cap == LKDF_CAP_BIND)
		why = place_unbound_text(rt);
	if (cap == LKDF_CAP_TRACE)
		why = trace_why(&rt->trace);
	if (cap == LKDF_CAP_URING)
		why = io_ring_why(rt);
	if (cap == LKDF_CAP_PAGES)
		why = facts_tier(rt);
	if (cap == LKDF_CAP_KMOD)
		why = facts_why(rt);
	if (cap == LKDF_CAP_PROBE && !workers_have_probe(&rt->signals))
		why = rt->signals.bpf ? "it was stopped" : rt->signals.why;
	return why ? why : "";
}

/* In which way there is such a thing; "": see the help. */
static void how_bound(struct lkdf *rt, uint64_t cap, char *to, size_t size)
{
	*to = '\0';
	if (cap == LKDF_CAP_URING && !io_ring_why(rt))
		io_ring_how(rt, to, size);
}

static int write_caps(struct lkdf *rt, struct text *f, bool is_json)
{
	uint64_t caps = lkdf_caps(rt);
	const struct cap_row *row;
	char detail[256];
	const char *why;
	size_t i;

	text_put(f, "%s", is_json ? "{\"caps\":[" : "");
	for (i = 0; i < ARRAY_SIZE(cap_rows); i++) {
		row = &cap_rows[i];
		why = why_not(rt, row->cap);
		how_bound(rt, row->cap, detail, sizeof(detail));
		if (!is_json) {
			text_put(f, "%-8s %-3s  %s%s%s%s\n", row->name,
				 caps & row->cap ? "yes" : "no", row->help,
				 *why || *detail ? ": " : "", why, detail);
			continue;
		}
		text_put(f, "%s\n{\"name\":\"%s\",\"present\":%s,",
			 i ? "," : "", row->name,
			 caps & row->cap ? "true" : "false");
		put_field(f, "help", row->help);
		text_put(f, ",");
		put_field(f, "why", why);
		text_put(f, ",");
		put_field(f, "how", detail);
		text_put(f, "%s", "}");
	}
	text_put(f, "%s", is_json ? "]}\n" : "");
	return 0;
}

/* "0 .. 1024", "yes or no", "error info debug", "text". */
static void range_text(const struct option_row *row, char *buf, size_t size)
{
	size_t i, used = 0;

	switch (row->type) {
	case OPTION_INT:
		snprintf(buf, size, "%" PRId64 " .. %" PRId64, row->min,
			 row->max);
		break;
	case OPTION_BOOL:
		snprintf(buf, size, "yes or no");
		break;
	case OPTION_TEXT:
		snprintf(buf, size, "text");
		break;
	case OPTION_WORD:
	case OPTION_WORDS:
		for (i = 0; row->words[i] && used < size; i++)
			used += (size_t)snprintf(buf + used, size - used,
						 "%s%s", i ? " " : "",
						 row->words[i]);
		break;
	}
}

static int write_options(struct lkdf *rt, struct text *f, bool is_json)
{
	char value[OPTION_TEXT_SIZE], range[128];
	const struct option_row *row;
	size_t nr, i;

	row = config_rows(&nr);
	text_put(f, "%s", is_json ? "{\"options\":[" : "");
	for (i = 0; i < nr; i++, row++) {
		option_text(row, rt->options, value, sizeof(value));
		range_text(row, range, sizeof(range));
		if (!is_json) {
			text_put(f, "%s=%s%s%s (%s)\n\t%s\n", row->name, value,
				 row->unit ? " " : "",
				 row->unit ? row->unit : "", range, row->help);
			continue;
		}
		text_put(f, "%s\n{", i ? "," : "");
		put_field(f, "name", row->name);
		text_put(f, ",");
		put_field(f, "value", value);
		text_put(f, ",");
		put_field(f, "unit", row->unit);
		text_put(f, ",");
		put_field(f, "range", range);
		text_put(f, ",");
		put_field(f, "help", row->help);
		text_put(f, "}");
	}
	text_put(f, "%s", is_json ? "]}\n" : "");
	return 0;
}

/* A line of the text, or a member of the JSON object. */
static void put_stat(struct text *f, bool is_json, const char *name, uint64_t v)
{
	bool is_first = f->used <= 1;

	if (!is_json) {
		text_put(f, "%s %" PRIu64 "\n", name, v);
		return;
	}
	text_put(f, "%s\n", is_first ? "" : ",");
	put_json_text(f, name);
	text_put(f, ":%" PRIu64, v);
}

struct stats_out {
	struct text *f;
	bool is_json;
};

static void put_named(void *u, const char *name, uint64_t v)
{
	struct stats_out *o = u;

	put_stat(o->f, o->is_json, name, v);
}

static int write_stats(struct lkdf *rt, struct text *f, bool is_json)
{
	struct stats_out out = { f, is_json };
	char name[64];
	int executor;
	size_t i;

	text_put(f, "%s", is_json ? "{" : "");
	put_stat(f, is_json, "lkdf.workers", (uint64_t)rt->nr_workers);
	put_stat(f, is_json, "lkdf.workers.regular", (uint64_t)rt->nr_regular);
	put_stat(f, is_json, "lkdf.substitutes",
		 (uint64_t)(rt->nr_workers - rt->nr_regular));
	for (i = 0; i < NR_COUNTERS; i++) {
		snprintf(name, sizeof(name), "lkdf.%s", counter_rows[i].name);
		put_stat(f, is_json, name, sum_counter(rt, i));
	}
	kindstat_each(rt, put_named, &out);
	memstat_each(rt->heap, put_named, &out);
	for (executor = 0; executor < rt->nr_executors; executor++) {
		if (executor >= rt->nr_workers &&
		    !a_load(&rt->trace.rings[executor].start_seq, relaxed))
			continue;
		if (cpu_of(rt, executor) >= 0) {
			snprintf(name, sizeof(name), "lkdf.worker.%d.cpu",
				 executor);
			put_stat(f, is_json, name,
				 (uint64_t)cpu_of(rt, executor));
		}
		for (i = 0; i < NR_COUNTERS; i++) {
			snprintf(name, sizeof(name), "lkdf.worker.%d.%s",
				 executor, counter_rows[i].name);
			put_stat(f, is_json, name,
				 read_counter(rt, executor, i));
		}
	}
	text_put(f, "%s", is_json ? "}\n" : "");
	return 0;
}

static const struct subject {
	const char *name;
	int (*fn)(struct lkdf *rt, struct text *f, bool is_json);
} subjects[] = {
	{ "topo", write_topo },
	{ "caps", write_caps },
	{ "options", write_options },
	{ "stats", write_stats },
};

static int write_all(int fd, const char *text, size_t size, const char *what)
{
	ssize_t n;

	while (size) {
		n = write(fd, text, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err(-errno, "%s: %s", what, strerror(errno));
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

static int describe_subject(struct lkdf *rt, const struct subject *s,
			    bool is_json, int fd)
{
	struct text text = { 0 };
	int rc = s->fn(rt, &text, is_json);

	if (!rc && text.has_failed)
		rc = err(-ENOMEM, "describe: no memory");
	if (!rc)
		rc = write_all(fd, text.buf, text.used, "describe");
	free(text.buf);
	return rc;
}

/* 0 or -EINVAL. */
static int read_format(const char *what, const char *format, bool *is_json)
{
	*is_json = !strcmp(format, "json");
	if (*is_json || !strcmp(format, "text"))
		return 0;
	return err(-EINVAL, "%s: format=%s: expected text or json", what,
		   format);
}

int lkdf_why(struct lkdf *rt, const char *format, int fd)
{
	struct text text = { 0 };
	int rc = border_runtime(rt);
	bool is_json;

	if (rc)
		return rc;
	if (!format)
		return err(-EINVAL, "why: format is NULL");
	rc = read_format("why", format, &is_json);
	if (rc)
		return rc;
	rc = why_tell(rt, is_json, &text);
	if (!rc)
		rc = write_all(fd, text.buf, text.used, "why");
	free(text.buf);
	return rc;
}

int lkdf_describe(struct lkdf *rt, const char *what, const char *format, int fd)
{
	int rc = border_runtime(rt);
	bool is_json;
	size_t i;

	if (rc)
		return rc;
	if (!what || !format)
		return err(-EINVAL, "describe: what or format is NULL");
	rc = read_format("describe", format, &is_json);
	if (rc)
		return rc;
	for (i = 0; i < ARRAY_SIZE(subjects); i++) {
		if (!strcmp(what, subjects[i].name))
			return describe_subject(rt, &subjects[i], is_json, fd);
	}
	return err(-EINVAL,
		   "describe: what=%s: expected topo, caps, options or stats",
		   what);
}
