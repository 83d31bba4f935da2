/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * StarPU: a handle per word or tile, registered before the clock starts, and
 * the questions of peer_submit.h. Its default scheduler, no performance
 * models; the submitting thread is not one of its workers. Debian's package
 * has at most STARPU_MAXCPUS workers.
 */
#include "tests/bench/peer_submit.h"
#include "tests/bench/starpu_home.h"

#include <semaphore.h>
#include <starpu.h>

static int nr_workers; /* of the running StarPU; 0: it does not run */
static starpu_data_handle_t *words, *tiles;
static uint32_t nr_words, nr_tiles;

static void unregister(starpu_data_handle_t **v, uint32_t *nr)
{
	uint32_t i;

	for (i = 0; i < *nr; i++)
		starpu_data_unregister((*v)[i]);
	free(*v);
	*v = NULL;
	*nr = 0;
}

static void forget_data(void)
{
	unregister(&words, &nr_words);
	unregister(&tiles, &nr_tiles);
}

static int start_workers(struct question *q, int workers)
{
	struct starpu_conf conf;

	if (workers == nr_workers)
		return 0;
	forget_data();
	if (nr_workers)
		starpu_shutdown();
	nr_workers = 0;
	starpu_conf_init(&conf);
	conf.ncpus = workers;
	conf.ncuda = 0;
	conf.nopencl = 0;
	if (starpu_init(&conf))
		return peer_refuse(q, "does not start");
	nr_workers = workers;
	if ((int)starpu_cpu_worker_get_count() != workers)
		return peer_refuse(q, "has fewer workers than asked for");
	return 0;
}

/* Each worker posts plugged, then waits for plug. */
static sem_t plug, plugged;

static void plug_body(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	sem_post(&plugged);
	while (sem_wait(&plug))
		;
}

static struct starpu_codelet plug_codelet = { .cpu_funcs = { plug_body },
					      .nbuffers = 0 };

static void let_go(int nr)
{
	while (nr--)
		sem_post(&plug);
}

static int hold_workers(struct question *q)
{
	struct starpu_task *t;
	int nr, i, rc = 0;

	for (nr = 0; nr < nr_workers && !rc; nr++) {
		t = starpu_task_create();
		t->cl = &plug_codelet;
		rc = starpu_task_submit(t);
	}
	if (rc)
		nr--;
	for (i = 0; i < nr; i++)
		while (sem_wait(&plugged))
			;
	if (!rc)
		return 0;
	let_go(nr);
	return peer_refuse(q, "cannot submit");
}

static void word_body(void *buffers[], void *arg)
{
	struct plan *p = &the_plan;
	uint32_t task = (uint32_t)(uintptr_t)arg, own, k, nr;
	uint32_t *at = &p->word[task], *in;
	const uint32_t *use = p->use + p->use_at[task];

	nr = p->use_at[task + 1] - p->use_at[task];
	if (nr)
		at = (uint32_t *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	own = *at;
	for (k = 1; k < nr; k++) {
		in = (uint32_t *)STARPU_VARIABLE_GET_PTR(buffers[k]);
		if (!plan_fits(p, use[k], *in, own))
			p->is_wrong = true;
	}
	*at = own + 1;
}

/* One for each number of uses. */
static struct starpu_codelet word_codelet[PLAN_MAX_USES + 1];

static int register_words(struct question *q)
{
	uint32_t i, k;

	if (words)
		return 0;
	for (i = 0; i <= PLAN_MAX_USES; i++) {
		starpu_codelet_init(&word_codelet[i]);
		word_codelet[i].cpu_funcs[0] = word_body;
		word_codelet[i].nbuffers = (int)i;
		for (k = 0; k < i; k++)
			word_codelet[i].modes[k] = k ? STARPU_R : STARPU_RW;
	}
	words = calloc(the_plan.nr_words, sizeof(*words));
	if (!words)
		return peer_refuse(q, "no memory");
	nr_words = the_plan.nr_words;
	for (i = 0; i < nr_words; i++)
		starpu_variable_data_register(&words[i], STARPU_MAIN_RAM,
					      (uintptr_t)&the_plan.word[i],
					      sizeof(the_plan.word[i]));
	return 0;
}

static int submit_word_task(uint32_t i)
{
	const struct plan *p = &the_plan;
	uint32_t k, nr = p->use_at[i + 1] - p->use_at[i];
	struct starpu_task *t = starpu_task_create();

	t->cl = &word_codelet[nr];
	t->cl_arg = (void *)(uintptr_t)i;
	for (k = 0; k < nr; k++)
		t->handles[k] = words[p->use[p->use_at[i] + k]];
	return starpu_task_submit(t);
}

static int submit_plan(struct question *q, int workers, bool is_held)
{
	int64_t start, submitted;
	int rc = 0;
	uint32_t i;

	if (start_workers(q, workers) || register_words(q))
		return -1;
	if (is_held && hold_workers(q))
		return -1;
	start = peer_now_ns();
	for (i = 0; i < the_plan.nr_tasks && !rc; i++)
		rc = submit_word_task(i);
	submitted = peer_now_ns();
	if (is_held)
		let_go(nr_workers);
	starpu_task_wait_for_all();
	q->out[0] = (double)(submitted - start);
	q->out[1] = (double)(peer_now_ns() - submitted);
	return rc ? peer_refuse(q, "cannot submit") : 0;
}

static void tile_body(void *buffers[], void *arg)
{
	const struct tile_op *op = arg;
	double *p[3] = { NULL, NULL, NULL };
	uint32_t i;

	for (i = 0; i <= op->nr_in; i++)
		p[i] = (double *)STARPU_VECTOR_GET_PTR(buffers[i]);
	tiles_do(op->fn, the_tiles.side, p[1], p[2], p[0]);
}

static struct starpu_codelet tile_codelet[3] = {
	{ .cpu_funcs = { tile_body }, .nbuffers = 1, .modes = { STARPU_RW } },
	{ .cpu_funcs = { tile_body },
	  .nbuffers = 2,
	  .modes = { STARPU_RW, STARPU_R } },
	{ .cpu_funcs = { tile_body },
	  .nbuffers = 3,
	  .modes = { STARPU_RW, STARPU_R, STARPU_R } },
};

static int register_tiles(struct question *q)
{
	uint32_t i, side = the_tiles.side;

	if (tiles)
		return 0;
	tiles = calloc((size_t)the_tiles.nr * the_tiles.nr, sizeof(*tiles));
	if (!tiles)
		return peer_refuse(q, "no memory");
	nr_tiles = the_tiles.nr * the_tiles.nr;
	for (i = 0; i < nr_tiles; i++)
		starpu_vector_data_register(&tiles[i], STARPU_MAIN_RAM,
					    (uintptr_t)tiles_at(&the_tiles, i),
					    side * side, sizeof(double));
	return 0;
}

static int submit_tiles(struct question *q, int workers)
{
	const struct tile_op *op;
	struct starpu_task *t;
	int64_t start;
	uint32_t i, k;
	int rc = 0;

	if (start_workers(q, workers) || register_tiles(q))
		return -1;
	start = peer_now_ns();
	for (i = 0; i < the_tiles.nr_ops && !rc; i++) {
		op = &the_tiles.op[i];
		t = starpu_task_create();
		t->cl = &tile_codelet[op->nr_in];
		t->cl_arg = (void *)(uintptr_t)op;
		t->handles[0] = tiles[op->out];
		for (k = 0; k < op->nr_in; k++)
			t->handles[k + 1] = tiles[op->in[k]];
		rc = starpu_task_submit(t);
	}
	starpu_task_wait_for_all();
	q->out[0] = (double)(peer_now_ns() - start);
	return rc ? peer_refuse(q, "cannot submit") : 0;
}

static int peer_answer(struct question *q)
{
	if (peer_is(q, "submit"))
		return answer_submit(q);
	if (peer_is(q, "tiles"))
		return answer_tiles(q);
	return peer_refuse(q, "unknown question");
}

int main(void)
{
	int rc;

	if (sem_init(&plug, 0, 0) || sem_init(&plugged, 0, 0))
		return 1;
	starpu_home();
	rc = peer_loop();
	forget_data();
	if (nr_workers)
		starpu_shutdown();
	return rc;
}
