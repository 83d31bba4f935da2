/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/suites/device_cuda.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#define PAIRS 200
#define ENDS 20 /* of a sample, which is their median */
#define SPIN_AFTER_NS 100000 /* the kernel's time, of ends */
#define SLEEP_AFTER_NS 1000000
#define SCRATCHES 300
#define MIDDLE_MIB 16
#define WATCHED_NS 2000000000 /* the kernel beside which the launcher waits */
#define SHARE 0.02 /* of its time, for the launcher */

static int64_t raw_submit(struct cards *c, const struct card_part *p)
{
	return raw_cuda_launches(c->raw, p->per);
}

/* calls: the time of these alone */
static int64_t submit_empty(struct cards *c, unsigned nr, bool calls)
{
	int64_t start = bench_now_ns(), ns;
	unsigned i;
	int rc = 0;

	for (i = 0; i < nr && !rc; i++)
		rc = side_submit(&c->plain, c->plain.empty, NULL, NULL);
	ns = bench_now_ns() - start;
	if (!rc)
		rc = lkdf_scope_wait(c->plain.rt, NULL, -1);
	if (rc)
		return side_failed("run", rc);
	return calls ? ns : bench_now_ns() - start;
}

static int64_t lkdf_calls(struct cards *c, const struct card_part *p)
{
	return submit_empty(c, p->per, true);
}

static int64_t raw_side_by_side(struct cards *c, const struct card_part *p)
{
	return raw_cuda_side_by_side(c->raw, p->per);
}

static int64_t lkdf_side_by_side(struct cards *c, const struct card_part *p)
{
	return submit_empty(c, p->per, false);
}

static int64_t raw_chain(struct cards *c, const struct card_part *p)
{
	return raw_cuda_chain(c->raw, p->per);
}

static int64_t run_graph(struct side *s, struct lkdf_graph *g, unsigned times,
			 unsigned steps)
{
	struct lkdf_event done;
	int64_t start;
	int rc = side_clear(s->data);
	unsigned i;

	/* The bytes are on the card, and the launcher is awake. */
	if (!rc)
		rc = side_submit(s, s->step, s->data, NULL);
	if (!rc)
		rc = lkdf_scope_wait(s->rt, NULL, -1);
	start = bench_now_ns();
	for (i = 0; i < times && !rc; i++) {
		rc = lkdf_graph_run(g, NULL, NULL, &done);
		if (!rc && i + 1 < times)
			lkdf_event_put(done);
	}
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	return side_check(s->data, start, rc,
			  raw_cuda_word(times * steps + 1, 0));
}

/* Of a runtime that has not met the graph: the second one replays it. */
static int64_t lkdf_first(struct cards *c, const struct card_part *p)
{
	struct side s;
	int64_t ns = side_open(&s, "devices=cuda", c->raw);

	if (!ns)
		ns = run_graph(&s, s.chain, 1, p->per);
	side_close(&s);
	return ns;
}

static int64_t raw_replay(struct cards *c, const struct card_part *p)
{
	unsigned steps = p->per == CARD_NR ? CARD_NR : CARD_REGION;

	return raw_cuda_replay(c->raw, steps,
			       steps == CARD_NR ? 1 : CARD_IN_A_ROW);
}

static int64_t lkdf_replay(struct cards *c, const struct card_part *p)
{
	struct side *s = &c->plain;

	return p->per == CARD_NR
		       ? run_graph(s, s->chain, 1, CARD_NR)
		       : run_graph(s, s->region, CARD_IN_A_ROW, CARD_REGION);
}

static int64_t raw_pairs(struct cards *c, const struct card_part *p)
{
	return raw_cuda_pairs(c->raw, p->per);
}

static int64_t lkdf_pairs(struct cards *c, const struct card_part *p)
{
	struct side *s = &c->spinning;
	int64_t start;
	unsigned i;
	int rc = side_clear(c->pair);

	start = bench_now_ns();
	for (i = 0; i < p->per && !rc; i++) {
		rc = side_submit(s, s->step, c->pair, NULL);
		if (!rc)
			rc = side_submit(s, s->touch, c->pair, NULL);
	}
	if (!rc)
		rc = lkdf_scope_wait(s->rt, NULL, -1);
	return side_check(c->pair, start, rc, raw_cuda_word(p->per, 1));
}

static int64_t median_of(struct samples *s)
{
	return (int64_t)samples_median(s);
}

static bool spins(const struct card_part *p)
{
	return strstr(p->name, "spinning");
}

static int64_t raw_end(struct cards *c, const struct card_part *p)
{
	struct samples s = { .nr = 0 };
	int64_t ns = 0;
	unsigned i;

	for (i = 0; i < ENDS && ns >= 0; i++) {
		ns = spins(p) ? raw_cuda_end_word(c->raw, SPIN_AFTER_NS)
			      : raw_cuda_end_event(c->raw, SLEEP_AFTER_NS);
		samples_add(&s, (double)ns);
	}
	return ns < 0 ? ns : median_of(&s);
}

/* A kernel at the gate, and a task behind it that notes when it begins. */
static int submit_gated(struct cards *c, struct side *s)
{
	struct lkdf_event done;
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = s->stamp,
			       .arg = &c,
			       .after = &done,
			       .nr_after = 1 };
	int rc;

	raw_cuda_set_flag(c->raw, 0);
	atomic_store(&c->stamped_ns, 0);
	rc = side_submit(s, s->gate, NULL, &done);
	if (rc)
		return rc;
	rc = lkdf_submit(s->rt, NULL, &t, NULL);
	lkdf_event_put(done);
	return rc;
}

static int64_t end_once(struct cards *c, struct side *s, int64_t after_ns)
{
	int64_t end, start;
	int rc = submit_gated(c, s);

	end = bench_now_ns() + after_ns;
	while (bench_now_ns() < end)
		continue;
	start = bench_now_ns();
	raw_cuda_set_flag(c->raw, 1);
	if (!rc)
		rc = lkdf_scope_wait(s->rt, NULL, -1);
	return rc ? side_failed("run", rc)
		  : atomic_load(&c->stamped_ns) - start;
}

static int64_t lkdf_end(struct cards *c, const struct card_part *p)
{
	struct side *s = spins(p) ? &c->spinning : &c->plain;
	struct samples got = { .nr = 0 };
	int64_t ns = 0;
	unsigned i;

	for (i = 0; i < ENDS && ns >= 0; i++) {
		ns = end_once(c, s, spins(p) ? SPIN_AFTER_NS : SLEEP_AFTER_NS);
		samples_add(&got, (double)ns);
	}
	return ns < 0 ? ns : median_of(&got);
}

static void *bytes_of(struct cards *c, const struct card_part *p)
{
	return strstr(p->name, "pinned") ? c->pinned : c->pageable;
}

uint64_t card_bytes(const struct cards *c, const struct card_part *p)
{
	uint64_t mib = p->mib == CARD_LARGE_MIB ? c->large_mib : p->mib;

	return mib << 20;
}

static int64_t raw_copy(struct cards *c, const struct card_part *p)
{
	struct lkdf_block_info info = { .size = sizeof(info) };
	int rc = lkdf_block(c->plain.rt, c->block, &info);

	return rc ? side_failed("block", rc)
		  : raw_cuda_copy(c->raw, info.device_ptr, bytes_of(c, p),
				  card_bytes(c, p));
}

static int64_t lkdf_there_and_back(struct cards *c, const struct card_part *p)
{
	int64_t start = bench_now_ns();
	uint64_t bytes = card_bytes(c, p);
	void *host = bytes_of(c, p);
	int rc = lkdf_copy(c->plain.rt, NULL, c->block, host, bytes, NULL);

	if (!rc)
		rc = lkdf_copy(c->plain.rt, NULL, host, c->block, bytes, NULL);
	return rc ? side_failed("copy", rc) : bench_now_ns() - start;
}

static int64_t raw_overlap(struct cards *c, const struct card_part *p)
{
	return raw_cuda_overlap(c->raw, c->pinned,
				card_bytes(c, p) / CARD_BLOCKS, CARD_BLOCKS,
				CARD_BLOCK_NS);
}

static int64_t lkdf_overlap(struct cards *c, const struct card_part *p)
{
	struct side *s = &c->plain;
	int64_t start = bench_now_ns();
	int rc = 0;
	unsigned i;

	(void)p;
	for (i = 0; i < CARD_BLOCKS && !rc; i++) {
		rc = side_submit(s, s->step, c->blocks[i], NULL);
		if (!rc)
			rc = side_submit(s, s->spin, NULL, NULL);
		if (!rc)
			rc = side_submit(s, s->touch, c->blocks[i], NULL);
	}
	if (!rc)
		rc = lkdf_scope_wait(s->rt, NULL, -1);
	return rc ? side_failed("run", rc) : bench_now_ns() - start;
}

static int64_t run_many(struct side *s, struct lkdf_kind *k,
			struct lkdf_data *d, unsigned nr)
{
	int64_t start = bench_now_ns();
	unsigned i;
	int rc = 0;

	for (i = 0; i < nr && !rc; i++)
		rc = side_submit(s, k, d, NULL);
	if (!rc)
		rc = lkdf_scope_wait(s->rt, NULL, -1);
	return rc ? side_failed("run", rc) : bench_now_ns() - start;
}

static int64_t without_scratch(struct cards *c, const struct card_part *p)
{
	return run_many(&c->plain, c->plain.empty, NULL, p->per);
}

static int64_t with_scratch(struct cards *c, const struct card_part *p)
{
	return run_many(&c->plain, c->plain.scratch, NULL, p->per);
}

/* ---- the launcher ------------------------------------------------------- */

/* ns of CPU of all launchers of this process; of them one is awake. */
static int64_t launchers_ns(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned long long ns, sum = 0;
	struct dirent *e;
	char path[300], comm[32];
	FILE *f;

	while (dir && (e = readdir(dir))) {
		comm[0] = 0;
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 e->d_name);
		f = fopen(path, "re");
		if (f && !fgets(comm, sizeof(comm), f))
			comm[0] = 0;
		if (f)
			fclose(f);
		if (strcmp(comm, "lkdf/d0\n") != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat",
			 e->d_name);
		f = fopen(path, "re");
		if (f && fscanf(f, "%llu", &ns) == 1)
			sum += ns;
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return (int64_t)sum;
}

static int64_t share_of_kernel(struct cards *c, const struct card_part *p)
{
	(void)c;
	(void)p;
	return (int64_t)(WATCHED_NS * SHARE);
}

static int64_t launcher_beside(struct cards *c, const struct card_part *p)
{
	struct side *s = &c->plain;
	int64_t before = launchers_ns(), ns;
	int rc;

	(void)p;
	raw_cuda_set_flag(c->raw, 0);
	rc = side_submit(s, s->gate, NULL, NULL);
	bench_sleep_ns(WATCHED_NS);
	ns = launchers_ns() - before;
	raw_cuda_set_flag(c->raw, 1);
	if (!rc)
		rc = lkdf_scope_wait(s->rt, NULL, -1);
	if (rc)
		return side_failed("run", rc);
	return before ? ns : bench_fail(-ENOENT, "device: no launcher");
}

/* ---- faults ------------------------------------------------------------- */

static int64_t told_fault(int64_t ns)
{
	return ns < 0 ? bench_fail((int)ns, "device: a fault is not told") : ns;
}

static int64_t raw_fault(struct cards *c, const struct card_part *p)
{
	(void)p;
	return told_fault(c->raw_fault_ns);
}

static int64_t lkdf_fault(struct cards *c, const struct card_part *p)
{
	(void)p;
	return told_fault(c->lkdf_fault_ns);
}

/* ---- the table ---------------------------------------------------------- */

const struct card_part card_parts[] = {
	{ "submit", "launch", raw_submit, lkdf_calls, CARD_NR, 0, 0.08, 0,
	  false },
	{ "side-by-side", "raw + 2 us", raw_side_by_side, lkdf_side_by_side,
	  CARD_NR, 2, 1, 0, false },
	{ "chain/first", "raw + 1.5 us", raw_chain, lkdf_first, CARD_NR, 1.5, 1,
	  0, false },
	{ "chain/replay", "raw replay", raw_replay, lkdf_replay, CARD_NR, 0,
	  1.1, 0, false },
	{ "region/10", "raw replay + 3 us", raw_replay, lkdf_replay,
	  CARD_IN_A_ROW, 3, 1, 0, false },
	{ "end/spinning", "raw word + 4 us", raw_end, lkdf_end, 1, 4, 1, 0,
	  false },
	{ "end/asleep", "raw event", raw_end, lkdf_end, 1, 0, 1, 0, false },
	{ "pair/pinned", "raw + 25 us", raw_pairs, lkdf_pairs, PAIRS, 25, 1, 0,
	  false },
	{ "copy/pinned", "raw", raw_copy, lkdf_there_and_back, 2, 0, 1 / 0.9,
	  MIDDLE_MIB, false },
	{ "copy/pinned", "raw", raw_copy, lkdf_there_and_back, 2, 0, 1 / 0.97,
	  CARD_LARGE_MIB, false },
	{ "copy/pageable", "raw", raw_copy, lkdf_there_and_back, 2, 0, 1 / 0.9,
	  CARD_LARGE_MIB, false },
	{ "overlap", "raw", raw_overlap, lkdf_overlap, CARD_BLOCKS, 0, 1 / 0.95,
	  CARD_LARGE_MIB, false },
	{ "scratch", "without", without_scratch, with_scratch, SCRATCHES, 0,
	  1.2, 0, false },
	{ "launcher", "2 % of a CPU", share_of_kernel, launcher_beside, 1, 0, 1,
	  0, true },
	{ "fault", "raw + 100 ms", raw_fault, lkdf_fault, 1, 100000, 1, 0,
	  true },
	{ .name = NULL },
};
