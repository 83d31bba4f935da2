/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf top: one look at the executors of a process. */
#include "top/top.h"

#include "stat/child.h"
#include "stat/target.h"
#include "utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Newest events of an executor that a look goes through. */
#define LOOK_EVENTS 1024u
/* Looks between two searches for runtimes. */
#define LOOK_AGAIN_NS 5000000000ll

static const char *const names[NR_TOP_COUNTERS] = {
	[TOP_TASKS] = "tasks",
	[TOP_NEAR] = "steals.near",
	[TOP_FAR] = "steals.far",
	[TOP_PARKS] = "parks",
	[TOP_WAKES] = "wakes",
	[TOP_FAILED] = "failed",
	[TOP_MIGRATED] = "data.migrated_bytes",
	[TOP_REPLICATED] = "data.replicated_bytes",
	[TOP_HOMED] = "io.homed",
	[TOP_ASIDE] = "narrow.aside",
	[TOP_TRIALS] = "narrow.trials",
	[TOP_IDLE_NS] = "idle_ns",
};

/* Values that are alike for all rows of a runtime. */
struct table {
	uint32_t counter[NR_TOP_COUNTERS];
	uint32_t park, unpark;
};

/* The cheap clock of the machine, as the library reads it. */
static uint64_t ticks_now(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return (uint64_t)child_now_ns();
#endif
}

/* Both clocks at one moment, however busy the machine is. */
static int64_t read_clocks(uint64_t *ticks)
{
	int64_t ns, nr_tries = 0;

	do {
		ns = child_now_ns();
		*ticks = ticks_now();
	} while (child_now_ns() - ns > 5000 && ++nr_tries < 100);
	return ns;
}

static double ns_of(const struct stats *s, uint64_t ticks)
{
	return (double)ticks * 1024 / s->h.ticks_per_1024ns;
}

static void unmap_all(struct stats *s, unsigned nr)
{
	while (nr)
		stats_unmap(&s[--nr]);
}

/* Rows for what is mapped, with nothing known of before. */
static int make_rows(struct top *t)
{
	struct top_row *row;
	uint32_t nr = 0, e;
	unsigned r;

	for (r = 0; r < t->nr_stats; r++)
		nr += t->stats[r].h.nr_executors + 1;
	row = calloc(nr ? nr : 1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	free(t->row);
	t->row = row;
	t->nr_rows = nr;
	for (r = 0; r < t->nr_stats; r++)
		for (e = 0; e <= t->stats[r].h.nr_executors; e++, row++) {
			row->runtime = r;
			row->executor = e;
		}
	t->is_first = true;
	t->start_ns = child_now_ns();
	for (r = 0; r < t->nr_stats; r++)
		if (t->start_ns > (int64_t)t->stats[r].h.start_ns)
			t->start_ns = (int64_t)t->stats[r].h.start_ns;
	t->at_ns = t->start_ns;
	return 0;
}

static bool is_same(const struct stats *a, const struct stats *b)
{
	return a->h.start_ticks == b->h.start_ticks && a->size == b->size;
}

/* Runtimes open and close while the process goes on. */
static int find_again(struct top *t)
{
	struct stats found[STATS_MAX];
	unsigned i = 0;
	int nr = stats_find(t->pid, found, STATS_MAX);

	if (nr < 0)
		return 0;
	while (i < (unsigned)nr && i < t->nr_stats &&
	       is_same(&found[i], &t->stats[i]))
		i++;
	if (i == (unsigned)nr && i == t->nr_stats) {
		unmap_all(found, i);
		return 0;
	}
	unmap_all(t->stats, t->nr_stats);
	memcpy(t->stats, found, (size_t)nr * sizeof(found[0]));
	t->nr_stats = (unsigned)nr;
	return make_rows(t);
}

int top_open(struct top *t)
{
	int nr = stats_find(t->pid, t->stats, STATS_MAX), rc;

	if (nr <= 0)
		return nr;
	t->nr_stats = (unsigned)nr;
	target_name(t->pid, t->command, sizeof(t->command));
	shared_cpus_find(t->pid, &t->shared);
	t->kind = calloc(TOP_KINDS, sizeof(*t->kind));
	rc = t->kind ? make_rows(t) : -ENOMEM;
	return rc ? rc : nr;
}

void top_close(struct top *t)
{
	unmap_all(t->stats, t->nr_stats);
	t->nr_stats = 0;
	free(t->row);
	free(t->node);
	free(t->kind);
	stats_kinds_free(&t->counted);
	free(t->words);
	free(t->unit);
	if (t->futex)
		futex_close(t->futex);
	pins_close(&t->probe);
	t->row = NULL;
	t->node = NULL;
	t->kind = NULL;
	t->words = NULL;
	t->unit = NULL;
	t->nr_units = 0;
	t->futex = NULL;
}

/* The newest event that says whether it sleeps; without one all is as was. */
static void look_at_events(const struct stats *s, const struct table *table,
			   struct top_row *row)
{
	uint64_t head, i, nr;
	struct lkdf_stats_event e;

	if (table->park == UINT32_MAX)
		return;
	head = stats_event_head(s, row->executor);
	nr = head - row->event_head;
	if (nr >= s->h.event_records)
		nr = s->h.event_records - 1;
	if (nr > LOOK_EVENTS)
		nr = LOOK_EVENTS;
	row->event_head = head;
	for (i = 1; i <= nr && stats_event(s, row->executor, head - i, &e);
	     i++) {
		if (e.event != table->park && e.event != table->unpark)
			continue;
		row->is_asleep = e.event == table->park;
		row->asleep_since = e.ticks;
		return;
	}
}

/* Its share of the interval; a sleep is counted when it has ended. */
static void look_at_idle(const struct stats *s, struct top_row *row,
			 uint64_t ticks, double interval_ns)
{
	double idle = (double)row->before[TOP_IDLE_NS], came;

	if (row->is_asleep && ticks > row->asleep_since)
		idle += ns_of(s, ticks - row->asleep_since);
	came = idle - row->idle_ns;
	row->idle_ns = idle;
	if (came < 0)
		came = 0;
	row->busy = came < interval_ns ? 1 - came / interval_ns : 0;
}

/* A probe that has ended, or was started meanwhile, is another one. */
static void look_for_probe(struct top *t)
{
	char why[256];

	if (t->probe.head && !pins_are_live(&t->probe))
		pins_close(&t->probe);
	if (!t->probe.head &&
	    !pins_open(t->pins, &t->probe, why, sizeof(why)) &&
	    !pins_are_live(&t->probe))
		pins_close(&t->probe);
}

static void note_preemptor(struct top_row *row, const struct lkdf_probe_slot *s)
{
	row->by_tid = s->by_tid;
	memcpy(row->by, s->by_comm, sizeof(row->by));
	row->by[sizeof(row->by) - 1] = '\0';
	utf8_tame(row->by);
}

/* The state that the probe has of the thread now, and who holds its word. */
static void look_at_probe(const struct top *t, struct top_row *row,
			  const struct lkdf_stats_block *b)
{
	uint32_t slot = b->probe_slot;
	struct lkdf_probe_slot s;

	row->probed = LKDF_PROBE_FREE;
	row->word = 0;
	row->holder_tid = 0;
	row->by_tid = 0;
	if (!t->probe.head || !slot || slot > t->probe.nr_slots)
		return;
	s = t->probe.slot[slot - 1];
	if (s.gen != b->probe_gen || !s.tgid || s.state > LKDF_PROBE_FUTEX)
		return;
	row->probed = s.state;
	if (s.state == LKDF_PROBE_PREEMPTED)
		note_preemptor(row, &s);
	if (s.state != LKDF_PROBE_FUTEX || !s.word)
		return;
	row->word = lkdf_probe_show(s.word,
				    stats_probe_key(&t->stats[row->runtime]));
	row->holder_tid = futex_holder(t->pid, row->word);
}

struct state {
	const char *text, *name;
};

static struct state state_of(const struct top_row *row)
{
	static const struct state probed[] = {
		[LKDF_PROBE_FREE] = { "awake", "awake" },
		[LKDF_PROBE_RUNS] = { "awake", "awake" },
		[LKDF_PROBE_PREEMPTED] = { "no CPU", "preempted" },
		[LKDF_PROBE_BLOCKED] = { "sleeps", "blocked" },
		[LKDF_PROBE_FUTEX] = { "lock", "futex" },
	};

	if (row->is_asleep)
		return (struct state){ "asleep", "asleep" };
	return probed[row->probed];
}

const char *top_state(const struct top_row *row)
{
	return state_of(row).text;
}

const char *top_state_name(const struct top_row *row)
{
	return state_of(row).name;
}

static void look_at_row(const struct top *t, const struct table *table,
			struct top_row *row, uint64_t ticks)
{
	const struct stats *s = &t->stats[row->runtime];
	const struct lkdf_stats_block *b = stats_block(s, row->executor);
	uint64_t v;
	int i;

	row->is_started = b->start_seq != 0;
	row->kind = b->kind;
	row->cpu = b->cpu;
	row->node =
		b->node >= -1 && b->node < (int)LKDF_MAX_NODES ? b->node : -1;
	for (i = 0; i < NR_TOP_COUNTERS; i++) {
		v = table->counter[i] < s->h.nr_counters
			    ? stats_counter(s, row->executor, table->counter[i])
			    : 0;
		row->rate[i] = (double)(v - row->before[i]) / t->seconds;
		row->before[i] = v;
	}
	look_at_events(s, table, row);
	row->tid = b->tid;
	look_at_probe(t, row, b);
	if (row->kind == LKDF_EXECUTOR_WORKER)
		look_at_idle(s, row, ticks, t->seconds * 1e9);
}

static void make_table(const struct stats *s, struct table *table)
{
	int i;

	for (i = 0; i < NR_TOP_COUNTERS; i++)
		table->counter[i] = stats_counter_find(s, names[i]);
	table->park = stats_event_find(s, "park");
	table->unpark = stats_event_find(s, "unpark");
}

static struct top_node *node_of(struct top *t, int node)
{
	struct top_node *n;
	uint32_t i;

	for (i = 0; i < t->nr_nodes && t->node[i].node < node; i++)
		;
	if (i < t->nr_nodes && t->node[i].node == node)
		return &t->node[i];
	n = realloc(t->node, (t->nr_nodes + 1) * sizeof(*n));
	if (!n)
		return NULL;
	t->node = n;
	n += i;
	memmove(n + 1, n, (t->nr_nodes++ - i) * sizeof(*n));
	memset(n, 0, sizeof(*n));
	n->node = node;
	return n;
}

static bool is_worker(const struct top_row *row)
{
	return row->is_started && row->kind == LKDF_EXECUTOR_WORKER;
}

/* The sums of all rows, and of those of each node. */
static int add_up(struct top *t)
{
	struct top_row *row;
	struct top_node *n;
	int i;

	t->nr_nodes = t->nr_workers = 0;
	t->busy = 0;
	memset(t->rate, 0, sizeof(t->rate));
	for (row = t->row; row < t->row + t->nr_rows; row++) {
		for (i = 0; i < NR_TOP_COUNTERS; i++)
			t->rate[i] += row->rate[i];
		if (!is_worker(row))
			continue;
		n = node_of(t, row->node);
		if (!n)
			return -ENOMEM;
		n->nr_workers++;
		n->nr_asleep += row->is_asleep;
		n->busy += row->busy;
		for (i = 0; i < NR_TOP_COUNTERS; i++)
			n->rate[i] += row->rate[i];
		t->nr_workers++;
		t->busy += row->busy;
	}
	return 0;
}

int top_look(struct top *t)
{
	static const double least = 1e-6;
	struct table table[STATS_MAX];
	uint64_t ticks;
	int64_t now = read_clocks(&ticks);
	int rc = 0;
	uint32_t i;
	unsigned r;

	if (now / LOOK_AGAIN_NS != t->at_ns / LOOK_AGAIN_NS) {
		rc = find_again(t);
		shared_cpus_find(t->pid, &t->shared);
	}
	if (rc)
		return rc;
	t->is_first = t->at_ns == t->start_ns;
	t->seconds = (double)(now - t->at_ns) / 1e9;
	if (t->seconds < least)
		t->seconds = least;
	t->at_ns = now;
	look_for_probe(t);
	for (r = 0; r < t->nr_stats; r++)
		make_table(&t->stats[r], &table[r]);
	for (i = 0; i < t->nr_rows; i++)
		look_at_row(t, &table[t->row[i].runtime], &t->row[i], ticks);
	top_devices(t);
	top_kinds(t);
	return add_up(t);
}

void top_look_words(struct top *t)
{
	if (!t->words)
		t->words = calloc(1, sizeof(*t->words));
	if (!t->words)
		return;
	if (!t->futex && futex_open(t->pid, t->pins, &t->futex, &t->why_not)) {
		t->futex = NULL;
		return;
	}
	if (!futex_look(t->futex, t->words, &t->why_not))
		return;
	futex_close(t->futex);
	t->futex = NULL;
}
