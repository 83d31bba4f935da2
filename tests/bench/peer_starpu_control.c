/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * StarPU's tasks as a pipeline, for lkdf bench flow: a task for each token and
 * stage, which uses the token's slot and, where the stage is serial, the stage,
 * both as data that it reads and writes. One thread, which is none of its
 * workers, submits them all, in the order of tokens; a slot is free again when
 * its token has left. StarPU has no loops of tasks and no bounded queues
 * between them, so these questions are refused.
 *
 * stream STAGES NR UNITS WORKERS    ns of NR tokens
 */
#include "tests/bench/control.h"
#include "tests/bench/peer_loop.h"
#include "tests/bench/starpu_home.h"

#include <starpu.h>

static struct stream the_stream;
static int nr_workers; /* of the running StarPU; 0: it does not run */
static starpu_data_handle_t slots[STREAM_TOKENS], stages[STREAM_STAGES];

static void register_data(void)
{
	unsigned i;

	for (i = 0; i < STREAM_TOKENS; i++)
		starpu_variable_data_register(&slots[i], STARPU_MAIN_RAM,
					      (uintptr_t)&the_stream.slot[i],
					      sizeof(the_stream.slot[i]));
	for (i = 0; i < STREAM_STAGES; i++)
		starpu_variable_data_register(&stages[i], STARPU_MAIN_RAM,
					      (uintptr_t)&the_stream.stage[i],
					      sizeof(the_stream.stage[i]));
}

static void unregister_data(void)
{
	unsigned i;

	for (i = 0; i < STREAM_TOKENS; i++)
		starpu_data_unregister(slots[i]);
	for (i = 0; i < STREAM_STAGES; i++)
		starpu_data_unregister(stages[i]);
}

static void stop_workers(void)
{
	if (!nr_workers)
		return;
	unregister_data();
	starpu_shutdown();
	nr_workers = 0;
}

static int start_workers(struct question *q, int workers)
{
	struct starpu_conf conf;

	if (workers == nr_workers)
		return 0;
	stop_workers();
	starpu_conf_init(&conf);
	conf.ncpus = workers;
	conf.ncuda = 0;
	conf.nopencl = 0;
	if (starpu_init(&conf))
		return peer_refuse(q, "does not start");
	register_data();
	nr_workers = workers;
	if ((int)starpu_cpu_worker_get_count() != workers)
		return peer_refuse(q, "has fewer workers than asked for");
	return 0;
}

/* The argument is the token's number times STREAM_STAGES, and the stage's. */
static void stage_body(void *buffers[], void *arg)
{
	uintptr_t at = (uintptr_t)arg;

	(void)buffers; /* they are those of the_stream, in its memory */
	stream_do(&the_stream, at % STREAM_STAGES, at / STREAM_STAGES);
}

static struct starpu_codelet parallel_stage = { .cpu_funcs = { stage_body },
						.nbuffers = 1,
						.modes = { STARPU_RW } };
static struct starpu_codelet serial_stage = {
	.cpu_funcs = { stage_body },
	.nbuffers = 2,
	.modes = { STARPU_RW, STARPU_RW },
};

static int submit_stage(unsigned stage, uint64_t token)
{
	struct starpu_task *t = starpu_task_create();
	bool is_serial = the_stream.stage[stage].is_serial;

	t->cl = is_serial ? &serial_stage : &parallel_stage;
	t->cl_arg = (void *)(uintptr_t)(token * STREAM_STAGES + stage);
	t->handles[0] = slots[token % STREAM_TOKENS];
	if (is_serial)
		t->handles[1] = stages[stage];
	return starpu_task_submit(t);
}

static int run_stream(void)
{
	unsigned stage;
	uint64_t token;
	int rc = 0;

	for (token = 0; token < the_stream.nr; token++)
		for (stage = 0; stage < STREAM_STAGES && !rc; stage++)
			rc = submit_stage(stage, token);
	starpu_task_wait_for_all();
	return rc;
}

static int peer_answer(struct question *q)
{
	int64_t start;

	if (peer_is(q, "control"))
		return peer_refuse(q, "has no loops of tasks");
	if (!peer_is(q, "stream") || q->nr < 5)
		return peer_refuse(q, "unknown question");
	if (stream_init(&the_stream, q->word[1], peer_number(q, 2),
			peer_number(q, 3)))
		return peer_refuse(q, "no such stream");
	if (the_stream.is_fed)
		return peer_refuse(q, "has no bounded queue");
	if (start_workers(q, (int)peer_number(q, 4)))
		return -1;
	start = peer_now_ns();
	if (run_stream())
		return peer_refuse(q, "cannot submit");
	q->out[0] = (double)(peer_now_ns() - start);
	return stream_is_right(&the_stream) ? 1
					    : peer_refuse(q, "wrong result");
}

int main(void)
{
	int rc;

	starpu_home();
	rc = peer_loop();
	stop_workers();
	return rc;
}
