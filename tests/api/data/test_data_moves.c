/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes that follow their tasks, prefetch, huge pages: what moves when, and
 * that it keeps its value. The nodes are made up: where pages really are is
 * asked in tests/vm/test_moves.c.
 */
#include "tests/api/data/moving.h"

/* ---- MIGRATE ------------------------------------------------------------ */

static int nr_dropped;
static uint64_t dropped_value;

static void note_drop(void *bytes)
{
	nr_dropped++;
	dropped_value = *(uint64_t *)bytes;
}

static void a_rewrite_moves_the_bytes(void)
{
	struct lkdf_data *d =
		DATA(rt, .bytes = BYTES, .name = "rewritten",
		     .flags = LKDF_DATA_MIGRATE, .drop = note_drop);
	uint64_t before = migrated();
	struct look first, second;

	nr_dropped = 0;
	first = writes(0, d, 1);
	is(migrated() - before, 0, "the first writer's bytes stay");
	second = writes(1, d, 2);
	ok(second.at != first.at, "a writer on another node gets new bytes");
	is(migrated() - before, BYTES, "they are counted");
	is(nr_dropped, 1, "the old ones are dropped");
	is(dropped_value, 1, "with what they held");
	first = writes(1, d, 3);
	ok(first.at == second.at, "a second one there writes over them");
	is(reads(0, d).value, 3, "readers find what was written");
	is(lkdf_data_version(d), 3, "three writes are three versions");
	lkdf_data_put(d);
	is(nr_dropped, 2, "the last bytes are dropped with the data");
	is(dropped_value, 3, "with what they held");
}

static void the_second_change_in_a_row_moves(void)
{
	struct lkdf_data *d =
		DATA(rt, .bytes = BYTES, .flags = LKDF_DATA_MIGRATE);
	char *home = writes(0, d, 10).at;

	ok(changes(1, d).at == home, "one change elsewhere: they stay");
	ok(changes(0, d).at == home, "one at home breaks the row");
	ok(changes(1, d).at == home, "one elsewhere again: they stay");
	ok(changes(1, d).at != home, "the second in a row moves them");
	is(reads(1, d).value, 14, "and keeps what they hold");
	lkdf_data_put(d);
}

static void the_second_reader_in_a_row_moves(void)
{
	struct lkdf_data *d =
		DATA(rt, .bytes = BYTES, .flags = LKDF_DATA_MIGRATE);
	uint64_t before = migrated();
	char *home = writes(0, d, 5).at;
	struct look l;

	reads(1, d);
	is(migrated() - before, 0, "one reader elsewhere: they stay");
	ok(reads(1, d).at == home, "the second reads them where they are");
	is(migrated() - before, BYTES, "and has them moved");
	l = reads(1, d);
	ok(l.at != home, "the third finds them moved");
	is(l.value, 5, "as they were");
	ok(!l.is_mixed, "all of them");
	is(lkdf_data_version(d), 1, "which is no new version");
	lkdf_data_put(d);
}

static void others_stay(void)
{
	struct lkdf_data *plain = DATA(rt, .bytes = BYTES), *split, *wrapped;
	static _Alignas(4096) char bytes[BYTES];
	uint64_t before = migrated();
	char *at;

	at = writes(0, plain, 1).at;
	ok(writes(1, plain, 2).at == at, "without the flag nothing moves");
	split = DATA(rt, .bytes = BYTES, .flags = LKDF_DATA_MIGRATE,
		     .home = lkdf_place_node(rt, 0));
	must(lkdf_data_split(split, 4, BYTES / 4));
	at = writes(0, split, 1).at;
	ok(writes(1, split, 2).at == at, "nor what is split");
	wrapped = DATA(rt, .bytes = BYTES, .flags = LKDF_DATA_MIGRATE,
		       .wrap = bytes);
	writes(0, wrapped, 1);
	ok(writes(1, wrapped, 2).at == bytes, "wrapped bytes keep their place");
	is(migrated(), before, "none is counted");
	lkdf_data_put(plain);
	lkdf_data_put(split);
	lkdf_data_put(wrapped);
}

/* A parent, and a child on another node that writes the same. */
struct family {
	struct lkdf_data *d;
	struct look child;
	char *before, *after;
};

static int parent(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_use use = ON(f->d, LKDF_WRITE);

	/* NULL where the use is WEAK. */
	f->before = lkdf_ptr(c, 0);
	f->child.value = 8;
	must(lkdf_spawn_task(c,
			     ATTR(lkdf_task, .kind = fills, .arg = &f->child,
				  .use = &use, .nr_use = 1,
				  .flags = LKDF_PINNED,
				  .place = lkdf_place_node(rt, 1)),
			     NULL));
	if (!f->before)
		return 0;
	must(lkdf_join(c));
	f->after = lkdf_ptr(c, 0);
	return 0;
}

static void children_leave_a_parents_bytes(void)
{
	struct lkdf_kind *k = api_kind(rt, "parent", parent, 0, 0);
	struct family f = { .d = DATA(rt, .bytes = BYTES,
				      .flags = LKDF_DATA_MIGRATE) };
	uint32_t mode;
	char *home = writes(0, f.d, 7).at;

	for (mode = LKDF_RW; mode <= (LKDF_RW | LKDF_WEAK); mode += LKDF_WEAK) {
		struct lkdf_use use = ON(f.d, mode);

		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &f,
				      .use = &use, .nr_use = 1,
				      .flags = LKDF_PINNED,
				      .place = lkdf_place_node(rt, 0)),
				 NULL));
		must(lkdf_scope_wait(rt, NULL, -1));
		if (mode == LKDF_RW)
			ok(f.before == home && f.after == home &&
				   f.child.at == home,
			   "a child writes the parent's bytes where they are");
		else
			ok(f.child.at != home,
			   "below a weak parent they move to the child");
	}
	is(reads(0, f.d).value, 8, "what the child wrote is there");
	lkdf_data_put(f.d);
	lkdf_kind_put(k);
}

static int add_nine(struct lkdf_ctx *c, void *arg)
{
	uint64_t *v = lkdf_ptr(c, 0), i;

	(void)arg;
	for (i = 0; i < WORDS; i++)
		v[i] += 9;
	return 0;
}

/* A writer whose children reduce; it does not touch the bytes itself. */
static int reducing(struct lkdf_ctx *c, void *arg)
{
	struct family *f = arg;
	struct lkdf_use use = ON(f->d, LKDF_REDUCE);
	struct lkdf_kind *k = api_kind(rt, "nine", add_nine, 0, 0);
	int i;

	for (i = 0; i < 2; i++)
		must(lkdf_spawn_task(
			c, ATTR(lkdf_task, .kind = k, .use = &use, .nr_use = 1),
			NULL));
	lkdf_kind_put(k);
	return 0;
}

static void what_is_reduced_onto_is_neutral(void)
{
	struct lkdf_kind *k = api_kind(rt, "reducing", reducing, 0, 0);
	struct lkdf_data *used =
		DATA(rt, .bytes = BYTES, .flags = LKDF_DATA_REPLICATE);
	struct family f = { .d = DATA(rt, .bytes = BYTES, .reduce = add_words,
				      .home = lkdf_place_node(rt, 0),
				      .flags = LKDF_DATA_MIGRATE) };
	uint64_t before = migrated();

	/* The worker there has a block that is not zero: a dropped copy. */
	writes(0, used, 77);
	reads(1, used);
	changes(1, used);
	lkdf_data_put(used);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &f,
			      .use = &ON(f.d, LKDF_WRITE), .nr_use = 1,
			      .flags = LKDF_PINNED,
			      .place = lkdf_place_node(rt, 1)),
			 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	is(migrated() - before, BYTES, "bytes at home move to their writer");
	is(reads(1, f.d).value, 18,
	   "and its children reduce onto neutral ones");
	lkdf_data_put(f.d);
	lkdf_kind_put(k);
}

/* ---- prefetch ----------------------------------------------------------- */

static void prefetch_moves(void)
{
	struct lkdf_data *d = DATA(rt, .bytes = BYTES);
	uint64_t before = migrated();
	char *home = writes(0, d, 6).at;
	struct look l;

	prefetch(d, 1);
	is(migrated() - before, BYTES, "a prefetch moves the bytes");
	l = reads(0, d);
	ok(l.at != home, "which get another address");
	is(l.value, 6, "and keep what they hold");
	prefetch(d, 1);
	is(migrated() - before, BYTES, "a second one finds them there");
	is(lkdf_data_version(d), 1, "there is no new version");
	must(lkdf_data_split(d, 2, BYTES / 2));
	prefetch(d, 0);
	is(migrated() - before, 2 * BYTES, "it moves what is split, too");
	is(reads(0, d).value, 6, "as it was");
	lkdf_data_put(d);
}

static int fails(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return -EIO;
}

static int prefetch_in_body(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_data *d = arg;

	(void)c;
	return lkdf_data_prefetch(d, lkdf_place_node(rt, 1), NULL);
}

static void prefetch_is_refused_or_harmless(void)
{
	struct lkdf_place *p = lkdf_place_node(rt, 1);
	struct lkdf_kind *k = api_kind(rt, "fails", fails, 0, 0);
	struct lkdf_kind *in = api_kind(rt, "in", prefetch_in_body, 0, 0);
	struct lkdf_data *d = DATA(rt, .bytes = BYTES), *once;
	struct lkdf_event done;

	is(lkdf_data_prefetch(d, p, NULL), -ENODATA, "nobody has written it");
	is(lkdf_data_prefetch(NULL, p, NULL), -EINVAL, "no data");
	is(lkdf_data_prefetch(d, NULL, NULL), -EINVAL, "no place");
	once = DATA(rt, .bytes = 8, .flags = LKDF_DATA_ONCE);
	is(lkdf_data_prefetch(once, p, NULL), -EINVAL, "a dataflow variable");
	has(lkdf_errmsg(), "LKDF_DATA_ONCE", "by name");
	lkdf_data_put(once);
	writes(0, d, 1);
	must(submit_on(rt, in, d, ON(d, LKDF_RW), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	is(reads(1, d).value, 1, "a body may prefetch what it uses");
	must(submit_on(rt, k, NULL, ON(d, LKDF_RW), NULL));
	must(lkdf_data_prefetch(d, lkdf_place_node(rt, 0), &done));
	is(lkdf_event_wait(done, -1), 0, "behind a failure it is done");
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "the failure is told");
	is(lkdf_data_acquire(d, LKDF_READ, -1, NULL), -EIO,
	   "and the data is poisoned as before");
	writes(1, d, 2);
	is(reads(0, d).value, 2, "until it is written");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(in);
}

/* ---- HUGE, interleaved, refusals ---------------------------------------- */

/* Whether huge pages were asked for at an address; -1: nobody says. */
static int is_advised(const void *at)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long start, end;
	bool is_here = false;
	int found = -1;
	char line[512];

	while (f && found < 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			is_here = (uintptr_t)at >= start && (uintptr_t)at < end;
		if (is_here && !strncmp(line, "VmFlags:", 8))
			found = strstr(line, " hg") != NULL;
	}
	if (f)
		fclose(f);
	return found;
}

static int advised(uint64_t bytes, uint32_t flags, void **at)
{
	struct lkdf_data *d = DATA(rt, .bytes = bytes, .flags = flags);
	int is;

	must(lkdf_data_acquire(d, LKDF_WRITE, -1, at));
	is = is_advised(*at);
	must(lkdf_data_release(d));
	lkdf_data_put(d);
	return is;
}

static void huge_pages_are_asked_for(void)
{
	const uint64_t bytes = 6 << 20;
	void *at;

	if (advised(bytes, LKDF_DATA_HUGE, &at) < 0) {
		skip("HUGE", "the kernel tells no flags of mappings");
		return;
	}
	is(advised(bytes, LKDF_DATA_HUGE, &at), 1, "HUGE asks for huge pages");
	is((uintptr_t)at % (2 << 20), 0, "on a multiple of 2 MiB");
	is(advised(bytes, 0, &at), 0, "others do not, the block is not reused");
	is(advised(2 << 20, LKDF_DATA_HUGE, &at), 0, "nor do 2 MiB");
	is(advised(bytes, LKDF_DATA_HUGE | LKDF_DATA_MIGRATE, &at), 1,
	   "it goes together with MIGRATE");
}

static void interleaved_bytes_are_wrapped(void)
{
	struct lkdf_data *d;
	void *at;

	must(lkdf_alloc(lkdf_place_node(rt, 0), LKDF_MEM_INTERLEAVED, BYTES, 0,
			"spread", &at));
	d = DATA(rt, .bytes = BYTES, .wrap = at);
	ok(writes(1, d, 2).at == at, "interleaved memory is wrapped");
	is(reads(0, d).value, 2, "and used as any");
	lkdf_data_put(d);
	lkdf_free(rt, at);
}

static void never_means_never(void)
{
	void *at;

	start("topology=numa:2 core:2,memory_huge=never");
	ok(advised(6 << 20, LKDF_DATA_HUGE, &at) <= 0,
	   "where the option says never HUGE does not ask");
	stop();
}

static void one_node_is_enough(void)
{
	static _Alignas(4096) char bytes[BYTES];
	struct lkdf_data *d, *wrapped;
	char *home;

	start("topology=numa:1 core:2");
	d = DATA(rt, .bytes = BYTES,
		 .flags = LKDF_DATA_MIGRATE | LKDF_DATA_REPLICATE);
	wrapped = DATA(rt, .bytes = BYTES, .wrap = bytes);
	home = writes(0, d, 3).at;
	prefetch(d, 0);
	prefetch(wrapped, 0);
	ok(reads(0, d).at == home, "on one node a prefetch moves nothing");
	is(migrated(), 0, "which is what is counted");
	lkdf_data_put(d);
	lkdf_data_put(wrapped);
	stop();
}

static void some_flags_exclude_each_other(void)
{
	struct lkdf_data *d;
	char bytes[64];

	is(lkdf_data_create(rt,
			    ATTR(lkdf_data_attr, .bytes = 64, .wrap = bytes,
				 .flags = LKDF_DATA_HUGE),
			    &d),
	   -EINVAL, "HUGE with wrapped bytes");
	is(lkdf_data_create(rt,
			    ATTR(lkdf_data_attr, .bytes = 64,
				 .flags = LKDF_DATA_ONCE | LKDF_DATA_MIGRATE),
			    &d),
	   -EINVAL, "MIGRATE with ONCE");
	is(lkdf_data_create(rt,
			    ATTR(lkdf_data_attr, .bytes = 64,
				 .flags = LKDF_DATA_ONCE | LKDF_DATA_REPLICATE),
			    &d),
	   -EINVAL, "REPLICATE with ONCE");
	is(lkdf_data_create(
		   rt, ATTR(lkdf_data_attr, .bytes = 64, .flags = 1 << 5), &d),
	   -EINVAL, "an unknown flag");
}

int main(void)
{
	tap_start(60);
	start("topology=numa:2 core:2");
	a_rewrite_moves_the_bytes();
	the_second_change_in_a_row_moves();
	the_second_reader_in_a_row_moves();
	others_stay();
	children_leave_a_parents_bytes();
	prefetch_moves();
	prefetch_is_refused_or_harmless();
	huge_pages_are_asked_for();
	interleaved_bytes_are_wrapped();
	some_flags_exclude_each_other();
	stop();
	start("topology=numa:2 core:1");
	what_is_reduced_onto_is_neutral();
	stop();
	never_means_never();
	one_node_is_enough();
	return tap_end();
}
