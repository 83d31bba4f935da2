/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reads without a ring, by hand: one thread after the other, and threads that
 * take reads from a queue and put them in another when they are done.
 */
#include "tests/bench/suites/io.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_THREADS 16

struct read {
	uint32_t i, slot;
};

/* Never full: at most IO_MAX_QD are under way. */
struct queue {
	struct read at[IO_MAX_QD];
	uint32_t head, tail;
};

struct io_pool {
	pthread_t thread[MAX_THREADS];
	int nr_threads;

	/* Set while nothing is under way. */
	const struct io_load *l;

	/* Under lock. */
	pthread_mutex_t lock;
	pthread_cond_t has_work, has_done;
	struct queue work, done;
	uint32_t nr_wrong;
	int nr_idle;
	bool is_waiting, is_over;
};

static ssize_t read_one(const struct io_load *l, uint32_t i, uint32_t slot)
{
	return pread(l->file->fd, l->buf + (size_t)slot * IO_PAGE, IO_PAGE,
		     io_load_offset(l, i));
}

int64_t io_pread_run(const struct io_load *l)
{
	int64_t start = bench_now_ns();
	uint32_t i, nr_wrong = 0;

	for (i = 0; i < l->nr; i++)
		nr_wrong += !io_load_came(l, i, 0, read_one(l, i, 0));
	start = bench_now_ns() - start;
	return nr_wrong ? bench_fail(-EBADMSG, "io: pread: wrong bytes")
			: start;
}

static void put(struct queue *q, struct read r)
{
	q->at[q->tail++ % IO_MAX_QD] = r;
}

static struct read take(struct queue *q)
{
	return q->at[q->head++ % IO_MAX_QD];
}

static void *pool_main(void *arg)
{
	struct io_pool *p = arg;
	struct read r;
	bool is_wrong;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (p->work.head == p->work.tail && !p->is_over) {
			p->nr_idle++;
			pthread_cond_wait(&p->has_work, &p->lock);
			p->nr_idle--;
		}
		if (p->is_over)
			break;
		r = take(&p->work);
		pthread_mutex_unlock(&p->lock);
		is_wrong = !io_load_came(p->l, r.i, r.slot,
					 read_one(p->l, r.i, r.slot));
		pthread_mutex_lock(&p->lock);
		p->nr_wrong += is_wrong;
		put(&p->done, r);
		if (p->is_waiting)
			pthread_cond_signal(&p->has_done);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int io_pool_open(int nr_threads, struct io_pool **out)
{
	struct io_pool *p = calloc(1, sizeof(*p));

	*out = p;
	if (!p)
		return bench_fail(-ENOMEM, "io: no memory");
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->has_work, NULL);
	pthread_cond_init(&p->has_done, NULL);
	while (p->nr_threads < nr_threads) {
		if (pthread_create(&p->thread[p->nr_threads], NULL, pool_main,
				   p))
			return bench_fail(-EAGAIN, "io: no more threads");
		p->nr_threads++;
	}
	return 0;
}

/* Under lock. */
static void push(struct io_pool *p, struct read r)
{
	put(&p->work, r);
	if (p->nr_idle)
		pthread_cond_signal(&p->has_work);
}

int64_t io_pool_run(struct io_pool *p, const struct io_load *l)
{
	int64_t start = bench_now_ns();
	uint32_t next = 0, nr_done = 0;
	struct read r;

	pthread_mutex_lock(&p->lock);
	p->l = l;
	p->nr_wrong = 0;
	for (; next < l->qd && next < l->nr; next++)
		push(p, (struct read){ next, next });
	while (nr_done < l->nr) {
		p->is_waiting = true;
		while (p->done.head == p->done.tail)
			pthread_cond_wait(&p->has_done, &p->lock);
		p->is_waiting = false;
		for (; p->done.head != p->done.tail; nr_done++) {
			r = take(&p->done);
			if (next < l->nr)
				push(p, (struct read){ next++, r.slot });
		}
	}
	pthread_mutex_unlock(&p->lock);
	start = bench_now_ns() - start;
	return p->nr_wrong ? bench_fail(-EBADMSG, "io: pool: wrong bytes")
			   : start;
}

void io_pool_close(struct io_pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->is_over = true;
	pthread_cond_broadcast(&p->has_work);
	pthread_mutex_unlock(&p->lock);
	while (p->nr_threads)
		pthread_join(p->thread[--p->nr_threads], NULL);
	pthread_cond_destroy(&p->has_work);
	pthread_cond_destroy(&p->has_done);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
