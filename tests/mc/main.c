/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Searches each scenario of a table and speaks TAP. */
#include "checker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEFAULT_LIMIT 400000
/* Of one scenario. MC_SECONDS in the environment says otherwise. */
#define DEFAULT_SECONDS 4

struct checker mc;
static struct result *result;

_Noreturn void mc_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(mc.text, sizeof(mc.text), fmt, ap);
	va_end(ap);
	if (mc.cur)
		explore_leave(RUN_FAILED);
	mc.state = RUN_FAILED;
	longjmp(mc.main_jmp, 1);
}

int mc_self(void)
{
	return mc.cur ? (int)(mc.cur - mc.threads) : -1;
}

void mc_see(const char *what)
{
	unsigned i;

	for (i = 0; i < result->nr_texts; i++)
		if (!strcmp(result->seen[i], what))
			break;
	if (i == MC_SEE * 2)
		mc_fail("checker: more than %u texts seen", i);
	if (i == result->nr_texts) {
		result->seen[i] = what;
		result->nr_texts++;
	}
	result->nr_seen[i]++;
}

static void run_once(void)
{
	mc.exec++;
	mc.state = RUN_GOES_ON;
	mc.cur = NULL;
	mc.changes = 0;
	mc.pos = mc.nr_steps = 0;
	mc.preemptions = mc.stale = mc.timeouts = mc.spurious = 0;
	mc.sleep = 0;
	heap_start();
	if (!setjmp(mc.main_jmp)) {
		if (mc.sc->init)
			mc.sc->init();
		explore_run();
	}
	mc.cur = NULL;
	if (mc.state == RUN_DONE && mc.sc->final && !setjmp(mc.main_jmp))
		mc.sc->final();
}

/* Of its own CPU time: what else runs takes nothing from a search. */
static bool is_late(const struct timespec *start, unsigned seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec - start->tv_sec > (time_t)seconds ||
	       (now.tv_sec - start->tv_sec == (time_t)seconds &&
		now.tv_nsec >= start->tv_nsec);
}

/* All executions within mc.bound. False: stopped before the end. */
static bool search_bound(const struct options *o, unsigned long limit,
			 const struct timespec *start, struct result *r)
{
	mc.nr_choices = 0;
	do {
		if (r->nr >= limit ||
		    (r->nr % 1024 == 1023 && is_late(start, o->seconds)))
			return false;
		run_once();
		r->nr++;
		r->pruned += mc.state == RUN_PRUNED;
		r->cut += mc.state == RUN_CUT;
		r->has_failed = mc.state == RUN_FAILED;
		if (r->has_failed)
			return false;
		if (mc.state == RUN_AGAIN)
			mc.nr_choices = mc.pos = 0;
	} while (mc.state == RUN_AGAIN || explore_next());
	return true;
}

/* Few preemptions first: what is cut short has then seen the likely ones. */
void main_search(const struct mc_scenario *s, const struct options *o,
		 struct result *r)
{
	unsigned long limit = o->limit ? o->limit : s->limit;
	int last = o->has_bound ? o->bound : s->bound;
	struct timespec start;

	memset(r, 0, sizeof(*r));
	result = r;
	mc.sc = s;
	model_start();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	if (!limit)
		limit = DEFAULT_LIMIT;
	r->done = -1;
	for (mc.bound = last < 0 ? -1 : 0; mc.bound <= last; mc.bound++) {
		if (!search_bound(o, limit, &start, r))
			return;
		r->done = mc.bound;
	}
	r->is_exhausted = true;
}

static bool has_seen(const struct result *r, const char *what)
{
	unsigned i;

	for (i = 0; i < r->nr_texts; i++)
		if (!strcmp(r->seen[i], what))
			return true;
	return false;
}

const char *main_verdict(const struct mc_scenario *s, const struct result *r)
{
	static char text[96];
	int i;

	if (s->fails)
		return r->has_failed && strstr(mc.text, s->fails)
			       ? NULL
			       : "the failure was not found";
	if (r->has_failed)
		return mc.text;
	for (i = 0; i < MC_SEE && s->must_see[i]; i++) {
		if (has_seen(r, s->must_see[i]))
			continue;
		snprintf(text, sizeof(text), "never seen: %s", s->must_see[i]);
		return text;
	}
	return NULL;
}

static void print_summary(const struct mc_scenario *s, const struct result *r)
{
	unsigned i;

	printf(" - %s: %lu executions, ", s->name, r->nr);
	if (r->has_failed)
		printf("failed\n");
	else if (r->is_exhausted)
		printf("exhausted\n");
	else
		printf("cut at %lu\n", r->nr);
	if (s->bound >= 0)
		printf("# all with at most %d preemptions%s\n", r->done,
		       s->stale ? " and a few old stores read" : "");
	if (r->pruned || r->cut)
		printf("# %lu pruned, %lu too long\n", r->pruned, r->cut);
	for (i = 0; i < r->nr_texts; i++)
		printf("# seen %lu times: %s\n", r->nr_seen[i], r->seen[i]);
}

/* True: as its row says. */
static bool check_scenario(int n, const struct mc_scenario *s,
			   const struct options *o)
{
	const char *why;
	struct result r;

	main_search(s, o, &r);
	why = main_verdict(s, &r);
	printf("%sok %d", why ? "not " : "", n);
	print_summary(s, &r);
	if (why) {
		printf("# %s\n", why);
		if (r.has_failed)
			report_steps();
	} else if (r.has_failed) {
		printf("# found: %s\n", mc.text);
	}
	fflush(stdout);
	return !why;
}

static int usage(const char *name)
{
	fprintf(stderr,
		"usage: %s [--limit N] [--seconds S] [--bound B] [--only TEXT] "
		"[--mutate PATH [--known FILE] [--share I/N]]\n",
		name);
	return 2;
}

static bool parse(int argc, char **argv, struct options *o)
{
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--limit")) {
			o->limit = strtoul(argv[i + 1], NULL, 10);
		} else if (!strcmp(argv[i], "--seconds")) {
			o->seconds = (unsigned)atoi(argv[i + 1]);
		} else if (!strcmp(argv[i], "--bound")) {
			o->has_bound = true;
			o->bound = atoi(argv[i + 1]);
		} else if (!strcmp(argv[i], "--only")) {
			o->only = argv[i + 1];
		} else if (!strcmp(argv[i], "--mutate")) {
			o->mutate = argv[i + 1];
		} else if (!strcmp(argv[i], "--known")) {
			o->known = argv[i + 1];
		} else if (!strcmp(argv[i], "--share")) {
			if (sscanf(argv[i + 1], "%u/%u", &o->share,
				   &o->nr_shares) != 2)
				return false;
		} else {
			return false;
		}
	}
	return i == argc;
}

int mc_main(int argc, char **argv, const struct mc_scenario *table, size_t nr)
{
	const char *seconds = getenv("MC_SECONDS");
	struct options o = { .seconds = DEFAULT_SECONDS };
	bool is_ok = true;
	int n = 0;
	size_t i;

	if (seconds && atoi(seconds) > 0)
		o.seconds = (unsigned)atoi(seconds);
	if (!parse(argc, argv, &o))
		return usage(argv[0]);
	if (o.mutate)
		return mutate_main(&o, table, nr);
	for (i = 0; i < nr; i++)
		if (!o.only || strstr(table[i].name, o.only))
			is_ok &= check_scenario(++n, &table[i], &o);
	printf("1..%d\n", n);
	return !is_ok;
}
