/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Limits: never more bodies than tokens, all tokens come back however a task
 * ends, several of them have no deadlock, and errors call a limit by its name.
 */
#include "tests/api/api.h"

#include <string.h>

static const int worker_counts[] = { 1, 2, 8 };

struct room {
	atomic_int inside, most, nr;
	int weight;
};

static struct room *the_room;

static int be_inside(struct lkdf_ctx *c, void *arg)
{
	struct room *r = the_room;
	int weight = *(int *)arg;
	int inside = atomic_fetch_add(&r->inside, weight) + weight;
	int most = atomic_load(&r->most);

	while (inside > most &&
	       !atomic_compare_exchange_weak(&r->most, &most, inside))
		;
	atomic_fetch_add(&r->nr, 1);
	if (atomic_load(&r->nr) % 3 == 0)
		api_nap_ns(10000);
	atomic_fetch_sub(&r->inside, weight);
	return atomic_load(&r->nr) % 7 == 0 ? lkdf_fail(c, -EIO, "seven") : 0;
}

static struct lkdf_kind *limited(struct lkdf *rt, lkdf_fn fn, uint32_t flags,
				 struct lkdf_limit *l, uint64_t tokens,
				 struct lkdf_limit *l2)
{
	struct lkdf_limit_use use[] = { { l, tokens }, { l2, 1 } };
	struct lkdf_kind *k;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "limited", .fn = fn,
				   .arg_size = sizeof(int), .flags = flags,
				   .limit = use, .nr_limit = l2 ? 2 : 1),
			      &k));
	return k;
}

/* Only when no token is lost can a task take them all. */
static void all_tokens_are_there(struct lkdf *rt, struct lkdf_limit *l,
				 uint64_t tokens, const char *after)
{
	struct lkdf_kind *k = limited(rt, api_nothing, 0, l, tokens, NULL);
	struct lkdf_event done;
	int rc;

	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &(int){ 0 }),
			 &done));
	rc = lkdf_event_wait(done, PATIENCE_NS);
	is(rc, 0, "all tokens are there after %s", after);
	if (rc == 1)
		exit(tap_end());
	lkdf_kind_put(k);
}

static void no_more_inside_than_tokens(struct lkdf *rt, uint64_t tokens,
				       uint32_t flags)
{
	struct room room = { .nr = 0 };
	struct lkdf_kind *one, *all;
	struct lkdf_limit *l;
	int i;

	the_room = &room;
	must(lkdf_limit_create(rt, tokens, &l));
	one = limited(rt, be_inside, flags, l, 1, NULL);
	all = limited(rt, be_inside, flags, l, tokens, NULL);
	for (i = 0; i < 300; i++) {
		int weight = i % 10 ? 1 : (int)tokens;

		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = i % 10 ? one : all,
				      .arg = &weight),
				 NULL));
	}
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "some tasks fail");
	is(room.nr, 300, "all ran");
	ok(room.most <= (int)tokens, "at most %d inside (%d)", (int)tokens,
	   room.most);
	all_tokens_are_there(rt, l, tokens, "errors");
	lkdf_kind_put(one);
	lkdf_kind_put(all);
	lkdf_limit_put(l);
}

/* Blocking, so that the number inside does not depend on the workers. */
static void all_tokens_are_used(struct lkdf *rt, uint64_t tokens)
{
	struct room room = { .nr = 0 };
	struct lkdf_limit *l;
	struct lkdf_kind *k;
	int i;

	the_room = &room;
	must(lkdf_limit_create(rt, tokens, &l));
	k = limited(rt, be_inside, LKDF_BLOCKING, l, 1, NULL);
	for (i = 0; room.most < (int)tokens && i < 20000; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &(int){ 1 }),
				 NULL));
	lkdf_scope_wait(rt, NULL, -1);
	is(room.most, tokens, "exactly %d may be inside", (int)tokens);
	lkdf_kind_put(k);
	lkdf_limit_put(l);
}

static int cancel_root(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	api_nap_ns(100000);
	return lkdf_scope_cancel(lkdf_runtime(c), NULL, -EINTR);
}

static void tokens_come_back_after_a_cancel(struct lkdf *rt)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_kind *k, *cancels;
	struct lkdf_limit *l;
	int i, j, bad = 0;

	the_room = &(struct room){ .nr = 0 };
	must(lkdf_limit_create(rt, 2, &l));
	k = limited(rt, be_inside, 0, l, 1, NULL);
	cancels = limited(rt, cancel_root, 0, l, 2, NULL);
	for (i = 0; i < 60; i++)
		must(lkdf_graph_add(g, i == 30 ? cancels : k, &(int){ 1 }, NULL,
				    0));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 20; i++) {
		must(lkdf_graph_run(g, NULL, NULL, NULL));
		for (j = 0; j < 40; j++)
			lkdf_submit(rt, NULL,
				    ATTR(lkdf_task, .kind = k,
					 .arg = &(int){ 1 }),
				    NULL);
		bad += lkdf_scope_wait(rt, NULL, -1) >= 0;
	}
	is(bad, 0, "20 runs with limits are cancelled");
	all_tokens_are_there(rt, l, 2, "a cancel");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(cancels);
	lkdf_limit_put(l);
}

static void two_limits_have_no_deadlock(struct lkdf *rt)
{
	struct room room = { .nr = 0 };
	struct lkdf_kind *ab, *ba;
	struct lkdf_limit *a, *b;
	int i;

	the_room = &room;
	must(lkdf_limit_create(rt, 1, &a));
	must(lkdf_limit_create(rt, 1, &b));
	ab = limited(rt, be_inside, 0, a, 1, b);
	ba = limited(rt, be_inside, LKDF_BLOCKING, b, 1, a);
	for (i = 0; i < 400; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = i % 2 ? ab : ba,
				      .arg = &(int){ 1 }),
				 NULL));
	is(lkdf_scope_wait(rt, NULL, PATIENCE_NS), -EIO,
	   "limits in both orders end");
	ok(room.most == 1 && room.nr == 400, "one at a time");
	lkdf_kind_put(ab);
	lkdf_kind_put(ba);
	lkdf_limit_put(a);
	lkdf_limit_put(b);
}

static struct lkdf_kind *inner;

static int spawn_limited(struct lkdf_ctx *c, void *arg)
{
	int i;

	for (i = 0; i < 20; i++)
		must(lkdf_spawn(c, inner, arg));
	return lkdf_join(c) == -EIO || the_room->nr < 7 ? 0 : -EPROTO;
}

static void children_take_limits(struct lkdf *rt, uint32_t flags)
{
	struct room room = { .nr = 0 };
	struct lkdf_limit *l;
	struct lkdf_kind *k;

	the_room = &room;
	must(lkdf_limit_create(rt, 1, &l));
	inner = limited(rt, be_inside, flags, l, 1, NULL);
	k = api_kind(rt, "spawns", spawn_limited, sizeof(int), 0);
	is(api_call(rt, k, &(int){ 1 }), 0, "a join runs limited children");
	ok(room.nr == 20 && room.most == 1, "one at a time");
	lkdf_kind_put(k);
	lkdf_kind_put(inner);
	lkdf_limit_put(l);
}

/*
 * The strangers are ready first and nobody but the joining worker could run
 * them: tokens must not be kept for what is queued.
 */
static int join_behind_strangers(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = inner };
	int i, weight = 1;

	(void)arg;
	t.arg = &weight;
	for (i = 0; i < 2; i++)
		must(lkdf_submit(lkdf_runtime(c), NULL, &t, NULL));
	for (i = 0; i < 2; i++)
		must(lkdf_spawn(c, inner, &weight));
	for (i = 0; i < 2; i++)
		must(lkdf_submit(lkdf_runtime(c), NULL, &t, NULL));
	return lkdf_join(c);
}

static void strangers_keep_no_tokens(struct lkdf *rt, uint32_t flags)
{
	struct room room = { .nr = 0 };
	struct lkdf_limit *l;
	struct lkdf_kind *k;

	the_room = &room;
	must(lkdf_limit_create(rt, 1, &l));
	inner = limited(rt, be_inside, flags, l, 1, NULL);
	k = api_kind(rt, "joins", join_behind_strangers, 0, 0);
	is(api_call(rt, k, NULL), 0, "a join ends behind limited strangers");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the strangers end");
	ok(room.nr == 6 && room.most == 1, "one at a time");
	lkdf_kind_put(k);
	lkdf_kind_put(inner);
	lkdf_limit_put(l);
}

static struct lkdf_limit *named(struct lkdf *rt, const char *name,
				uint64_t tokens)
{
	struct lkdf_limit *l = NULL;

	must(lkdf_limit_create_with(
		rt, LKDF_LIMIT(.name = name, .tokens = tokens), &l));
	return l;
}

static void kind_is_refused(struct lkdf *rt, struct lkdf_limit *l,
			    uint64_t tokens, struct lkdf_limit *l2,
			    const char *text)
{
	struct lkdf_limit_use use[] = { { l, tokens }, { l2, 1 } };
	struct lkdf_kind *k;

	is(lkdf_kind_create(rt,
			    ATTR(lkdf_kind_attr, .name = "kind",
				 .fn = api_nothing, .limit = use,
				 .nr_limit = l2 ? 2 : 1),
			    &k),
	   -EINVAL, "a kind is refused");
	ok(strstr(lkdf_errmsg(), text), "it says: %s", lkdf_errmsg());
}

static void errors_call_a_limit_by_its_name(struct lkdf *rt)
{
	struct lkdf_limit *files = named(rt, "files", 64);
	struct lkdf_limit *one = named(rt, "", 1);
	struct lkdf_limit *lengthy = named(
		rt, "0123456789012345678901234567890123456789", UINT32_MAX);
	struct lkdf *other = api_open_workers(1);

	kind_is_refused(rt, files, 65, NULL,
			"takes 65 tokens of limit \"files\" of 64 tokens");
	kind_is_refused(rt, files, 1, files,
			"limit \"files\" of 64 tokens is used twice");
	kind_is_refused(other, files, 1, NULL,
			"limit \"files\" of 64 tokens is of another runtime");
	kind_is_refused(rt, one, 2, NULL, "2 tokens of limit of 1 token");
	kind_is_refused(rt, lengthy, 0, NULL,
			"limit \"0123456789012345678901234567890\" of "
			"4294967295 tokens");
	is(lkdf_close(other), 0, "the other runtime closes");
	lkdf_limit_put(files);
	lkdf_limit_put(one);
	lkdf_limit_put(lengthy);
}

static void limit_is_refused(struct lkdf *rt, const struct lkdf_limit_attr *a,
			     const char *text)
{
	struct lkdf_limit *l = NULL;

	is(lkdf_limit_create_with(rt, a, &l), -EINVAL, "a limit is refused");
	ok(!l && strstr(lkdf_errmsg(), text), "it says: %s", lkdf_errmsg());
}

static void bad_attributes_are_refused(struct lkdf *rt)
{
	struct {
		struct lkdf_limit_attr a;
		uint64_t later;
	} longer = { .a = { .size = sizeof(longer), .tokens = 1 } };
	struct lkdf_limit *l = NULL;

	limit_is_refused(rt, NULL, "NULL");
	limit_is_refused(rt, LKDF_LIMIT(.name = "none"), "limit none: 0");
	limit_is_refused(rt, LKDF_LIMIT(.tokens = 1ull << 32), "4294967296");
	limit_is_refused(rt, LKDF_LIMIT(.flags = 2, .tokens = 1), "0x2");
	limit_is_refused(rt, &(struct lkdf_limit_attr){ .tokens = 1 }, "size");
	is(lkdf_limit_create_with(rt, &longer.a, &l), 0,
	   "a longer one of a later library is taken");
	lkdf_limit_put(l);
	longer.later = 1;
	limit_is_refused(rt, &longer.a, "lkdf_limit_attr");
}

int main(void)
{
	struct lkdf *rt;
	uint64_t tokens;
	size_t i;

	tap_start(120);
	for (i = 0; i < sizeof(worker_counts) / sizeof(*worker_counts); i++) {
		printf("# %d workers\n", worker_counts[i]);
		rt = api_open_workers(worker_counts[i]);
		for (tokens = 1; tokens <= 4; tokens++) {
			no_more_inside_than_tokens(rt, tokens, 0);
			no_more_inside_than_tokens(rt, tokens, LKDF_BLOCKING);
			all_tokens_are_used(rt, tokens);
		}
		tokens_come_back_after_a_cancel(rt);
		two_limits_have_no_deadlock(rt);
		children_take_limits(rt, 0);
		children_take_limits(rt, LKDF_BLOCKING);
		strangers_keep_no_tokens(rt, 0);
		strangers_keep_no_tokens(rt, LKDF_BLOCKING);
		errors_call_a_limit_by_its_name(rt);
		bad_attributes_are_refused(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
