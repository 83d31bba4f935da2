/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The life of a data: names, references, bytes and who owns them, versions,
 * the end.
 */
#include "tests/api/heard.h"
#include "tests/api/using.h"

#define MIB (1ull << 20)

/* Names */

static void names_find_data(struct lkdf *rt)
{
	struct lkdf_data *d = DATA(rt, .bytes = 8, .name = "first");
	struct lkdf_data *e = DATA(rt, .bytes = 8, .name = "second"), *f = NULL;
	char longest[65];

	is(lkdf_data_find(rt, "first", &f), 0, "a data is found by name");
	ok(f == d, "it is this one");
	lkdf_data_put(f);
	is(lkdf_data_find(rt, "second", &f), 0, "the other, too");
	ok(f == e, "it is that one");
	f = NULL;
	is(lkdf_data_find(rt, "third", &f), -ENOENT, "an unknown name");
	has(lkdf_errmsg(), "third", "is in the text");
	ok(f == NULL, "out is untouched");
	is(lkdf_data_find(rt, "", &f), -EINVAL, "no name is refused");
	is(lkdf_data_find(rt, NULL, &f), -EINVAL, "NULL is refused");
	is(lkdf_data_create(
		   rt, ATTR(lkdf_data_attr, .bytes = 8, .name = "first"), &f),
	   -EEXIST, "a name that is taken");
	has(lkdf_errmsg(), "first", "is in the text");
	ok(f == NULL, "out is untouched");
	/* The one that was found still holds the name. */
	lkdf_data_put(e);
	is(lkdf_data_find(rt, "second", &f), 0, "a reference keeps it");
	lkdf_data_put(f);
	lkdf_data_put(f);
	is(lkdf_data_find(rt, "second", &f), -ENOENT, "the last one does not");
	e = DATA(rt, .bytes = 8, .name = "second");
	ok(e != NULL, "then the name is free again");
	memset(longest, 'n', 64);
	longest[64] = 0;
	is(lkdf_data_create(
		   rt, ATTR(lkdf_data_attr, .bytes = 8, .name = longest), &f),
	   -EINVAL, "64 bytes of name are too many");
	f = DATA(rt, .bytes = 8, .name = longest + 1);
	ok(f != NULL, "63 are not");
	lkdf_data_put(f);
	lkdf_data_put(d);
	lkdf_data_put(e);
	lkdf_data_put(NULL);
}

/* References and the end */

static struct {
	atomic_int nr;
	atomic_ullong value; /* of one that was dropped */
} dropped;

static void note_drop(void *bytes)
{
	atomic_fetch_add(&dropped.nr, 1);
	dropped.value = *(uint64_t *)bytes;
}

static void drop_comes_once(struct lkdf *rt)
{
	struct lkdf_data *d;

	dropped.nr = 0;
	d = DATA(rt, .bytes = 8, .init = &(uint64_t){ 5 }, .drop = note_drop);
	ok(lkdf_data_get(d) == d, "get gives the data");
	lkdf_data_put(d);
	is(dropped.nr, 0, "one reference is left");
	is(lkdf_data_version(d), 1, "it is as it was");
	lkdf_data_put(d);
	must(lkdf_scope_wait(rt, NULL, -1));
	is(dropped.nr, 1, "drop comes once, with the last");
	is(dropped.value, 5, "and sees the bytes");
}

static atomic_int nr_reads;

static int read_one(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_reads, *(uint64_t *)lkdf_ptr(c, 0) != 0);
	return 0;
}

/* Of each three uses one writes. */
static void the_end_waits_for_pending_uses(struct lkdf *rt)
{
	struct gate gate = { 0 }, *g = &gate;
	struct lkdf_kind *gates, *adds, *reads;
	struct lkdf_data *d, *found = NULL;
	int i;

	dropped.nr = 0;
	nr_reads = 0;
	d = DATA(rt, .bytes = 8, .init = &(uint64_t){ 1 }, .drop = note_drop,
		 .name = "going");
	gates = api_kind(rt, "gate", pass_gate, 0, LKDF_BLOCKING);
	adds = api_kind(rt, "adds", add_one, 0, 0);
	reads = api_kind(rt, "reads", read_one, 0, 0);
	must(submit_on(rt, gates, g, ON(d, LKDF_RW), NULL));
	for (i = 0; i < 1200; i++)
		must(i % 3 ? submit_on(rt, reads, NULL, ON(d, LKDF_READ), NULL)
			   : submit_on(rt, adds, NULL, ON(d, LKDF_RW), NULL));
	lkdf_data_put(d);
	is(dropped.nr, 0, "a data with 1201 uses pending is put");
	is(lkdf_data_find(rt, "going", &found), -ENOENT, "and has no name");
	atomic_store(&g->open, 1);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all uses end");
	is(nr_reads, 800, "all readers have read");
	is(dropped.nr, 1, "then it is dropped, once");
	is(dropped.value, 401, "after all writers");
	lkdf_kind_put(gates);
	lkdf_kind_put(adds);
	lkdf_kind_put(reads);
}

/* Many uses of many data end at the same time as the data. */
static void ends_and_uses_race(struct lkdf *rt)
{
	struct lkdf_kind *reads = api_kind(rt, "reads", read_one, 0, 0);
	int rounds = HAS_SANITIZER ? 400 : 4000, i, j;
	struct lkdf_use use[3];

	dropped.nr = 0;
	nr_reads = 0;
	for (i = 0; i < rounds; i++) {
		for (j = 0; j < 3; j++)
			use[j] = ON(DATA(rt, .bytes = 8,
					 .init = &(uint64_t){ 1 },
					 .drop = note_drop),
				    LKDF_READ);
		for (j = 0; j < 12; j++)
			must(lkdf_submit(rt, NULL,
					 ATTR(lkdf_task, .kind = reads,
					      .use = use + j % 3,
					      .nr_use = 3u - (unsigned)j % 3),
					 NULL));
		for (j = 0; j < 3; j++)
			lkdf_data_put(use[j].data);
	}
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%d times 3 data end in use",
	   rounds);
	is(nr_reads, 12 * rounds, "each reader has read");
	is(dropped.nr, 3 * rounds, "each data is dropped once");
	lkdf_kind_put(reads);
}

/* Bytes */

static void addresses_belong_to_data(struct lkdf *rt)
{
	static _Alignas(64) char mine[256];
	struct lkdf_data *d = DATA(rt, .bytes = 100, .init = mine);
	struct lkdf_data *w = DATA(rt, .bytes = 128, .wrap = mine + 64);
	struct lkdf_data *f = NULL;
	char *at;

	must(lkdf_data_acquire(d, LKDF_READ, -1, (void **)&at));
	is(lkdf_data_at(rt, at, &f), 0, "the first byte is the data's");
	ok(f == d, "this data's");
	lkdf_data_put(f);
	is(lkdf_data_at(rt, at + 99, &f), 0, "the last byte, too");
	ok(f == d, "this data's");
	lkdf_data_put(f);
	f = NULL;
	is(lkdf_data_at(rt, at + 100, &f), -ENOENT, "the next is nobody's");
	is(lkdf_data_at(rt, at - 1, &f), -ENOENT, "nor is the one before");
	is(lkdf_data_at(rt, &f, &f), -ENOENT, "nor is one of the stack");
	is(lkdf_data_at(rt, NULL, &f), -EINVAL, "NULL is refused");
	ok(f == NULL, "out is untouched");
	is(lkdf_data_at(rt, mine + 64, &f), 0, "wrapped bytes are found");
	ok(f == w, "as their data");
	lkdf_data_put(f);
	is(lkdf_data_at(rt, mine + 63, &f), -ENOENT, "not those before");
	is(lkdf_data_at(rt, mine + 192, &f), -ENOENT, "not those behind");
	must(lkdf_data_release(d));
	lkdf_data_put(w);
	is(lkdf_data_at(rt, mine + 64, &f), -ENOENT, "nor after the end");
	lkdf_data_put(d);
}

static int check_align(struct lkdf_ctx *c, void *arg)
{
	uint64_t align = *(uint64_t *)arg;
	char *at = lkdf_ptr(c, 0);

	at[0] = at[99] = 1;
	return (uintptr_t)at % align
		       ? lkdf_fail(c, -EPROTO, "%p is not aligned to %llu",
				   (void *)at, (unsigned long long)align)
		       : 0;
}

static void bytes_are_aligned(struct lkdf *rt)
{
	uint64_t align, want;
	struct lkdf_kind *k;
	struct lkdf_event done;
	struct lkdf_data *d;
	void *at;

	k = api_kind(rt, "aligned", check_align, sizeof(align), 0);
	for (align = 0; align <= 2 * MIB; align = align ? align * 2 : 1) {
		if (align > 4096 && align < 2 * MIB)
			continue;
		want = align ? align : 64;
		d = DATA(rt, .bytes = 100, .align = align);
		must(submit_on(rt, k, &want, ON(d, LKDF_WRITE), &done));
		is(lkdf_event_wait(done, -1), 0, "aligned to %llu in a body",
		   (unsigned long long)align);
		must(lkdf_data_acquire(d, LKDF_READ, -1, &at));
		is((uintptr_t)at % want, 0, "and when acquired");
		must(lkdf_data_release(d));
		lkdf_data_put(d);
	}
	lkdf_kind_put(k);
}

#define refused(rt, part, what, ...)                                       \
	do {                                                               \
		struct lkdf_data *out_ = NULL;                             \
		is(lkdf_data_create(rt, ATTR(lkdf_data_attr, __VA_ARGS__), \
				    &out_),                                \
		   -EINVAL, "%s is refused", what);                        \
		has(lkdf_errmsg(), part, "with its value");                \
		ok(out_ == NULL, "out is untouched");                      \
	} while (0)

static void attributes_are_checked(struct lkdf *rt)
{
	static _Alignas(4096) char mine[256];
	struct lkdf_data *d = NULL;

	refused(rt, "0", "size 0", .bytes = 0);
	refused(rt, "1099511627777", "size 2^40 + 1",
		.bytes = (1ull << 40) + 1);
	refused(rt, "3", "alignment 3", .bytes = 8, .align = 3);
	refused(rt, "2147483648", "alignment 2^31", .bytes = 8,
		.align = 1ull << 31);
	refused(rt, "0x40000", "an unknown flag", .bytes = 8, .flags = 0x40000);
	refused(rt, "wrap", "a wrap at 8 modulo 64", .bytes = 8, .align = 64,
		.wrap = mine + 8);
	refused(rt, "wrap", "a wrap at 64 modulo 128", .bytes = 8, .align = 128,
		.wrap = mine + 64);
	is(lkdf_data_create(rt, NULL, &d), -EINVAL, "no attributes");
	is(lkdf_data_create(rt, ATTR(lkdf_data_attr, .bytes = 8), NULL),
	   -EINVAL, "no out");
	is(lkdf_data_create(NULL, ATTR(lkdf_data_attr, .bytes = 8), &d),
	   -EINVAL, "no runtime");
	d = DATA(rt, .bytes = 8, .align = 8, .wrap = mine + 8);
	ok(d != NULL, "a wrap at 8 with alignment 8 is taken");
	lkdf_data_put(d);
	/* No bytes before the first writer: such a size costs nothing. */
	d = DATA(rt, .bytes = 1ull << 40);
	ok(d != NULL, "size 2^40 is taken");
	is(lkdf_data_version(d), 0, "as long as nobody writes it");
	lkdf_data_put(d);
}

static int check_wrap(struct lkdf_ctx *c, void *arg)
{
	uint64_t *at = lkdf_ptr(c, 0);

	*at += 1;
	return at == *(void **)arg ? 0 : -EPROTO;
}

static void wrapped_bytes_stay_the_users(struct lkdf *rt)
{
	static _Alignas(64) uint64_t mine[8];
	void *want = mine, *at = NULL;
	struct lkdf_kind *k;
	struct lkdf_event done;
	struct lkdf_data *d;

	mine[0] = 41;
	d = DATA(rt, .bytes = sizeof(mine), .wrap = mine);
	is(lkdf_data_version(d), 1, "wrapped bytes are a first version");
	k = api_kind(rt, "wrapped", check_wrap, sizeof(want), 0);
	must(submit_on(rt, k, &want, ON(d, LKDF_RW), &done));
	is(lkdf_event_wait(done, -1), 0, "a body gets the user's bytes");
	is(mine[0], 42, "and writes them");
	is(lkdf_data_acquire(d, LKDF_WRITE, -1, &at), 0, "so does acquire");
	ok(at == want, "the same");
	must(lkdf_data_release(d));
	lkdf_data_put(d);
	must(lkdf_scope_wait(rt, NULL, -1));
	is(mine[0], 42, "they are there after the end");
	lkdf_kind_put(k);
}

static void pages_tell_where_bytes_are(struct lkdf *rt)
{
	uint64_t on_node[64] = { 0 }, sum = 0;
	struct lkdf_data *d = DATA(rt, .bytes = MIB, .name = "placed");
	int nr, i;
	char *at;

	is(lkdf_data_where(d, on_node, 64), -ENODATA, "nowhere before a write");
	has(lkdf_errmsg(), "placed", "by its name");
	must(lkdf_data_acquire(d, LKDF_WRITE, -1, (void **)&at));
	memset(at, 1, MIB);
	must(lkdf_data_release(d));
	nr = lkdf_data_where(d, on_node, 64);
	ok(nr > 0, "then somewhere");
	for (i = 0; i < nr && i < 64; i++)
		sum += on_node[i];
	ok(sum >= MIB && sum <= MIB + 8192, "all of it");
	lkdf_data_put(d);
}

static void a_first_value_is_copied(struct lkdf *rt)
{
	uint64_t init[100] = { [0] = 1, [99] = 2 }, *at;
	struct lkdf_data *d;

	d = DATA(rt, .bytes = sizeof(init), .init = init);
	memset(init, 0xff, sizeof(init));
	must(lkdf_data_acquire(d, LKDF_READ, -1, (void **)&at));
	ok(at[0] == 1 && at[98] == 0 && at[99] == 2, "a first value is copied");
	ok(at != init, "to bytes of its own");
	must(lkdf_data_release(d));
	lkdf_data_put(d);
}

static bool was_said(const char *a, const char *b)
{
	int i;

	for (i = 0; i < said.nr; i++)
		if (strstr(said.text[i], a) && strstr(said.text[i], b))
			return true;
	for (i = 0; i < said.nr; i++)
		printf("# said: %s\n", said.text[i]);
	return false;
}

/* Close leaves it there, so that a put that comes late does no harm. */
static struct lkdf_data *volatile never_put[2];

static void close_tells_what_was_not_put(void)
{
	struct lkdf *rt = open_heard("workers=2");
	struct lkdf_data *d;
	int nr_tidy = 0, i;

	dropped.nr = 0;
	never_put[0] = DATA(rt, .bytes = 4242, .name = "leaky",
			    .init = (char[4242]){ 0 }, .drop = note_drop);
	never_put[1] = DATA(rt, .bytes = 5353);
	d = DATA(rt, .bytes = 6464, .name = "tidy");
	lkdf_data_put(d);
	is(lkdf_close(rt), 0, "close with data that nobody has put");
	ok(was_said("leaky", "4242"), "it tells the name and the size");
	ok(was_said("5353", ""), "the size where there is no name");
	for (i = 0; i < said.nr; i++)
		nr_tidy += strstr(said.text[i], "tidy") != NULL;
	is(nr_tidy, 0, "and nothing of what was put");
	is(dropped.nr, 1, "the bytes are dropped nevertheless");
}

/* Versions */

static int fail_it(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "on purpose");
}

static int leave_it(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_use_end(c, 0, true);
}

static void versions_count_successful_writes(struct lkdf *rt)
{
	struct lkdf_kind *adds, *fails, *leaves, *reads;
	struct lkdf_data *d = DATA(rt, .bytes = 8);

	adds = api_kind(rt, "adds", add_one, 0, 0);
	reads = api_kind(rt, "reads", read_one, 0, 0);
	fails = api_kind(rt, "fails", fail_it, 0, 0);
	leaves = api_kind(rt, "leaves", leave_it, 0, 0);
	is(lkdf_data_version(d), 0, "version 0: nobody has written");
	must(lkdf_data_acquire(d, LKDF_WRITE, -1, NULL));
	is(lkdf_data_version(d), 0, "who writes has not yet written");
	must(lkdf_data_release(d));
	is(lkdf_data_version(d), 1, "now he has");
	must(submit_on(rt, adds, NULL, ON(d, LKDF_RW), NULL));
	must(submit_on(rt, reads, NULL, ON(d, LKDF_READ), NULL));
	must(submit_on(rt, adds, NULL, ON(d, LKDF_COMMUTE), NULL));
	must(submit_on(rt, leaves, NULL, ON(d, LKDF_RW | LKDF_MAYBE), NULL));
	must(lkdf_data_acquire(d, LKDF_READ, -1, NULL));
	is(lkdf_data_version(d), 3, "two writes more, one untouched");
	must(lkdf_data_release(d));
	must(submit_on(rt, fails, NULL, ON(d, LKDF_RW), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "a failed write");
	is(lkdf_data_version(d), 3, "does not count");
	must(submit_on(rt, adds, NULL, ON(d, LKDF_WRITE), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	is(lkdf_data_version(d), 4, "the next one does");
	lkdf_data_put(d);
	lkdf_kind_put(adds);
	lkdf_kind_put(reads);
	lkdf_kind_put(fails);
	lkdf_kind_put(leaves);
}

int main(void)
{
	static const char *const options[] = { "workers=1", "workers=8",
					       "serial=yes" };
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	for (i = 0; i < LENGTH(options); i++) {
		printf("# %s\n", options[i]);
		rt = api_open(options[i]);
		names_find_data(rt);
		drop_comes_once(rt);
		ends_and_uses_race(rt);
		addresses_belong_to_data(rt);
		bytes_are_aligned(rt);
		attributes_are_checked(rt);
		wrapped_bytes_stay_the_users(rt);
		a_first_value_is_copied(rt);
		pages_tell_where_bytes_are(rt);
		versions_count_successful_writes(rt);
		/* Here bodies wait for this thread. */
		if (strcmp(options[i], "serial=yes"))
			the_end_waits_for_pending_uses(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	close_tells_what_was_not_put();
	return tap_end();
}
