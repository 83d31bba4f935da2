/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Random programs on data that moves and is copied: each body finds what the
 * order of submission says, wherever it runs. The argument is a seed.
 */
#include "tests/api/data/moving.h"

#define NR_DATA 5
#define NR_STEPS 300

static uint64_t seed = 1;

static uint32_t draw(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % n;
}

/* What the serial order says: a body finds old, and leaves new. */
struct step {
	uint64_t old, new, nr;
	bool writes;
	atomic_int *nr_wrong;
};

static int step(struct lkdf_ctx *c, void *arg)
{
	struct step *s = arg;
	uint64_t *v = lkdf_ptr(c, 0);
	bool is_mixed = false;

	if (s->old && (all_words(v, s->nr, &is_mixed) != s->old || is_mixed))
		atomic_fetch_add(s->nr_wrong, 1);
	if (v != lkdf_ptr(c, 0) || (uintptr_t)v % 64)
		atomic_fetch_add(s->nr_wrong, 1);
	if (s->writes)
		fill_words(v, s->nr, s->new);
	return 0;
}

struct program {
	struct lkdf_data *d[NR_DATA];
	uint64_t bytes[NR_DATA], now[NR_DATA];
	struct step step[NR_STEPS];
	struct lkdf_kind *k;
	atomic_int nr_wrong;
	int nr_nodes;
};

static void submit_step(struct program *p, int i)
{
	static const uint32_t modes[] = { LKDF_READ, LKDF_READ, LKDF_READ,
					  LKDF_READ, LKDF_RW,	LKDF_WRITE };
	uint32_t which = draw(NR_DATA), mode = modes[draw(LENGTH(modes))];
	struct lkdf_place *place = lkdf_place_node(rt, (int)draw(p->nr_nodes));
	struct lkdf_use use = ON(p->d[which], mode);
	struct step *s = &p->step[i];

	if (!draw(8)) {
		must(lkdf_data_prefetch(p->d[which], place, NULL));
		return;
	}
	s->nr = p->bytes[which] / sizeof(uint64_t);
	s->nr_wrong = &p->nr_wrong;
	s->writes = mode != LKDF_READ;
	s->old = mode == LKDF_WRITE ? 0 : p->now[which];
	s->new = (uint64_t)i + 2;
	if (s->writes)
		p->now[which] = s->new;
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = p->k, .arg = s, .use = &use,
			      .nr_use = 1, .place = place,
			      .flags = draw(3) ? LKDF_PINNED : 0),
			 NULL));
}

static void make_data_of(struct program *p, int i)
{
	static const uint32_t flags[] = {
		LKDF_DATA_MIGRATE, LKDF_DATA_REPLICATE,
		LKDF_DATA_MIGRATE | LKDF_DATA_REPLICATE,
		LKDF_DATA_MIGRATE | LKDF_DATA_HUGE, 0
	};
	uint64_t *v;

	p->bytes[i] = (64u << draw(9)) + 8 * draw(9);
	if (i == 1)
		p->bytes[i] += 4096;
	if (i == 3 && !HAS_SANITIZER)
		p->bytes[i] = 3 << 20;
	p->d[i] = DATA(rt, .bytes = p->bytes[i], .flags = flags[i]);
	p->now[i] = 1;
	must(lkdf_data_acquire(p->d[i], LKDF_WRITE, -1, (void **)&v));
	fill_words(v, p->bytes[i] / sizeof(*v), 1);
	must(lkdf_data_release(p->d[i]));
}

static void random_programs_go_as_one_after_another(int nr_nodes)
{
	struct program *p = calloc(1, sizeof(*p));
	char options[64];
	uint64_t *v;
	int i, nr_left = 0;

	snprintf(options, sizeof(options), "topology=numa:%d core:2", nr_nodes);
	rt = api_open(options);
	p->nr_nodes = nr_nodes;
	p->k = api_kind(rt, "step", step, 0, 0);
	for (i = 0; i < NR_DATA; i++)
		make_data_of(p, i);
	for (i = 0; i < NR_STEPS; i++)
		submit_step(p, i);
	must(lkdf_scope_wait(rt, NULL, -1));
	is(atomic_load(&p->nr_wrong), 0, "%d nodes: all found their version",
	   nr_nodes);
	for (i = 0; i < NR_DATA; i++) {
		must(lkdf_data_acquire(p->d[i], LKDF_READ, -1, (void **)&v));
		nr_left += v[0] != p->now[i];
		must(lkdf_data_release(p->d[i]));
		lkdf_data_put(p->d[i]);
	}
	is(nr_left, 0, "%d nodes: the last writes are left", nr_nodes);
	printf("# moved %llu, copied %llu bytes\n",
	       (unsigned long long)migrated(),
	       (unsigned long long)replicated());
	ok(migrated() && replicated(), "%d nodes: bytes moved and were copied",
	   nr_nodes);
	lkdf_kind_put(p->k);
	must(lkdf_close(rt));
	free(p);
}

int main(int argc, char **argv)
{
	int i;

	tap_start(60);
	seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261122;
	printf("# seed %llu\n", (unsigned long long)seed);
	for (i = 2; i <= 4; i++)
		random_programs_go_as_one_after_another(i);
	return tap_end();
}
