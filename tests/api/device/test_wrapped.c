/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes that the program has brought are home when it has waited for the task
 * that writes them, or for its scope, and they come no more often than that.
 */
#include "tests/api/device/away.h"

/* What the program has brought is there when it has waited. */
static void wrapped_bytes_come_home(struct lkdf *rt, struct lkdf_place *p,
				    const char *how)
{
	static uint64_t x[NR];
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_data *d = NULL;
	int i, wrong = 0;

	memset(x, 0, sizeof(x));
	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = sizeof(x), .wrap = x), &d));
	for (i = 0; i < 3; i++) {
		is(call(rt, add, p, d, LKDF_RW, 1), 0, "%s: a kernel", how);
		wrong += x[0] != (uint64_t)i + 1 || x[NR - 1] != x[0];
	}
	is(wrong, 0, "%s: bytes of the program are at home", how);
	is(uploaded(rt), carries(how), "%s: a copy stays all the same", how);
	lkdf_data_put(d);
	lkdf_kind_put(add);
}

/* x[0], when nr kernels behind an event of the program's have added 1 each. */
static uint64_t add_behind(struct lkdf *rt, struct lkdf_place *p,
			   struct lkdf_data *d, const uint64_t *x, int nr)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_event go;
	uint64_t one = 1;
	int i;

	must(lkdf_event_create(rt, 1, 0, &go));
	for (i = 0; i < nr; i++)
		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = add, .arg = &one, .place = p,
					   .use = &use, .nr_use = 1,
					   .after = &go, .nr_after = !i),
				 NULL));
	must(lkdf_event_signal(go, 0));
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_event_put(go);
	lkdf_kind_put(add);
	return *(volatile const uint64_t *)x;
}

/* Of kernels without an event, whoever waits for one waits for the last. */
static void wrapped_bytes_come_home_once(struct lkdf *rt, struct lkdf_place *p,
					 const char *how)
{
	static uint64_t x[NR];
	struct lkdf_data *d = NULL;
	uint64_t down = fetched(rt);

	memset(x, 0, sizeof(x));
	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = sizeof(x), .wrap = x), &d));
	is(add_behind(rt, p, d, x, 6), 6, "%s: six kernels, one wait", how);
	is(fetched(rt) - down, carries(how), "%s: their bytes came once", how);
	is(add_behind(rt, p, d, x, 1), 7, "%s: one more", how);
	is(fetched(rt) - down, 2 * carries(how), "%s: which came, too", how);
	lkdf_data_put(d);
}

/* The program waits for a kernel by its event, while the next one is held. */
static void wrapped_bytes_come_for_an_event(struct lkdf *rt,
					    struct lkdf_place *p,
					    const char *how)
{
	static uint64_t x[NR];
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_data *d = NULL;
	struct lkdf_use use;
	struct lkdf_event go, done;
	uint64_t one = 1;

	memset(x, 0, sizeof(x));
	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = sizeof(x), .wrap = x), &d));
	use = (struct lkdf_use){ d, LKDF_RW, 0 };
	must(lkdf_event_create(rt, 1, 0, &go));
	done = device_submit(rt, add, p, d, &one);
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = add, .arg = &one, .place = p,
				   .use = &use, .nr_use = 1, .after = &go,
				   .nr_after = 1),
			 NULL));
	is(lkdf_event_wait(done, -1), 0, "%s: the first of two", how);
	is(x[0], 1, "%s: its bytes are home", how);
	must(lkdf_event_signal(go, 0));
	must(lkdf_scope_wait(rt, NULL, -1));
	is(x[0], 2, "%s: and those of the second", how);
	lkdf_event_put(go);
	lkdf_data_put(d);
	lkdf_kind_put(add);
}

/* A kernel that is cancelled brings nothing: whoever acquires the bytes does.
 */
static void wrapped_bytes_of_a_cancelled_scope(struct lkdf *rt,
					       struct lkdf_place *p,
					       const char *how)
{
	static uint64_t x[NR];
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_scope *s = NULL;
	struct lkdf_data *d = NULL;
	struct lkdf_event go;
	struct lkdf_use use;
	uint64_t one = 1;
	int i;

	memset(x, 0, sizeof(x));
	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = sizeof(x), .wrap = x), &d));
	use = (struct lkdf_use){ d, LKDF_RW, 0 };
	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_event_create(rt, 1, 0, &go));
	for (i = 0; i < 2; i++)
		must(lkdf_submit(rt, s,
				 LKDF_TASK(.kind = add, .arg = &one, .place = p,
					   .use = &use, .nr_use = 1,
					   .after = &go, .nr_after = i),
				 NULL));
	must(lkdf_scope_cancel(rt, s, -ECANCELED));
	must(lkdf_event_signal(go, 0));
	lkdf_scope_wait(rt, s, -1);
	/* The first call may tell that the second kernel did not run. */
	if (lkdf_data_acquire(d, LKDF_READ, -1, NULL))
		must(lkdf_data_acquire(d, LKDF_WRITE, -1, NULL));
	ok(x[0] <= 1 && x[NR - 1] == x[0], "%s: cancelled: all bytes or none",
	   how);
	must(lkdf_data_release(d));
	lkdf_event_put(go);
	lkdf_scope_put(s);
	lkdf_data_put(d);
	lkdf_kind_put(add);
}

int main(void)
{
	tap_start(120);
	device_each(wrapped_bytes_come_home);
	device_each(wrapped_bytes_come_home_once);
	device_each(wrapped_bytes_come_for_an_event);
	device_each(wrapped_bytes_of_a_cancelled_scope);
	return tap_end();
}
