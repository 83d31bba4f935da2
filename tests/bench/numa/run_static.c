/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a hand-written program does: one thread pinned to each CPU runs the
 * tasks whose blocks it owns, in the order of their numbers, and sleeps until
 * the predecessors are complete, and between runs until all are there.
 */
#include "tests/bench/numa/driver.h"
#include "tests/vm/plugin/guest.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	pthread_t thread[PROGRAM_WORKERS];
	pthread_barrier_t ready;
	struct program *program;
	uint32_t *is_done;
} job;

static void wait_for(uint32_t *word, uint32_t run)
{
	uint32_t seen;

	while ((seen = __atomic_load_n(word, __ATOMIC_ACQUIRE)) < run)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL);
}

static void set(uint32_t *word, uint32_t run)
{
	__atomic_store_n(word, run, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

static void run_own(uint32_t self, uint32_t run)
{
	uint32_t i, n;
	struct task *t;

	for (i = 0; i < job.program->nr_tasks; i++) {
		t = &job.program->task[i];
		if (t->owner != self)
			continue;
		for (n = 0; n < t->nr_preds; n++)
			wait_for(&job.is_done[t->pred[n]], run);
		program_body(t, t->at);
		set(&job.is_done[i], run);
	}
}

static void *work(void *arg)
{
	uint32_t self = (uint32_t)(uintptr_t)arg, run;

	guest_pin((int)self);
	for (run = 1; run <= job.program->nr_repeats; run++) {
		pthread_barrier_wait(&job.ready);
		run_own(self, run);
	}
	pthread_barrier_wait(&job.ready);
	return NULL;
}

static int prepare(struct program *p)
{
	uint32_t i;

	job.program = p;
	job.is_done = calloc(p->nr_tasks, sizeof(*job.is_done));
	if (!job.is_done)
		return -1;
	pthread_barrier_init(&job.ready, NULL, PROGRAM_WORKERS + 1);
	for (i = 0; i < PROGRAM_WORKERS; i++) {
		if (pthread_create(&job.thread[i], NULL, work,
				   (void *)(uintptr_t)i)) {
			fprintf(stderr, "static: no thread\n");
			exit(1);
		}
	}
	return 0;
}

static int run(struct program *p)
{
	uint32_t i;

	for (i = 0; i <= p->nr_repeats; i++)
		pthread_barrier_wait(&job.ready);
	for (i = 0; i < PROGRAM_WORKERS; i++)
		pthread_join(job.thread[i], NULL);
	return 0;
}

static void finish(void)
{
	pthread_barrier_destroy(&job.ready);
	free(job.is_done);
}

int main(int argc, char **argv)
{
	static const struct driver d = { "static", prepare, run, finish };

	return driver_main(&d, argc, argv);
}
