/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Errors go along with data: who reads what a failed task should have written
 * is skipped, until somebody writes it anew. Random programs of which steps
 * fail are in test_data_failing.c.
 */
#include "tests/api/heard.h"
#include "tests/api/using.h"

static struct {
	struct lkdf_kind *fails, *adds, *counts, *gate;
} kinds;

static int submit_in(struct lkdf *rt, struct lkdf_scope *s, struct lkdf_kind *k,
		     const void *arg, const struct lkdf_use *use, uint32_t nr)
{
	return lkdf_submit(rt, s,
			   ATTR(lkdf_task, .kind = k, .arg = arg, .use = use,
				.nr_use = nr),
			   NULL);
}

/* Argument: the error. */
static int fail_with(struct lkdf_ctx *c, void *arg)
{
	return lkdf_fail(c, *(int *)arg, "fails on purpose");
}

static void make_kinds(struct lkdf *rt)
{
	kinds.fails = api_kind(rt, "fails", fail_with, sizeof(int), 0);
	kinds.adds = api_kind(rt, "adds", add_one, 0, 0);
	kinds.counts = api_kind(rt, "counts", api_count, 0, 0);
	kinds.gate = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
}

static void put_kinds(void)
{
	lkdf_kind_put(kinds.fails);
	lkdf_kind_put(kinds.adds);
	lkdf_kind_put(kinds.counts);
	lkdf_kind_put(kinds.gate);
}

/* Readers of what failed are skipped, and theirs, until a WRITE. */
static void poison_travels_and_heals(struct lkdf *rt)
{
	struct lkdf_data *x = number(rt, "x", &(uint64_t){ 1 });
	struct lkdf_data *y = number(rt, "y", &(uint64_t){ 1 });
	struct lkdf_data *z = number(rt, "z", &(uint64_t){ 1 });
	struct lkdf_use xy[] = { ON(x, LKDF_READ), ON(y, LKDF_RW) };
	struct lkdf_use yz[] = { ON(y, LKDF_READ), ON(z, LKDF_WRITE) };
	struct lkdf_error e = { .size = sizeof(e) };
	atomic_int nr = 0, nr_after = 0;
	struct lkdf_scope *s;
	struct lkdf_event done;

	must(lkdf_scope_create(rt, NULL, &s));
	must(submit_in(rt, s, kinds.fails, &(int){ -EIO }, &ON(x, LKDF_WRITE),
		       1));
	must(submit_in(rt, s, kinds.counts, &nr, xy, 2));
	must(submit_in(rt, s, kinds.counts, &nr, yz, 2));
	must(submit_in(rt, s, kinds.counts, &nr, &ON(z, LKDF_READ), 1));
	must(submit_in(rt, s, kinds.counts, &nr, &ON(x, LKDF_RW), 1));
	must(lkdf_submit(rt, s,
			 ATTR(lkdf_task, .kind = kinds.counts, .arg = &nr,
			      .use = &ON(x, LKDF_COMMUTE), .nr_use = 1),
			 &done));
	while (lkdf_event_error(done, &e) == 1)
		api_nap_ns(50000);
	is(e.err, -EIO, "a skipped task has the first error");
	has(e.task, "fails", "with the task that failed");
	has(e.why, "on purpose", "and its text");
	is(lkdf_event_wait(done, -1), -EIO, "its event, too");
	is(lkdf_scope_wait(rt, s, -1), -EIO, "the scope has it");
	is(nr, 0, "no reader has run");
	must(lkdf_scope_error(rt, s, &e));
	is(e.nr_failed, 1, "1 has failed");
	is(e.nr_skipped, 5, "5 were skipped");
	is(e.nr_cancelled, 0, "none was cancelled");
	is(lkdf_data_version(x) + lkdf_data_version(y) + lkdf_data_version(z),
	   3, "nothing counts as a write");
	must(submit_in(rt, s, kinds.counts, &nr_after, &ON(x, LKDF_WRITE), 1));
	must(submit_in(rt, s, kinds.counts, &nr_after, &ON(x, LKDF_READ), 1));
	is(lkdf_scope_wait(rt, s, -1), 0, "a WRITE heals");
	is(nr_after, 2, "readers run again");
	must(submit_in(rt, s, kinds.counts, &nr_after, xy, 2));
	is(lkdf_scope_wait(rt, s, -1), -EIO, "others are as they were");
	is(nr_after, 2, "until they are written");
	lkdf_scope_put(s);
	lkdf_data_put(x);
	lkdf_data_put(y);
	lkdf_data_put(z);
	must(lkdf_scope_wait(rt, NULL, -1));
}

static void a_failed_write_of_poison_has_its_own_error(struct lkdf *rt)
{
	struct lkdf_data *x = number(rt, NULL, NULL);

	must(submit_on(rt, kinds.fails, &(int){ -EIO }, ON(x, LKDF_WRITE),
		       NULL));
	must(submit_on(rt, kinds.fails, &(int){ -EDOM }, ON(x, LKDF_WRITE),
		       NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "the scope has the first");
	ok(lkdf_data_acquire(x, LKDF_READ, -1, NULL) < 0,
	   "what two have failed to write has an error");
	is(lkdf_data_version(x), 0, "and no version");
	lkdf_data_put(x);
}

static void acquire_tells_the_error(struct lkdf *rt)
{
	struct lkdf_data *x = number(rt, NULL, NULL);
	uint64_t *at = NULL;

	must(submit_on(rt, kinds.fails, &(int){ -EILSEQ }, ON(x, LKDF_WRITE),
		       NULL));
	is(lkdf_data_acquire(x, LKDF_READ, -1, (void **)&at), -EILSEQ,
	   "acquire gives the error of the failed writer");
	has(lkdf_errmsg(), "on purpose", "with its text");
	ok(!at, "out is untouched");
	is(lkdf_data_release(x), -EPERM, "the thread holds nothing");
	is(lkdf_data_acquire(x, LKDF_RW, -1, (void **)&at), -EILSEQ,
	   "RW reads, too");
	is(lkdf_data_acquire(x, LKDF_WRITE, -1, (void **)&at), 0,
	   "WRITE does not");
	*at = 5;
	must(lkdf_data_release(x));
	is(lkdf_data_acquire(x, LKDF_READ, -1, (void **)&at), 0, "it heals");
	is(*at, 5, "with its value");
	must(lkdf_data_release(x));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the acquisition told the error");
	lkdf_data_put(x);
}

/* Taken before the inputs are looked at, and given back by who is skipped. */
static void a_limit_survives_a_skip(struct lkdf *rt)
{
	struct lkdf_limit_use limited = { .tokens = 1 };
	struct lkdf_data *x = number(rt, NULL, NULL);
	struct lkdf_event done;
	struct lkdf_kind *k;
	atomic_int nr = 0;
	int i;

	must(lkdf_limit_create(rt, 1, &limited.limit));
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "limited",
				   .fn = api_count, .limit = &limited,
				   .nr_limit = 1),
			      &k));
	must(submit_on(rt, kinds.fails, &(int){ -EIO }, ON(x, LKDF_WRITE),
		       NULL));
	for (i = 0; i < 5; i++)
		must(submit_on(rt, k, &nr, ON(x, LKDF_READ), NULL));
	must(submit_on(rt, k, &nr, ON(x, LKDF_WRITE), NULL));
	must(submit_on(rt, k, &nr, ON(x, LKDF_READ), &done));
	is(lkdf_event_wait(done, -1), 0,
	   "a limit is there after skipped tasks");
	is(nr, 2, "those that were not have run");
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "the failure is told");
	lkdf_data_put(x);
	lkdf_kind_put(k);
	lkdf_limit_put(limited.limit);
}

static int refuse_to_add(void *acc, const void *x, uint64_t bytes)
{
	(void)acc;
	(void)x;
	(void)bytes;
	return -ERANGE;
}

static void a_failed_reduction_is_poison(struct lkdf *rt)
{
	struct lkdf_data *x = NULL;
	struct lkdf_event done;
	atomic_int nr = 0;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = 8,
				   .init = &(uint64_t){ 1 }, .name = "summed",
				   .reduce = refuse_to_add),
			      &x));
	must(submit_on(rt, kinds.adds, NULL, ON(x, LKDF_REDUCE), NULL));
	must(submit_on(rt, kinds.adds, NULL, ON(x, LKDF_REDUCE), NULL));
	must(submit_on(rt, kinds.counts, &nr, ON(x, LKDF_READ), &done));
	is(lkdf_event_wait(done, -1), -ERANGE,
	   "reduce() fails: the reader, too");
	is(lkdf_data_acquire(x, LKDF_READ, -1, NULL), -ERANGE, "and acquire");
	has(lkdf_errmsg(), "summed", "by its name");
	must(submit_on(rt, kinds.counts, &nr, ON(x, LKDF_WRITE), NULL));
	must(submit_on(rt, kinds.counts, &nr, ON(x, LKDF_READ), &done));
	is(lkdf_event_wait(done, -1), 0, "a WRITE heals it");
	is(nr, 2, "and readers run");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_data_put(x);
}

/* Whoever reduces after a failure is skipped; nothing of it is combined. */
static void a_failed_reducer_is_poison(struct lkdf *rt)
{
	struct lkdf_data *x = NULL;
	struct lkdf_event done;
	uint64_t *at;
	int i;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = 8,
				   .init = &(uint64_t){ 1 },
				   .reduce = add_words),
			      &x));
	for (i = 0; i < 60; i++)
		must(i % 3 ? submit_on(rt, kinds.adds, NULL, ON(x, LKDF_REDUCE),
				       NULL)
			   : submit_on(rt, kinds.fails, &(int){ -EIO },
				       ON(x, LKDF_REDUCE), NULL));
	must(submit_on(rt, kinds.adds, NULL, ON(x, LKDF_RW), &done));
	is(lkdf_event_wait(done, -1), -EIO, "reducers fail: RW is skipped");
	must(lkdf_data_acquire(x, LKDF_WRITE, -1, (void **)&at));
	*at = 10;
	must(lkdf_data_release(x));
	must(submit_on(rt, kinds.adds, NULL, ON(x, LKDF_REDUCE), NULL));
	is(lkdf_data_acquire(x, LKDF_READ, -1, (void **)&at), 0,
	   "a WRITE heals it");
	is(*at, 11, "and nothing of before is added later");
	must(lkdf_data_release(x));
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_data_put(x);
}

/*
 * ALWAYS
 */

struct seen {
	int error[3], has_bytes[3], nr;
};

static int look_at_inputs(struct lkdf_ctx *c, void *arg)
{
	struct seen *seen = *(struct seen **)arg;
	unsigned i;

	for (i = 0; i < 3; i++) {
		seen->error[i] = lkdf_input_error(c, i);
		seen->has_bytes[i] = lkdf_ptr(c, i) != NULL;
	}
	seen->nr++;
	return 0;
}

static int make_always(struct lkdf *rt, struct lkdf_kind **out)
{
	return lkdf_kind_create(
		rt,
		ATTR(lkdf_kind_attr, .name = "always", .fn = look_at_inputs,
		     .arg_size = sizeof(struct seen *), .flags = LKDF_ALWAYS),
		out);
}

static void always_runs_and_sees_the_error(struct lkdf *rt)
{
	struct lkdf_data *x = number(rt, NULL, &(uint64_t){ 1 });
	struct lkdf_data *y = number(rt, NULL, &(uint64_t){ 1 });
	struct lkdf_data *z = number(rt, NULL, NULL);
	struct lkdf_use use[] = { ON(x, LKDF_READ), ON(y, LKDF_RW),
				  ON(z, LKDF_WRITE) };
	struct seen seen_ = { .nr = 0 }, *seen = &seen_;
	struct lkdf_kind *k;
	int rc = make_always(rt, &k);

	if (rc == -EOPNOTSUPP) {
		skip("ALWAYS with data", "not built yet");
		goto put;
	}
	must(rc);
	must(submit_on(rt, kinds.fails, &(int){ -ERANGE }, ON(y, LKDF_RW),
		       NULL));
	must(submit_in(rt, NULL, k, &seen, use, 3));
	is(lkdf_scope_wait(rt, NULL, -1), -ERANGE, "the failure is told");
	is(seen->nr, 1, "ALWAYS: it runs");
	is(seen->error[0], 0, "ALWAYS: the first input is good");
	is(seen->error[1], -ERANGE, "ALWAYS: the second has the error");
	is(seen->error[2], 0, "ALWAYS: what it writes has none");
	ok(seen->has_bytes[0] && seen->has_bytes[1] && seen->has_bytes[2],
	   "ALWAYS: all have bytes");
	is(lkdf_data_version(z), 1, "ALWAYS: it has written");
	is(lkdf_data_acquire(z, LKDF_READ, -1, NULL), 0,
	   "ALWAYS: what it writes is good");
	must(lkdf_data_release(z));
	is(lkdf_data_acquire(y, LKDF_READ, -1, NULL), 0,
	   "ALWAYS: what it mends is good again");
	must(lkdf_data_release(y));
	lkdf_kind_put(k);
put:
	lkdf_data_put(x);
	lkdf_data_put(y);
	lkdf_data_put(z);
}

/*
 * Cancelling
 */

/* before: uses of the scope that wait for the gate when the cancel comes. */
static void a_cancelled_scope_lets_go(struct lkdf *rt, uint32_t mode)
{
	struct lkdf_data *x = number(rt, NULL, &(uint64_t){ 1 });
	struct lkdf_data *y = number(rt, NULL, &(uint64_t){ 1 });
	struct lkdf_use use[] = { ON(x, mode), ON(y, mode) };
	bool writes = mode != LKDF_READ;
	atomic_int nr = 0, nr_after = 0;
	struct lkdf_error e = { .size = sizeof(e) };
	struct gate gate = { 0 };
	struct lkdf_event done;
	struct lkdf_scope *s;
	int i;

	must(lkdf_scope_create(rt, NULL, &s));
	must(submit_on(rt, kinds.gate, &gate, ON(x, LKDF_RW), NULL));
	for (i = 0; i < 100; i++)
		must(submit_in(rt, s, kinds.counts, &nr, use, 2));
	must(submit_on(rt, kinds.counts, &nr_after, ON(x, LKDF_READ), &done));
	api_until(&gate.entered);
	is(lkdf_scope_cancel(rt, s, -ETIME), 0, "a scope with %s is cancelled",
	   mode == LKDF_READ ? "READ"
	   : mode == LKDF_RW ? "RW"
			     : "COMMUTE");
	atomic_store(&gate.open, 1);
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "it ends");
	is(nr, 0, "nothing of it has run");
	must(lkdf_scope_error(rt, s, &e));
	is(e.nr_cancelled + e.nr_skipped, 100, "each is counted once");
	is(lkdf_event_wait(done, -1), writes ? -ETIME : 0,
	   "a reader behind it %s", writes ? "has the error" : "runs");
	must(submit_on(rt, kinds.counts, &nr_after, ON(x, LKDF_WRITE), NULL));
	must(submit_on(rt, kinds.counts, &nr_after, ON(y, LKDF_WRITE), NULL));
	must(submit_on(rt, kinds.adds, NULL, ON(y, LKDF_RW), &done));
	is(lkdf_event_wait(done, -1), 0, "after a WRITE all goes on");
	must(submit_on(rt, kinds.adds, NULL, ON(x, LKDF_RW), &done));
	is(lkdf_event_wait(done, -1), 0, "with the other, too");
	lkdf_scope_wait(rt, NULL, -1);
	is(nr_after, writes ? 2 : 3, "whoever should run has run");
	lkdf_scope_put(s);
	lkdf_data_put(x);
	lkdf_data_put(y);
}

/*
 * What nobody has written
 */

static void unwritten_is_refused_by_name(struct lkdf *rt)
{
	static const uint32_t modes[] = { LKDF_READ, LKDF_RW };
	struct lkdf_data *x = number(rt, "nobody's", NULL);
	struct lkdf_data *y = number(rt, NULL, &(uint64_t){ 1 });
	struct lkdf_use use[] = { ON(y, LKDF_RW), ON(x, 0) };
	atomic_int nr = 0;
	size_t i;

	for (i = 0; i < LENGTH(modes); i++) {
		use[1].mode = modes[i];
		is(submit_in(rt, NULL, kinds.counts, &nr, use, 2), -ENODATA,
		   "%s of what nobody has written",
		   modes[i] == LKDF_READ ? "READ" : "RW");
		has(lkdf_errmsg(), "nobody's", "is refused by name");
	}
	must(submit_on(rt, kinds.counts, &nr, ON(y, LKDF_RW), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "it has changed nothing");
	is(nr, 1, "and nothing of it has run");
	must(submit_on(rt, kinds.counts, &nr, ON(x, LKDF_WRITE), NULL));
	use[1].mode = LKDF_READ;
	is(submit_in(rt, NULL, kinds.counts, &nr, use, 2), 0,
	   "behind a writer it is taken");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end");
	is(nr, 3, "all have run");
	lkdf_data_put(x);
	lkdf_data_put(y);
}

/* A part is written, the others are not. */
static void an_unwritten_part_is_refused(struct lkdf *rt)
{
	struct lkdf_use use = { .mode = LKDF_WRITE, .part = 1 };
	struct lkdf_data *x = NULL;
	atomic_int nr = 0;

	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = 64, .name = "half"), &x));
	must(lkdf_data_split(x, 2, 32));
	use.data = x;
	must(submit_on(rt, kinds.counts, &nr, use, NULL));
	use.mode = LKDF_READ;
	is(submit_on(rt, kinds.counts, &nr, use, NULL), 0,
	   "a written part is read");
	use.part = 2;
	is(submit_on(rt, kinds.counts, &nr, use, NULL), -ENODATA,
	   "one that is not is refused");
	has(lkdf_errmsg(), "half", "by name");
	use.part = 0;
	is(submit_on(rt, kinds.counts, &nr, use, NULL), -ENODATA,
	   "so is the whole");
	use.part = 2;
	use.mode = LKDF_WRITE;
	must(submit_on(rt, kinds.counts, &nr, use, NULL));
	use.part = 0;
	use.mode = LKDF_READ;
	is(submit_on(rt, kinds.counts, &nr, use, NULL), 0,
	   "until all are written");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end");
	is(nr, 4, "all have run");
	lkdf_data_put(x);
}

/*
 * What nobody has looked at
 */

static int close_when_idle(struct lkdf *rt)
{
	int rc;

	while ((rc = lkdf_close(rt)) == -EBUSY)
		api_nap_ns(100000);
	return rc;
}

static int nr_said_of(const char *part)
{
	int i, nr = 0;

	for (i = 0; i < said.nr; i++)
		nr += strstr(said.text[i], part) != NULL;
	return nr;
}

static void close_tells_what_nobody_has_seen(bool is_seen)
{
	struct lkdf *rt = open_heard("workers=2");
	struct lkdf_data *x;

	make_kinds(rt);
	x = number(rt, NULL, NULL);
	must(submit_on(rt, kinds.fails, &(int){ -EIO }, ON(x, LKDF_WRITE),
		       NULL));
	if (is_seen)
		is(lkdf_data_acquire(x, LKDF_READ, -1, NULL), -EIO,
		   "acquire looks at the error");
	lkdf_data_put(x);
	put_kinds();
	is(close_when_idle(rt), 0, "the runtime closes");
	if (is_seen)
		is(nr_said_of("on purpose"), 0, "and has nothing to tell");
	else
		ok(nr_said_of("on purpose"), "and tells what nobody has seen");
}

int main(void)
{
	static const char *const options[] = { "workers=1", "workers=2",
					       "workers=8", "serial=yes" };
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	for (i = 0; i < LENGTH(options); i++) {
		printf("# %s\n", options[i]);
		rt = api_open(options[i]);
		make_kinds(rt);
		poison_travels_and_heals(rt);
		a_failed_write_of_poison_has_its_own_error(rt);
		acquire_tells_the_error(rt);
		a_limit_survives_a_skip(rt);
		a_failed_reduction_is_poison(rt);
		a_failed_reducer_is_poison(rt);
		always_runs_and_sees_the_error(rt);
		/* Here bodies wait for this thread. */
		if (strcmp(options[i], "serial=yes")) {
			a_cancelled_scope_lets_go(rt, LKDF_READ);
			a_cancelled_scope_lets_go(rt, LKDF_RW);
			a_cancelled_scope_lets_go(rt, LKDF_COMMUTE);
		}
		unwritten_is_refused_by_name(rt);
		an_unwritten_part_is_refused(rt);
		put_kinds();
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	close_tells_what_nobody_has_seen(false);
	close_tells_what_nobody_has_seen(true);
	return tap_end();
}
