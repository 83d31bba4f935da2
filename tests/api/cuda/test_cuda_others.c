/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Drivers and cards other than the one that was recorded: what the library
 * cannot use is no place, and lkdf_errmsg() says why; what lacks something is
 * one, and lkdf_errmsg() says what. Each case is a process of its own.
 */
#include "tests/cuda/cache.h"
#include "tests/cuda/child.h"

static const struct other {
	const char *like;
	const char *says; /* NULL: nothing */
	bool is_place;
	const char *options;
} others[] = {
	{ "", NULL, true, "workers=2" },
	{ "at_once", NULL, true, "workers=2" },
	{ "at_once", NULL, true, "serial=yes" },
	{ "current", NULL, true, "workers=2" },
	{ "no_pools", NULL, true, "workers=2" },
	{ "no_pools,current", NULL, true, "serial=yes" },
	{ "old", "one of CUDA 12.2", true, "workers=2" },
	{ "old", "one of CUDA 12.2", true, "serial=yes" },
	{ "sm_100", NULL, true, "workers=2" },
	{ "no_words", "its streams write no words", false, "workers=2" },
	{ "prohibited", "its compute mode is prohibited", false, "workers=2" },
	{ NULL, NULL, false, NULL },
};

static const struct other *now;

/* A chain of kernels in a sealed graph, four times. */
static int run_graphs(struct lkdf *rt, struct lkdf_place *p)
{
	struct lkdf_kind *k = device_kind(rt, "step");
	struct lkdf_data *d = device_data(rt, NR, 1);
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	uint64_t by = 1, x = 1;
	struct lkdf_event done;
	struct lkdf_graph *g;
	int i, rc = 0;

	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < 5; i++)
		must(lkdf_graph_add_task(g, LKDF_TASK(.kind = k, .place = p,
						      .arg = &by, .use = &use,
						      .nr_use = 1)));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 4 && !rc; i++) {
		must(lkdf_graph_run(g, NULL, NULL, &done));
		rc = lkdf_event_wait(done, -1);
	}
	for (i = 0; i < 20; i++)
		x = 3 * x + by;
	if (!rc && device_first_wrong(d, NR, x) >= 0)
		rc = -EBADMSG;
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	return rc;
}

/* In a child: 0, or what is wrong. */
static int use_other(void)
{
	struct lkdf *rt = api_open(driver_options(now->options));
	struct lkdf_place *p = NULL;
	int nr = lkdf_places(rt, LKDF_PLACE_GPU, &p, 1);
	const char *said = lkdf_errmsg();

	printf("# %s\n", said);
	if (nr != now->is_place)
		return 1;
	if (now->says ? !strstr(said, now->says) : said[0] != 0)
		return 2;
	device_is_real = true;
	if (now->is_place && run_kernels(rt, p))
		return 3;
	if (now->is_place && run_graphs(rt, p))
		return 4;
	return device_close(rt) ? 5 : 0;
}

int main(void)
{
	static struct child c = { .fail = "cuInit=0" };

	tap_start(120);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	if (getenv("LKDF_TEST_CUDA")) {
		skip("drivers like others", "the driver is not that for tests");
		return tap_end();
	}
	cache_begin();
	for (now = others; now->like; now++) {
		setenv("FAKE_CUDA_LIKE", now->like, 1);
		start_child(&c, use_other);
		if (!is(end_child(&c), 0, "like \"%s\", %s", now->like,
			now->options))
			printf("%s", c.said);
	}
	cache_end();
	return tap_end();
}
