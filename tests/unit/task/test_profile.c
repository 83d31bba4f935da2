/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task with LKDF_PROFILE leaves an event for each of its bodies, without any
 * recording; others of its kind leave none.
 */
#include "core/runtime.h"
#include "task/kind.h"
#include "tests/api/api.h"
#include "trace/ring.h"

#define NR_TASKS 40
#define NAP_NS 2000000

static int go_on(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static int body(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	api_nap_ns(NAP_NS);
	return lkdf_then(c, go_on, (struct lkdf_event){ 0 });
}

/* Of all rings; *longest: ns. The ring holds more than there are. */
static int nr_events(struct lkdf *rt, uint32_t name, uint64_t *longest)
{
	struct trace_ring *r;
	uint64_t i, head, word, ns;
	int nr = 0, e;

	for (e = 0; e < rt->nr_workers; e++) {
		r = rt->executors[e].ring;
		head = a_load(&r->event_head, relaxed);
		for (i = 0; i < head && i < EVENT_RECORDS; i++) {
			word = a_load(&r->events[3 * i + 1], relaxed);
			if ((uint32_t)word != EVENT_TASK || word >> 32 != name)
				continue;
			nr++;
			ns = a_load(&r->events[3 * i + 2], relaxed);
			*longest = ns > *longest ? ns : *longest;
		}
	}
	return nr;
}

static void submit(struct lkdf *rt, struct lkdf_kind *k, uint32_t flags)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = k, .flags = flags };

	if (lkdf_submit(rt, NULL, &t, NULL))
		abort();
}

static void events_are_of_profiled_tasks(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "nap", body, 0, LKDF_SHARED);
	uint64_t longest = 0;
	int i;

	for (i = 0; i < NR_TASKS; i++)
		submit(rt, k, i % 10 ? 0 : LKDF_PROFILE);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: tasks end", options);
	is(nr_events(rt, k->trace_name, &longest), 2 * NR_TASKS / 10,
	   "two events for each that is profiled");
	/* Two clocks; an emulated one may be far off. */
	ok(longest >= NAP_NS / 4, "the longest has its nap in it, in ns");
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* The number behind a word of the n-th task in a dump; -1: it is not there. */
static long long number_of(const char *json, int task, const char *word)
{
	char start[32], key[32];
	const char *at, *end;

	snprintf(start, sizeof(start), "{\"id\":%d,", task);
	snprintf(key, sizeof(key), "\"%s\":", word);
	at = strstr(json, start);
	end = at ? strchr(at, '}') : NULL;
	at = at ? strstr(at, key) : NULL;
	return at && at < end ? atoll(at + strlen(key)) : -1;
}

static void dump(const struct lkdf_graph *g, char *to, size_t size)
{
	FILE *f = tmpfile();

	if (!f || lkdf_graph_dump(g, fileno(f), "json"))
		abort();
	rewind(f);
	to[fread(to, 1, size - 1, f)] = '\0';
	fclose(f);
}

static int doze(struct lkdf_ctx *c, void *arg)
{
	const struct timespec t = { .tv_nsec = NAP_NS };

	(void)c;
	(void)arg;
	nanosleep(&t, NULL);
	return 0;
}

static int blink(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

/* Tasks 0 and 2 have PROFILE; 2 naps; the others are of the same kinds. */
static struct lkdf_graph *profiled_graph(struct lkdf *rt, struct lkdf_kind *k,
					 struct lkdf_kind *nap)
{
	struct lkdf_graph *g;
	int i;

	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < 4; i++)
		must(lkdf_graph_add_task(
			g, ATTR(lkdf_task, .kind = i < 2 ? k : nap,
				.flags = i % 2 ? 0 : LKDF_PROFILE)));
	for (i = 1; i < 4; i++)
		must(lkdf_graph_order(g, i - 1, i));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void a_graph_counts_what_is_profiled(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "blink", blink, 0, 0);
	struct lkdf_kind *nap = api_kind(rt, "doze", doze, 0, 0);
	struct lkdf_graph *g = profiled_graph(rt, k, nap);
	long long total, longest;
	char json[2048];

	dump(g, json, sizeof(json));
	is(number_of(json, 0, "runs"), 0, "%s: no run is counted yet", options);
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = 20), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "20 runs end");
	dump(g, json, sizeof(json));
	is(number_of(json, 0, "runs"), 20, "a short task has run 20 times");
	is(number_of(json, 2, "runs"), 20, "so has a long one");
	is(number_of(json, 1, "runs"), -1, "the next of its kind is not told");
	is(number_of(json, 3, "runs"), -1, "nor is that of the other kind");
	total = number_of(json, 2, "total_ns");
	longest = number_of(json, 2, "longest_ns");
	ok(longest >= NAP_NS / 4, "the longest has its nap in it");
	ok(total >= longest && total <= longest * 20,
	   "all together have 1 to 20 times as much");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(nap);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	tap_start(60);
	a_graph_counts_what_is_profiled("workers=1");
	a_graph_counts_what_is_profiled("workers=2");
	a_graph_counts_what_is_profiled("serial");
	events_are_of_profiled_tasks("workers=2");
	events_are_of_profiled_tasks("serial");
	return tap_end();
}
