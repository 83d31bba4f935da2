/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "probe/futex_view.h"

#include "cli/cli.h"
#include "stat/target.h"
#include "utf8.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fail(struct futex_error *e, int code, const char *why,
		const char *fix)
{
	e->code = code;
	if (why)
		snprintf(e->why, sizeof(e->why), "%s", why);
	snprintf(e->fix, sizeof(e->fix), "%s", fix ? fix : "");
	return code;
}

/* ---- who is seen --------------------------------------------------------- */

static bool is_seen(const struct futex_view *v, uint32_t slot, uint32_t gen)
{
	uint32_t i;

	for (i = 0; i < v->nr_seen; i++)
		if (v->seen[i].slot == slot && v->seen[i].gen == gen)
			return true;
	return false;
}

/* Threads may have come since, and all that they count is new then; those that
 * have gone stay, and add nothing. */
static int add_threads(struct futex_view *v, uint32_t runtime, bool is_first)
{
	const struct stats_map *m = &v->runtime[runtime];
	struct lkdf_stats_block b;
	struct seen *s;
	uint32_t i;

	for (i = 0; i < m->header.nr_executors; i++) {
		stats_map_block(m, i, &b);
		if (!b.probe_slot || b.probe_slot > v->pins.nr_slots ||
		    v->pins.slot[b.probe_slot - 1].gen != b.probe_gen ||
		    is_seen(v, b.probe_slot - 1, b.probe_gen))
			continue;
		s = realloc(v->seen, (v->nr_seen + 1) * sizeof(*s));
		if (!s)
			return -ENOMEM;
		v->seen = s;
		s[v->nr_seen].slot = b.probe_slot - 1;
		s[v->nr_seen].gen = b.probe_gen;
		s[v->nr_seen].runtime = runtime;
		s[v->nr_seen].executor = i;
		s[v->nr_seen].tid = b.tid;
		s[v->nr_seen].is_worker = b.kind == LKDF_EXECUTOR_WORKER;
		memset(&s[v->nr_seen].before, 0, sizeof(s->before));
		if (is_first)
			s[v->nr_seen].before = v->pins.slot[b.probe_slot - 1];
		v->nr_seen++;
	}
	return 0;
}

static int find_threads(struct futex_view *v, bool is_first)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < v->nr_runtimes && !rc; i++)
		rc = add_threads(v, i, is_first);
	return rc;
}

/* ---- open ---------------------------------------------------------------- */

static int open_pins(struct futex_view *v, const char *dir,
		     struct futex_error *e)
{
	int rc = pins_open(dir, &v->pins, e->why, sizeof(e->why));

	if (rc == -ENOENT)
		return fail(e, CLI_ABSENT, NULL, "as root: lkdf probe start");
	if (rc)
		return fail(e, rc == -EPROTO ? CLI_ABSENT : cli_code_of(rc),
			    NULL, "lkdf doctor");
	if (pins_are_live(&v->pins))
		return 0;
	return fail(e, CLI_ABSENT, "the probe does not beat",
		    "as root: lkdf probe stop, then start");
}

static int open_runtimes(struct futex_view *v, struct futex_error *e)
{
	int nr = stats_map_open(v->pid, v->runtime, FUTEX_RUNTIMES);

	if (nr == -ESRCH)
		return fail(e, CLI_GONE, "there is no such process", NULL);
	if (nr < 0)
		return fail(e, CLI_DENIED, "its memory may not be looked at",
			    "as root, or as the same user");
	if (!nr)
		return fail(e, CLI_GONE, "the process has no lkdf runtime",
			    NULL);
	v->nr_runtimes = (uint32_t)nr;
	return 0;
}

static int first_look(struct futex_view *v, struct futex_error *e)
{
	size_t bytes = v->pins.nr_words * sizeof(*v->before);

	v->before = malloc(bytes);
	if (!v->before || find_threads(v, true))
		return fail(e, CLI_ABSENT, "no memory", NULL);
	if (!v->nr_seen)
		return fail(e, CLI_ABSENT, "the probe does not see its workers",
			    "start it after lkdf probe start, by a user of "
			    "the probe's group; lkdf probe status tells "
			    "whether slots ran out");
	memcpy(v->before, v->pins.word, bytes);
	bytes = v->pins.nr_stacks * sizeof(*v->stacks);
	v->stacks = v->pins.stack ? malloc(bytes) : NULL;
	if (v->stacks)
		memcpy(v->stacks, v->pins.stack, bytes);
	v->lost = v->pins.head->lost;
	v->missed = v->pins.head->missed;
	v->at = now();
	return 0;
}

int futex_open(int pid, const char *dir, struct futex_view **out,
	       struct futex_error *e)
{
	struct futex_view *v = calloc(1, sizeof(*v));
	int rc;

	if (!v)
		return fail(e, CLI_ABSENT, "no memory", NULL);
	v->pid = pid;
	rc = open_runtimes(v, e);
	if (!rc)
		rc = open_pins(v, dir, e);
	if (!rc)
		rc = first_look(v, e);
	if (rc)
		futex_close(v);
	else
		*out = v;
	return rc;
}

void futex_close(struct futex_view *v)
{
	uint32_t i;

	for (i = 0; i < v->nr_runtimes; i++)
		stats_map_close(&v->runtime[i]);
	if (v->pins.head)
		pins_close(&v->pins);
	free(v->seen);
	free(v->before);
	free(v->stacks);
	free(v);
}

/* ---- look ---------------------------------------------------------------- */

static void add_samples(struct futex_view *v, struct futex_report *r)
{
	struct lkdf_probe_slot s;
	struct seen *t;
	uint32_t i;

	for (i = 0; i < v->nr_seen; i++) {
		t = &v->seen[i];
		s = v->pins.slot[t->slot];
		if (s.gen != t->gen || !s.tgid)
			continue;
		r->nr_workers += t->is_worker;
		r->nr_pool += !t->is_worker;
		r->samples += futex_since(s.samples, t->before.samples);
		r->futex += futex_since(s.futex, t->before.futex);
		r->own += futex_since(s.own, t->before.own);
		t->before = s;
	}
}

/* Threads that run or have run bodies, seen or not. */
static void count_all(const struct futex_view *v, struct futex_report *r)
{
	const struct stats_map *m = v->runtime;
	struct lkdf_stats_block b;
	uint32_t i;

	for (; m < v->runtime + v->nr_runtimes; m++)
		for (i = 0; i < m->header.nr_executors; i++) {
			stats_map_block(m, i, &b);
			if (!b.start_seq)
				continue;
			r->of_workers += b.kind == LKDF_EXECUTOR_WORKER;
			r->of_pool += b.kind == LKDF_EXECUTOR_BLOCKING;
		}
}

static struct futex_word *word_at(struct futex_report *r, uint64_t address)
{
	uint32_t i;

	for (i = 0; i < r->nr_words; i++)
		if (r->word[i].address == address)
			return &r->word[i];
	if (r->nr_words == FUTEX_WORDS) {
		r->nr_left_out++;
		return NULL;
	}
	memset(&r->word[i], 0, sizeof(r->word[i]));
	r->word[i].address = address;
	r->nr_words++;
	return &r->word[i];
}

static void add_kind(struct futex_word *w, const struct futex_kind *k)
{
	uint32_t i;

	for (i = 0; i < w->nr_kinds; i++)
		if (!strcmp(w->kind[i].name, k->name))
			break;
	if (i == FUTEX_KINDS)
		return;
	if (i == w->nr_kinds)
		w->kind[w->nr_kinds++] = (struct futex_kind){ { 0 }, 0, 0 };
	memcpy(w->kind[i].name, k->name, sizeof(k->name));
	w->kind[i].samples += k->samples;
	w->kind[i].blocks += k->blocks;
}

/* ---- who has to do with it ----------------------------------------------- */

/* A thread as the probe has it now. */
static void look_at_thread(const struct futex_view *v, const struct seen *t,
			   struct futex_thread *to)
{
	struct lkdf_probe_slot s = v->pins.slot[t->slot];
	uint64_t at = (uint64_t)(now() * 1e9);

	to->tid = t->tid;
	to->executor = (int)t->executor;
	to->runtime = t->runtime;
	if (s.gen != t->gen || !s.tgid)
		return;
	to->state = s.state;
	to->state_ns = futex_since(at, s.since_ns);
	if (s.state != LKDF_PROBE_PREEMPTED)
		return;
	to->by_tid = s.by_tid;
	to->by_tgid = s.by_tgid;
	memcpy(to->by, s.by_comm, sizeof(to->by));
	to->by[sizeof(to->by) - 1] = '\0';
	utf8_tame(to->by);
}

/* The word itself tells while somebody sleeps there, or it does not. */
static void find_holder(const struct futex_view *v, struct futex_word *w)
{
	uint32_t i;

	w->holder.executor = -1;
	if (w->nr_asleep)
		w->holder.tid = futex_holder(v->pid, w->address);
	for (i = 0; w->holder.tid && i < v->nr_seen; i++)
		if (v->seen[i].tid == w->holder.tid)
			look_at_thread(v, &v->seen[i], &w->holder);
}

/* The last one of all kinds that meet there. */
static void add_waker(const struct futex_view *v, struct futex_word *w,
		      const struct lkdf_probe_word *a, uint64_t wakes)
{
	uint32_t i;

	w->wakes += wakes;
	if (!wakes || !a->waker_tid)
		return;
	memset(&w->waker, 0, sizeof(w->waker));
	w->waker.tid = a->waker_tid;
	w->waker.executor = -1;
	w->waker_kind[0] = '\0';
	for (i = 0; a->waker_slot && i < v->nr_seen; i++) {
		if (v->seen[i].slot != a->waker_slot - 1)
			continue;
		look_at_thread(v, &v->seen[i], &w->waker);
		if (a->waker_kind)
			stats_map_name(&v->runtime[v->seen[i].runtime],
				       a->waker_kind, w->waker_kind,
				       sizeof(w->waker_kind));
	}
}

static void add_word(struct futex_view *v, struct futex_report *r,
		     const struct lkdf_probe_word *a,
		     const struct lkdf_probe_word *before)
{
	static const struct lkdf_probe_word none;
	const struct seen *t = futex_owner(v, a->slot, a->gen);
	const struct stats_map *m;
	struct futex_kind k = { { 0 }, 0, 0 };
	struct futex_word *w;

	if (!a->tag || !t)
		return;
	m = &v->runtime[t->runtime];
	if (before->tag != a->tag || before->gen != a->gen)
		before = &none;
	k.samples = futex_since(a->samples, before->samples);
	k.blocks = futex_since(a->blocks, before->blocks);
	if (!k.samples && !k.blocks)
		return;
	w = word_at(r, lkdf_probe_show(a->id, stats_map_key(m)));
	if (!w)
		return;
	if (a->kind)
		stats_map_name(m, a->kind, k.name, sizeof(k.name));
	w->samples += k.samples;
	w->wait_samples += futex_since(a->wait_samples, before->wait_samples);
	w->blocks += k.blocks;
	w->block_ns += futex_since(a->block_ns, before->block_ns);
	w->wait_nodes |= a->wait_nodes;
	w->wake_nodes |= a->wake_nodes;
	add_waker(v, w, a, futex_since(a->wakes, before->wakes));
	add_kind(w, &k);
}

static void count_asleep(struct futex_view *v, struct futex_report *r)
{
	struct lkdf_probe_slot s;
	uint64_t address;
	uint32_t i, j;

	for (i = 0; i < v->nr_seen; i++) {
		s = v->pins.slot[v->seen[i].slot];
		if (s.gen != v->seen[i].gen || s.state != LKDF_PROBE_FUTEX ||
		    !s.word)
			continue;
		address = lkdf_probe_show(
			s.word, stats_map_key(&v->runtime[v->seen[i].runtime]));
		for (j = 0; j < r->nr_words; j++)
			r->word[j].nr_asleep += r->word[j].address == address;
	}
}

/* On a CPU in futex(2), by samples, and asleep. */
static double time_of(const struct futex_word *w, uint32_t hz)
{
	return (double)w->samples / hz + (double)w->block_ns * 1e-9;
}

static int by_kind(const void *a, const void *b)
{
	const struct futex_kind *x = a, *y = b;
	uint64_t nx = x->samples + x->blocks, ny = y->samples + y->blocks;

	return (nx < ny) - (nx > ny);
}

static void sort_words(struct futex_report *r)
{
	struct futex_word w;
	uint32_t i, j;

	for (i = 1; i < r->nr_words; i++) {
		w = r->word[i];
		for (j = i;
		     j && time_of(&w, r->hz) > time_of(&r->word[j - 1], r->hz);
		     j--)
			r->word[j] = r->word[j - 1];
		r->word[j] = w;
	}
	for (i = 0; i < r->nr_words; i++)
		qsort(r->word[i].kind, r->word[i].nr_kinds,
		      sizeof(r->word[i].kind[0]), by_kind);
}

static void name_word(const struct futex_view *v, struct futex_word *w)
{
	struct stats_label l;
	uint32_t i;

	where_find(v->pid, w->address, &w->where);
	for (i = 0; i < v->nr_runtimes && !w->where.offset; i++)
		if (stats_map_label(&v->runtime[i], w->address, &l))
			where_in_block(&w->where, w->address, &l);
}

int futex_look(struct futex_view *v, struct futex_report *r,
	       struct futex_error *e)
{
	struct lkdf_probe_word a;
	double at = now();
	uint32_t i;

	if (kill(v->pid, 0) && errno == ESRCH)
		return fail(e, CLI_GONE, "the process has ended", NULL);
	if (!pins_are_live(&v->pins))
		return fail(e, CLI_GONE, "the probe was stopped", NULL);
	/* Words belong to those who met them first, whenever they came. */
	if (find_threads(v, false))
		return fail(e, CLI_ABSENT, "no memory", NULL);
	memset(r, 0, sizeof(*r));
	r->pid = v->pid;
	target_name(v->pid, r->command, sizeof(r->command));
	r->hz = v->pins.head->sample_hz ? v->pins.head->sample_hz : 1;
	r->seconds = at - v->at;
	v->at = at;
	add_samples(v, r);
	count_all(v, r);
	r->nr_lost = futex_since(v->pins.head->lost, v->lost);
	v->lost = v->pins.head->lost;
	r->nr_missed = futex_since(v->pins.head->missed, v->missed);
	v->missed = v->pins.head->missed;
	for (i = 0; i < v->pins.nr_words; i++) {
		a = v->pins.word[i];
		add_word(v, r, &a, &v->before[i]);
		v->before[i] = a;
	}
	count_asleep(v, r);
	sort_words(r);
	for (i = 0; i < r->nr_words; i++) {
		name_word(v, &r->word[i]);
		find_holder(v, &r->word[i]);
	}
	r->sees_wakers = v->pins.head->hooks & LKDF_PROBE_WAKE;
	futex_add_stacks(v, r);
	return 0;
}
