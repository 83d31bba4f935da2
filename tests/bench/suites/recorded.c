/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench trace: what a recording costs the tasks that it records, and what
 * the file takes. Empty spawned tasks with and without a recording, in turns;
 * then two million tasks of 100 ns, whose file must have them all. Files lie
 * in memory, so that no disk takes part. How long a report of a file takes,
 * and how large its page is, is measured by make bench-report.
 */
#include "bench/arms.h"
#include "stat/stats.h"
#include "tests/bench/suites/suites.h"
#include "trace/read.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY "/dev/shm"
#define GROUP 1000 /* children of a body, which then waits for them */
#define EMPTY_TASKS 200000 /* of a batch: the ring of a worker has room */
#define WARM_UPS 4 /* batches that touch all of the ring */
#define SETTLE_NS 30000000 /* the drain thread has carried a batch */
#define SHORT_TASKS 2000000
#define SHORT_NS 100
#define SHORT_ROUNDS 5
#define QUICK_ROUNDS 3
#define EMPTY_BAR 3.7
#define BYTES_BAR 10

enum {
	EMPTY,
	SHORT,
	NR_PARTS
};

struct side {
	struct lkdf *rt;
	struct lkdf_kind *root, *group, *empty;
};

struct arm {
	int workers;
	char path[64]; /* of the file; "": none so far */
	struct side off, on;
	struct samples by_off, by_on; /* ns a task */
	struct samples lost, bytes; /* bodies of a file, bytes of one */
	uint64_t nr_bodies; /* of the last file, lost ones too */
};

struct job {
	const struct side *side;
	uint32_t turns; /* of the loop in a body; 0: it returns at once */
	uint32_t nr_groups;
};

static void spin(uint32_t turns)
{
	volatile uint32_t x = 1;

	while (turns--)
		x = x * 5 + 1;
}

/* How many turns take SHORT_NS on a CPU that nobody else has. */
static uint32_t turns_of_short(void)
{
	const uint32_t many = 100000;
	int64_t start, best = INT64_MAX;
	int i;

	for (i = 0; i < 50; i++) {
		start = bench_now_ns();
		spin(many);
		start = bench_now_ns() - start;
		if (start < best)
			best = start;
	}
	return (uint32_t)((int64_t)many * SHORT_NS / best) + 1;
}

static int short_body(struct lkdf_ctx *c, void *arg)
{
	const struct job *j = *(struct job **)arg;

	(void)c;
	spin(j->turns);
	return 0;
}

static int group_body(struct lkdf_ctx *c, void *arg)
{
	struct job *j = *(struct job **)arg;
	int i, rc = 0;

	for (i = 0; i < GROUP && !rc; i++)
		rc = lkdf_spawn(c, j->side->empty, &j);
	return rc ? rc : lkdf_join(c);
}

static int root_body(struct lkdf_ctx *c, void *arg)
{
	struct job *j = *(struct job **)arg;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < j->nr_groups && !rc; i++)
		rc = lkdf_spawn(c, j->side->group, &j);
	return rc ? rc : lkdf_join(c);
}

static int make_kind(struct lkdf *rt, const char *name, lkdf_fn fn,
		     struct lkdf_kind **out)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .flags = LKDF_SHARED,
				    .name = name,
				    .fn = fn,
				    .arg_size = sizeof(struct job *) };

	return lkdf_kind_create(rt, &a, out);
}

static void side_close(struct side *s)
{
	lkdf_kind_put(s->root);
	lkdf_kind_put(s->group);
	lkdf_kind_put(s->empty);
	lkdf_close(s->rt);
	memset(s, 0, sizeof(*s));
}

/* path NULL: it records nothing. */
static int side_open(struct side *s, int workers, const char *path)
{
	char text[96] = "trace=\"\"";
	int rc;

	if (path)
		snprintf(text, sizeof(text), "trace=%s", path);
	memset(s, 0, sizeof(*s));
	rc = bench_open(workers, text, &s->rt);
	if (rc)
		return rc;
	rc = make_kind(s->rt, "root", root_body, &s->root);
	if (!rc)
		rc = make_kind(s->rt, "group", group_body, &s->group);
	if (!rc)
		rc = make_kind(s->rt, "short", short_body, &s->empty);
	return rc ? bench_fail(rc, "trace: %s", lkdf_errmsg()) : 0;
}

/* All of the tasks; how long they took is added, where it is asked for. */
static int batch(const struct side *s, uint32_t nr_tasks, uint32_t turns,
		 struct samples *to)
{
	struct job job = { s, turns, nr_tasks / GROUP }, *j = &job;
	struct lkdf_task t = { .size = sizeof(t), .kind = s->root, .arg = &j };
	struct lkdf_event done;
	int64_t start = bench_now_ns();
	int rc = lkdf_submit(s->rt, NULL, &t, &done);

	if (!rc)
		rc = lkdf_event_wait(done, -1);
	if (rc)
		return bench_fail(rc, "trace: %s", lkdf_errmsg());
	if (to)
		samples_add(to, (double)(bench_now_ns() - start) / nr_tasks);
	return 0;
}

static void make_path(struct arm *a)
{
	snprintf(a->path, sizeof(a->path), MEMORY "/lkdf-bench-%d-%d.lkdf",
		 (int)getpid(), a->workers);
}

/* Of the file that has been written; it is gone afterwards. */
static int look_at_file(struct arm *a)
{
	const struct trace_sink nobody = { .u = NULL };
	struct trace_fault fault = { .why = "" };
	struct trace_info info;
	struct stat st;
	FILE *in = fopen(a->path, "re");
	int rc;

	if (!in || fstat(fileno(in), &st)) {
		rc = bench_fail(-errno, "%s: %s", a->path, strerror(errno));
		if (in)
			fclose(in);
		return rc;
	}
	rc = trace_read(in, &nobody, &info, &fault);
	fclose(in);
	unlink(a->path);
	if (rc) {
		bench_fail(rc, "%s: %s", a->path, fault.why);
	} else {
		samples_add(&a->lost, (double)info.slices_lost);
		samples_add(&a->bytes, info.slices ? (double)st.st_size /
							     (double)info.slices
						   : 0);
		a->nr_bodies = info.slices + info.slices_lost;
	}
	trace_info_fini(&info);
	return rc;
}

/* ---- empty tasks --------------------------------------------------------- */

static int build_empty(struct arm *a)
{
	int i, rc;

	make_path(a);
	rc = side_open(&a->off, a->workers, NULL);
	if (!rc)
		rc = side_open(&a->on, a->workers, a->path);
	for (i = 0; i < WARM_UPS && !rc; i++) {
		rc = batch(&a->on, EMPTY_TASKS, 0, NULL);
		if (!rc)
			rc = batch(&a->off, EMPTY_TASKS, 0, NULL);
		bench_sleep_ns(SETTLE_NS);
	}
	return rc;
}

/* Bodies that runtimes of this process have lost so far. */
static double nr_lost(void)
{
	static struct stats all[STATS_MAX];
	int nr = stats_find(getpid(), all, STATS_MAX);
	double lost = 0;
	uint32_t e;

	for (; nr > 0; stats_unmap(&all[nr]))
		for (nr--, e = 0; e <= all[nr].h.nr_executors; e++)
			lost += (double)stats_block(&all[nr], e)->slice_lost;
	return lost;
}

static int round_empty(struct arm *a)
{
	int rc = batch(&a->off, EMPTY_TASKS, 0, &a->by_off);
	double lost = nr_lost();

	if (!rc)
		rc = batch(&a->on, EMPTY_TASKS, 0, &a->by_on);
	samples_add(&a->lost, nr_lost() - lost);
	bench_sleep_ns(SETTLE_NS);
	return rc;
}

/* A body that is lost costs little, so the row says if there are any. */
static void rows_empty(struct bench *b, const struct arm *a)
{
	struct bench_row *row = report_add(&b->report, a->workers, "ns/task",
					   "recorded/%d", a->workers);

	row_value(row, &a->by_on, 1);
	snprintf(row->peer, sizeof(row->peer), "unrecorded");
	row->peer_value = samples_median(&a->by_off);
	row_ratio(row, &a->by_on, &a->by_off);
	row_judge(row, BAR_AT_MOST, EMPTY_BAR, gate_was_fair(&b->gate));
	if (samples_quantile(&a->lost, 1) > 0)
		snprintf(row->note, sizeof(row->note),
			 "up to %.0f of %d bodies were lost",
			 samples_quantile(&a->lost, 1), EMPTY_TASKS);
}

/* ---- short tasks --------------------------------------------------------- */

static int round_short(struct arm *a)
{
	int rc;

	make_path(a);
	rc = side_open(&a->on, a->workers, a->path);
	if (!rc)
		rc = batch(&a->on, SHORT_TASKS, turns_of_short(), &a->by_on);
	side_close(&a->on);
	if (!rc)
		rc = look_at_file(a);
	if (!rc && a->nr_bodies < SHORT_TASKS)
		rc = bench_fail(-EBADMSG, "%llu of %d tasks are in the file",
				(unsigned long long)a->nr_bodies, SHORT_TASKS);
	return rc;
}

/* The worst round counts: none may lose anything. */
static void rows_short(struct bench *b, const struct arm *a)
{
	struct bench_row *row = report_add(&b->report, a->workers, "slices",
					   "short/%d/lost", a->workers);

	row->value = samples_quantile(&a->lost, 1);
	row->ratio = row->value;
	row_judge(row, BAR_AT_MOST, 0, true);
	snprintf(row->note, sizeof(row->note),
		 "of %llu, a task each %.0f ns; worst of %u",
		 (unsigned long long)a->nr_bodies, samples_median(&a->by_on),
		 a->lost.nr);
	row = report_add(&b->report, a->workers, "bytes", "short/%d/slice",
			 a->workers);
	row->value = samples_median(&a->bytes);
	row->ratio = row->value;
	row_judge(row, BAR_AT_MOST, BYTES_BAR, true);
}

/* ---- the frame ----------------------------------------------------------- */

static int arm_open(void *arm, int workers)
{
	struct arm *a = arm;

	a->workers = workers;
	if (access(MEMORY, W_OK))
		return bench_fail(-errno, "no file in memory, %s: %s", MEMORY,
				  strerror(errno));
	return 0;
}

static void arm_drop(void *arm)
{
	struct arm *a = arm;
	int workers = a->workers;

	side_close(&a->off);
	side_close(&a->on);
	if (a->path[0])
		unlink(a->path);
	memset(a, 0, sizeof(*a));
	a->workers = workers;
}

static const char *part_name(unsigned part)
{
	return part == EMPTY ? "empty tasks" : "short tasks";
}

static unsigned part_rounds(const struct bench *b, unsigned part)
{
	if (part == EMPTY)
		return b->rounds;
	return b->is_quick ? QUICK_ROUNDS : SHORT_ROUNDS;
}

static int arm_build(const struct bench *b, void *arm, unsigned part)
{
	(void)b;
	return part == EMPTY ? build_empty(arm) : 0;
}

static int arm_round(const struct bench *b, void *arm, unsigned part)
{
	(void)b;
	return part == EMPTY ? round_empty(arm) : round_short(arm);
}

static void arm_rows(struct bench *b, const void *arm, const void *first,
		     unsigned part)
{
	(void)first;
	if (part == EMPTY)
		rows_empty(b, arm);
	else
		rows_short(b, arm);
}

static const struct bench_arms how = {
	.size = sizeof(struct arm),
	.open = arm_open,
	.close = arm_drop,
	.name = part_name,
	.rounds = part_rounds,
	.build = arm_build,
	.round = arm_round,
	.rows = arm_rows,
	.drop = arm_drop,
};

double bench_recorded_steps(const struct bench *b)
{
	return bench_arms_steps(b, &how, NR_PARTS);
}

int bench_recorded(struct bench *b)
{
	return bench_arms(b, &how, NR_PARTS);
}
