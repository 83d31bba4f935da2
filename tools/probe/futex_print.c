/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "probe/futex.h"

#include "json.h"
#include "probe/frames.h"

#include <inttypes.h>
#include <stdio.h>

/* Stacks of each word, and of bodies. */
#define STACKS 3

static double part(uint64_t of, uint64_t all)
{
	return all ? (double)of / (double)all : 0;
}

static void print_nodes(const char *who, uint64_t nodes)
{
	const char *sep = " ";
	unsigned i;

	if (!nodes)
		return;
	printf("  %s", who);
	for (i = 0; i < 64; i++) {
		if (!(nodes >> i & 1))
			continue;
		printf("%s%u", sep, i);
		sep = ",";
	}
}

static void print_kinds(const struct futex_word *w)
{
	uint64_t all = 0;
	uint32_t i;

	for (i = 0; i < w->nr_kinds; i++)
		all += w->kind[i].samples + w->kind[i].blocks;
	printf("         kinds");
	for (i = 0; i < w->nr_kinds; i++)
		printf("%s %s %.0f %%", i ? "," : "",
		       w->kind[i].name[0] ? w->kind[i].name : "(no body)",
		       100 * part(w->kind[i].samples + w->kind[i].blocks, all));
	printf("\n");
}

/* "worker 2", or "thread 4711". */
static void print_thread(const struct futex_thread *t)
{
	if (t->executor >= 0)
		printf("worker %d", t->executor);
	else
		printf("thread %u", t->tid);
}

static void print_holder(const struct futex_word *w)
{
	const struct futex_thread *t = &w->holder;

	if (!w->nr_asleep)
		return;
	printf("         held by ");
	if (!t->tid) {
		printf("a thread that the word does not tell\n");
		return;
	}
	print_thread(t);
	if (t->state == LKDF_PROBE_PREEMPTED)
		printf(", whose CPU %s (%u) has had for %.3f ms", t->by,
		       t->by_tid, (double)t->state_ns * 1e-6);
	else if (t->state == LKDF_PROBE_BLOCKED || t->state == LKDF_PROBE_FUTEX)
		printf(", which has slept for %.3f ms",
		       (double)t->state_ns * 1e-6);
	else if (t->state == LKDF_PROBE_RUNS)
		printf(", which runs");
	printf("\n");
}

static void print_waker(const struct futex_report *r,
			const struct futex_word *w)
{
	if (!w->blocks || !r->sees_wakers)
		return;
	printf("         %" PRIu64 " of %" PRIu64
	       " sleeps were seen to end by a call of futex(2) on the word",
	       w->wakes, w->blocks);
	if (w->wakes) {
		printf(", the last one by ");
		print_thread(&w->waker);
		if (w->waker_kind[0])
			printf(" in a body of %s", w->waker_kind);
	}
	printf("\n");
}

/* The most frequent ones of a word, or of bodies that were sampled. */
static void print_stacks(const struct futex_report *r, struct frames *f,
			 uint32_t sort, uint64_t word)
{
	const struct futex_stack *k = r->stack;
	uint64_t all = 0;
	char text[1024];
	unsigned nr = 0;
	uint32_t i;

	for (i = 0; i < r->nr_stacks; i++)
		if (k[i].sort == sort && k[i].word == word)
			all += k[i].count;
	for (i = 0; f && i < r->nr_stacks && nr < STACKS; i++) {
		if (k[i].sort != sort || k[i].word != word ||
		    !*frames_text(f, k[i].ip, LKDF_PROBE_IPS, text,
				  sizeof(text)))
			continue;
		printf("         %s %.0f %% %s: %s\n",
		       sort == LKDF_PROBE_WAITS ? "who sleeps" : "body",
		       100 * part(k[i].count, all), k[i].kind, text);
		nr++;
	}
}

static void print_word(const struct futex_report *r, const struct futex_word *w,
		       struct frames *f)
{
	char text[512];

	printf("%5.1f %%  %s\n", 100 * part(w->samples, r->samples),
	       where_text(&w->where, text, sizeof(text)));
	print_kinds(w);
	printf("         %.0f %% of it to wait; %.0f sleeps/s",
	       100 * part(w->wait_samples, w->samples),
	       (double)w->blocks / r->seconds);
	if (w->blocks)
		printf(" of %.1f us",
		       (double)w->block_ns * 1e-3 / (double)w->blocks);
	printf("; %u asleep now\n", w->nr_asleep);
	printf("         word 0x%" PRIx64, w->address);
	print_nodes("waiters on node", w->wait_nodes);
	print_nodes("wakers on node", w->wake_nodes);
	printf("\n");
	print_holder(w);
	print_waker(r, w);
	print_stacks(r, f, LKDF_PROBE_WAITS, w->address);
}

/* Nothing of what follows tells of those that are not seen. */
static void print_seen(uint32_t nr, uint32_t of, const char *what)
{
	if (nr < of)
		printf(" %u of %u %s seen,", nr, of, what);
	else if (of)
		printf(" %u %s,", of, what);
}

static void print_bodies(const struct futex_report *r, struct frames *f)
{
	uint32_t i;

	for (i = 0; i < r->nr_stacks; i++)
		if (r->stack[i].sort == LKDF_PROBE_RUNS_BODY)
			break;
	if (i == r->nr_stacks)
		return;
	printf("where bodies are, by one of %u samples of each thread\n",
	       LKDF_PROBE_STACK_EACH);
	print_stacks(r, f, LKDF_PROBE_RUNS_BODY, 0);
}

void futex_print_text(const struct futex_report *r, unsigned top)
{
	struct frames *f = r->nr_stacks ? frames_open(r->pid) : NULL;
	uint32_t i;

	printf("%s (%d):", r->command, r->pid);
	print_seen(r->nr_workers, r->of_workers, "workers");
	print_seen(r->nr_pool, r->of_pool, "threads of the blocking pool");
	printf(" %.1f s, %" PRIu64 " samples at %u Hz, %.1f %% inside futex(2)",
	       r->seconds, r->samples, r->hz, 100 * part(r->futex, r->samples));
	if (r->own)
		printf(", %.1f %% in lkdf's own words",
		       100 * part(r->own, r->samples));
	printf("\n");
	if (r->nr_lost)
		printf("the probe's table of words is full: %" PRIu64
		       " samples and sleeps on this machine are in none\n",
		       r->nr_lost);
	if (r->nr_missed)
		printf("%" PRIu64 " samples of registered threads on this "
		       "machine met a busy entry and are nowhere\n",
		       r->nr_missed);
	if (!r->nr_words)
		printf("no futex word: the workers do not meet in one; spin "
		       "locks and locks of the kernel (mmap, flock, pipes) "
		       "have none\n");
	else
		printf("share of the workers' CPU time, by word\n");
	for (i = 0; i < r->nr_words && i < top; i++)
		print_word(r, &r->word[i], f);
	if (i < r->nr_words || r->nr_left_out)
		printf("and %u more words: --top N\n",
		       r->nr_words - i + r->nr_left_out);
	print_bodies(r, f);
	if (!r->sees_stacks)
		printf("no stacks: this kernel does not give them to "
		       "lkdf probe\n");
	frames_close(f);
}

/* ---- JSON ---------------------------------------------------------------- */

static void write_nodes(struct json *j, const char *key, uint64_t nodes)
{
	unsigned i;

	json_open_flat(j, key, '[');
	for (i = 0; i < 64; i++)
		if (nodes >> i & 1)
			json_int(j, NULL, i);
	json_close(j, ']');
}

static void write_where(struct json *j, const struct where *w)
{
	char text[512];

	json_text(j, "where", where_text(w, text, sizeof(text)));
	json_text(j, "object", w->object);
	json_int(j, "offset", (int64_t)w->offset);
	if (w->label[0]) {
		json_text(j, "label", w->label);
		json_int(j, "block_bytes", (int64_t)w->block_bytes);
		json_int(j, "block_offset", (int64_t)w->block_offset);
	}
	if (w->has_symbol) {
		json_text(j, "symbol", w->symbol.name);
		json_text(j, "source", w->symbol.source);
		json_int(j, "symbol_offset", (int64_t)w->symbol.offset);
		json_bool(j, "inside", w->symbol.is_inside);
	} else {
		json_null(j, "symbol");
	}
}

/* tid 0: it is not known; executor -1: it is none. */
static void write_thread(struct json *j, const char *key,
			 const struct futex_thread *t)
{
	static const char *const states[] = {
		[LKDF_PROBE_FREE] = "unknown",
		[LKDF_PROBE_RUNS] = "runs",
		[LKDF_PROBE_PREEMPTED] = "preempted",
		[LKDF_PROBE_BLOCKED] = "blocked",
		[LKDF_PROBE_FUTEX] = "futex",
	};

	json_open_flat(j, key, '{');
	json_int(j, "tid", t->tid);
	json_int(j, "executor", t->tid ? t->executor : -1);
	json_text(j, "state",
		  t->state <= LKDF_PROBE_FUTEX ? states[t->state] : "unknown");
	json_int(j, "state_ns", (int64_t)t->state_ns);
	json_text(j, "preempted_by", t->by);
	json_int(j, "preempted_by_tid", t->by_tid);
	json_int(j, "preempted_by_pid", t->by_tgid);
	json_close(j, '}');
}

static void write_stack(struct json *j, const struct futex_stack *k,
			struct frames *f)
{
	const char *name;
	char word[32];
	uint32_t i;

	json_open(j, NULL, '{');
	json_text(j, "sort", k->sort == LKDF_PROBE_WAITS ? "sleeps" : "body");
	json_text(j, "kind", k->kind);
	snprintf(word, sizeof(word), "0x%" PRIx64, k->word);
	json_text(j, "word", word);
	json_int(j, "stacks", (int64_t)k->count);
	json_open_flat(j, "callers", '[');
	for (i = 0; f && i < LKDF_PROBE_IPS && k->ip[i]; i++) {
		name = frames_name(f, k->ip[i], i == 0);
		if (!name)
			break;
		json_text(j, NULL, name);
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void write_stacks(struct json *j, const struct futex_report *r)
{
	struct frames *f = r->nr_stacks ? frames_open(r->pid) : NULL;
	uint32_t i;

	json_bool(j, "sees_wakers", r->sees_wakers);
	json_bool(j, "sees_stacks", r->sees_stacks);
	json_open(j, "stacks", '[');
	for (i = 0; i < r->nr_stacks; i++)
		write_stack(j, &r->stack[i], f);
	json_close(j, ']');
	frames_close(f);
}

static void write_word(struct json *j, const struct futex_report *r,
		       const struct futex_word *w)
{
	char address[32];
	uint32_t i;

	json_open(j, NULL, '{');
	snprintf(address, sizeof(address), "0x%" PRIx64, w->address);
	json_text(j, "address", address);
	write_where(j, &w->where);
	json_fixed(j, "share", part(w->samples, r->samples), 4);
	json_int(j, "samples", (int64_t)w->samples);
	json_int(j, "wait_samples", (int64_t)w->wait_samples);
	json_int(j, "sleeps", (int64_t)w->blocks);
	json_int(j, "sleep_ns", (int64_t)w->block_ns);
	json_int(j, "asleep", w->nr_asleep);
	write_nodes(j, "wait_nodes", w->wait_nodes);
	write_nodes(j, "wake_nodes", w->wake_nodes);
	write_thread(j, "holder", &w->holder);
	write_thread(j, "waker", &w->waker);
	json_text(j, "waker_kind", w->waker_kind);
	json_int(j, "wakes", (int64_t)w->wakes);
	json_open(j, "kinds", '[');
	for (i = 0; i < w->nr_kinds; i++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "name", w->kind[i].name);
		json_int(j, "samples", (int64_t)w->kind[i].samples);
		json_int(j, "sleeps", (int64_t)w->kind[i].blocks);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

void futex_print_json(const struct futex_report *r, unsigned top)
{
	struct json j;
	uint32_t i;

	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/futex/1");
	json_int(&j, "pid", r->pid);
	json_text(&j, "command", r->command);
	json_fixed(&j, "seconds", r->seconds, 3);
	json_int(&j, "workers", r->nr_workers);
	json_int(&j, "all_workers", r->of_workers);
	json_int(&j, "pool_threads", r->nr_pool);
	json_int(&j, "all_pool_threads", r->of_pool);
	json_int(&j, "lost", (int64_t)r->nr_lost);
	json_int(&j, "missed", (int64_t)r->nr_missed);
	json_int(&j, "hz", r->hz);
	json_int(&j, "samples", (int64_t)r->samples);
	json_int(&j, "futex_samples", (int64_t)r->futex);
	json_int(&j, "own_samples", (int64_t)r->own);
	json_fixed(&j, "futex_share", part(r->futex, r->samples), 4);
	json_open(&j, "words", '[');
	for (i = 0; i < r->nr_words && i < top; i++)
		write_word(&j, r, &r->word[i]);
	json_close(&j, ']');
	write_stacks(&j, r);
	json_close(&j, '}');
	printf("\n");
}
