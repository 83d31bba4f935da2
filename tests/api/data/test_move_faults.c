/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The n-th allocation fails while bytes move and are copied, for n = 1, 2, ..
 * until none is left: calls say -ENOMEM, but no task fails, and every body
 * finds the right values.
 */
#include "tests/api/data/moving.h"
#include "tests/faults/inject.h"

#define MAX_FAULTS 500
#define LARGE ((uint64_t)3 << 20) /* a mapping of its own */

struct found {
	uint64_t bytes, value, next;
	atomic_int *nr_wrong;
};

/* Finds the value, and leaves the next if there is one. */
static int look_at(struct lkdf_ctx *c, void *arg)
{
	const struct found *f = arg;
	uint64_t *v = lkdf_ptr(c, 0), nr = f->bytes / sizeof(*v);
	bool is_mixed = false;

	if (f->value && (all_words(v, nr, &is_mixed) != f->value || is_mixed))
		atomic_fetch_add(f->nr_wrong, 1);
	if (f->next)
		fill_words(v, nr, f->next);
	return 0;
}

struct trial {
	struct lkdf_data *d;
	struct lkdf_kind *k;
	struct found found;
	int nr_refused, nr_odd;
};

static void note(struct trial *t, int rc)
{
	t->nr_refused += rc == -ENOMEM;
	t->nr_odd += rc && rc != -ENOMEM;
}

/* What was not submitted has written nothing. */
static void go(struct trial *t, int node, uint32_t mode, uint64_t next)
{
	struct lkdf_use use = ON(t->d, mode);
	struct found f = t->found;
	int rc;

	f.next = next;
	if (mode == LKDF_WRITE)
		f.value = 0;
	rc = lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = t->k, .arg = &f, .use = &use,
			      .nr_use = 1, .flags = LKDF_PINNED,
			      .place = lkdf_place_node(rt, node)),
			 NULL);
	note(t, rc);
	if (!rc && next)
		t->found.value = next;
	/* No task fails. */
	t->nr_odd += lkdf_scope_wait(rt, NULL, -1) != 0;
}

static void all_moves(struct trial *t)
{
	go(t, 1, LKDF_READ, 0);
	go(t, 1, LKDF_READ, 0);
	go(t, 0, LKDF_READ, 0);
	go(t, 1, LKDF_WRITE, 2);
	go(t, 0, LKDF_RW, 3);
	go(t, 0, LKDF_RW, 4);
	note(t, lkdf_data_prefetch(t->d, lkdf_place_node(rt, 1), NULL));
	t->nr_odd += lkdf_scope_wait(rt, NULL, -1) != 0;
	go(t, 0, LKDF_READ, 0);
	go(t, 1, LKDF_READ, 0);
}

static struct lkdf_data *made(uint64_t bytes, uint32_t flags)
{
	struct lkdf_data *d = DATA(rt, .bytes = bytes, .flags = flags,
				   .home = lkdf_place_node(rt, 0));
	void *at;

	must(lkdf_data_acquire(d, LKDF_WRITE, -1, &at));
	fill_words(at, bytes / sizeof(uint64_t), 1);
	must(lkdf_data_release(d));
	return d;
}

static void every_fault_is_got_around(const char *what, uint64_t bytes,
				      uint32_t flags)
{
	int n, nr_refused = 0, nr_odd = 0;
	atomic_int nr_wrong = 0;

	for (n = 1; n < MAX_FAULTS; n++) {
		struct trial t = { .found = { .bytes = bytes,
					      .value = 1,
					      .nr_wrong = &nr_wrong } };

		rt = api_open("topology=numa:2 core:1");
		t.k = api_kind(rt, "looks", look_at, sizeof(struct found), 0);
		t.d = made(bytes, flags);
		inject(n);
		all_moves(&t);
		if (!inject_came())
			n = MAX_FAULTS;
		inject(0);
		all_moves(&t);
		nr_refused += t.nr_refused;
		nr_odd += t.nr_odd;
		lkdf_data_put(t.d);
		lkdf_kind_put(t.k);
		must(lkdf_close(rt));
	}
	ok(n > MAX_FAULTS, "%s: all faults came (%d calls refused)", what,
	   nr_refused);
	is(nr_odd, 0, "%s: no task fails, no call but with -ENOMEM", what);
	is(atomic_load(&nr_wrong), 0, "%s: all bodies find their values", what);
}

int main(void)
{
	tap_start(60);
	if (!inject_init((void *)(uintptr_t)lkdf_open)) {
		printf("1..0 # SKIP faults cannot be injected here\n");
		return 0;
	}
	every_fault_is_got_around("MIGRATE", LARGE, LKDF_DATA_MIGRATE);
	every_fault_is_got_around("REPLICATE", LARGE, LKDF_DATA_REPLICATE);
	every_fault_is_got_around("both", BYTES,
				  LKDF_DATA_MIGRATE | LKDF_DATA_REPLICATE);
	return tap_end();
}
