/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "cuda/batch.h"

#include "base/err.h"
#include "base/util.h"
#include "cuda/device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_ALIGN 16 /* the driver reads each as its type */

_Static_assert(sizeof(struct cuda_step) ==
		       sizeof(void *) + sizeof(struct cuda_shape) + 4,
	       "no padding");

/* ---- values ------------------------------------------------------------- */

static uint32_t room_of(uint32_t bytes)
{
	return (bytes + VALUE_ALIGN - 1) & ~(uint32_t)(VALUE_ALIGN - 1);
}

static uint32_t room_of_all(const struct cuda_known *k)
{
	uint32_t sum = 0, i;

	for (i = 0; i < k->nr_param; i++)
		sum += room_of(k->param_bytes[i]);
	return sum;
}

static void take_values(const struct cuda_known *k, void **param,
			unsigned char *to)
{
	uint32_t i, room;

	for (i = 0; i < k->nr_param; i++) {
		room = room_of(k->param_bytes[i]);
		memset(to, 0, room);
		memcpy(to, param[i], k->param_bytes[i]);
		to += room;
	}
}

/* Where the values lie; behind them are those of the next launch. */
static unsigned char *set_params(const struct cuda_known *k, unsigned char *at,
				 void **param)
{
	uint32_t i;

	for (i = 0; i < k->nr_param; i++) {
		param[i] = at;
		at += room_of(k->param_bytes[i]);
	}
	return at;
}

/* ---- one by one --------------------------------------------------------- */

cu_result cuda_run_step(const struct cuda_device *d, const struct cuda_step *s,
			void **param, cu_stream stream)
{
	const struct cuda_shape *h = &s->shape;

	return d->cuda.cuLaunchKernel(s->known->function, h->grid[0],
				      h->grid[1], h->grid[2], h->block[0],
				      h->block[1], h->block[2], h->dynamic,
				      stream, param, NULL);
}

static bool is_told(const struct cuda_batch *b, uint32_t i)
{
	return b->step[i].has_word || (i == b->nr - 1 && b->is_told);
}

/* The next poll() says of an error that loses the device. */
static void fail_launch(struct cuda_device *d, cu_result r,
			struct lkdf_device_op op)
{
	int rc = cuda_fails(d, "cuLaunchKernel", r);

	if (rc != -ENODEV)
		lkdf_device_failed(op, rc, err_text());
	else
		d->broken = r;
}

static void give_steps(struct cuda_device *d, unsigned queue,
		       struct cuda_batch *b)
{
	struct cuda_queue *q = &d->queue[queue];
	void *param[LKDF_MAX_PARAMS];
	unsigned char *at = b->value;
	cu_result r;
	uint32_t i;

	for (i = 0; i < b->nr && !d->broken; i++) {
		at = set_params(b->step[i].known, at, param);
		r = cuda_run_step(d, &b->step[i], param, q->stream);
		if (!r && !is_told(b, i))
			q->has_quiet = true;
		else if (!r)
			r = cuda_give_word(d, queue, b->op[i]);
		if (r)
			fail_launch(d, r, b->op[i]);
	}
}

/* ---- graphs ------------------------------------------------------------- */

static void free_graph(struct cuda_device *d, struct cuda_graph *g)
{
	if (g->exec)
		d->cuda.cuGraphExecDestroy(g->exec);
	list_del(&g->list);
	d->nr_graphs--;
	free(g->step);
	free(g->value);
	free(g);
}

static struct cuda_graph *graph_of(struct list *at)
{
	return container_of(at, struct cuda_graph, list);
}

void cuda_forget_graphs(struct cuda_device *d, const struct cuda_known *k)
{
	struct list *at = d->graphs.next, *next;
	struct cuda_graph *g;
	uint32_t i;

	for (; at != &d->graphs; at = next) {
		next = at->next;
		g = graph_of(at);
		for (i = 0; k && i < g->nr && g->step[i].known != k; i++)
			;
		if (i < g->nr)
			free_graph(d, g);
	}
}

static struct cuda_graph *find_graph(struct cuda_device *d,
				     const struct cuda_batch *b)
{
	struct cuda_graph *g;
	struct list *at;

	for (at = d->graphs.next; at != &d->graphs; at = at->next) {
		g = graph_of(at);
		if (g->nr != b->nr || g->bytes != b->bytes ||
		    memcmp(g->step, b->step, b->nr * sizeof(*b->step)))
			continue;
		list_del(at);
		list_push(&d->graphs, at);
		return g;
	}
	return NULL;
}

/* Without memory the batch is new the next time, too. */
static void note_graph(struct cuda_device *d, const struct cuda_batch *b)
{
	struct cuda_graph *g = calloc(1, sizeof(*g));

	if (!g)
		return;
	list_push(&d->graphs, &g->list);
	d->nr_graphs++;
	g->nr = b->nr;
	g->bytes = b->bytes;
	g->step = malloc(b->nr * sizeof(*b->step));
	g->value = malloc(b->bytes ? b->bytes : 1);
	if (!g->step || !g->value) {
		free_graph(d, g);
		return;
	}
	memcpy(g->step, b->step, b->nr * sizeof(*b->step));
	g->has_words = b->nr_told > b->is_told;
	if (d->nr_graphs > BATCH_GRAPHS)
		free_graph(d, graph_of(d->graphs.prev));
}

/* Words get the numbers that their launches will have. */
static cu_result capture_steps(const struct cuda_device *d,
			       const struct cuda_queue *q, struct cuda_batch *b)
{
	void *param[LKDF_MAX_PARAMS];
	unsigned char *at = b->value;
	uint32_t number = q->given, i;
	cu_result r = CU_SUCCESS;

	for (i = 0; i < b->nr && !r; i++) {
		at = set_params(b->step[i].known, at, param);
		r = cuda_run_step(d, &b->step[i], param, d->capture);
		if (!r && b->step[i].has_word)
			r = d->cuda.cuStreamWriteValue32(
				d->capture, q->word.there, ++number, 0);
	}
	return r;
}

/* Other threads may call what they like meanwhile. */
static cu_result capture_batch(const struct cuda_device *d,
			       const struct cuda_queue *q, struct cuda_batch *b,
			       cu_graph *out)
{
	cu_result r, end;

	r = d->cuda.cuStreamBeginCapture(d->capture, CU_CAPTURE_RELAXED);
	if (r)
		return r;
	r = capture_steps(d, q, b);
	end = d->cuda.cuStreamEndCapture(d->capture, out);
	if (!r && !end)
		return CU_SUCCESS;
	if (!end)
		d->cuda.cuGraphDestroy(*out);
	return r ? r : end;
}

/* It runs while it is updated or destroyed: the run does not change. */
static cu_result change_graph(struct cuda_device *d, struct cuda_graph *g,
			      cu_graph from)
{
	_Alignas(8) unsigned char told[64] = { 0 };
	bool is_new = !g->exec;
	cu_result r = CU_SUCCESS;

	if (!is_new)
		r = d->cuda.cuGraphExecUpdate(g->exec, from,
					      (cu_updated *)(void *)told);
	if (r == CU_GRAPH_UPDATE_FAILURE) {
		d->cuda.cuGraphExecDestroy(g->exec);
		g->exec = NULL;
		r = CU_SUCCESS;
	}
	if (!r && !g->exec)
		r = d->cuda.cuGraphInstantiateWithFlags(&g->exec, from, 0);
	if (!r && !is_new)
		cuda_count(d, CUDA_UPDATES);
	return r;
}

static cu_result make_graph(struct cuda_device *d, const struct cuda_queue *q,
			    struct cuda_graph *g, struct cuda_batch *b)
{
	cu_graph from = NULL;
	cu_result r = capture_batch(d, q, b, &from);

	if (!r) {
		r = change_graph(d, g, from);
		d->cuda.cuGraphDestroy(from);
	}
	if (!r)
		memcpy(g->value, b->value, b->bytes);
	return r;
}

static void refuse_graph(struct cuda_device *d, struct cuda_graph *g)
{
	if (g->exec)
		d->cuda.cuGraphExecDestroy(g->exec);
	g->exec = NULL;
	if (g->nr_refused < BATCH_REFUSED)
		g->nr_refused++;
	g->rests = (1u << g->nr_refused) - 1;
	cuda_count(d, CUDA_REFUSED);
}

/* The numbers of its words are given with it. */
static void note_run(struct cuda_device *d, unsigned queue,
		     struct cuda_batch *b)
{
	struct cuda_queue *q = &d->queue[queue];
	cu_result r = CU_SUCCESS;
	uint32_t i;

	cuda_count(d, CUDA_GRAPHS);
	for (i = 0; i < b->nr; i++)
		if (b->step[i].has_word)
			cuda_give_number(q, b->op[i]);
	if (b->is_told)
		r = cuda_give_word(d, queue, b->op[b->nr - 1]);
	else
		q->has_quiet = true;
	if (r)
		fail_launch(d, r, b->op[b->nr - 1]);
}

/* False: nothing was given. */
static bool run_graph(struct cuda_device *d, unsigned queue,
		      struct cuda_graph *g, struct cuda_batch *b)
{
	struct cuda_queue *q = &d->queue[queue];
	cu_result r = CU_SUCCESS;

	if (g->rests) {
		g->rests--;
		return false;
	}
	if (!g->exec || g->has_words || memcmp(g->value, b->value, b->bytes))
		r = make_graph(d, q, g, b);
	if (!r)
		r = d->cuda.cuGraphLaunch(g->exec, q->stream);
	if (r) {
		refuse_graph(d, g);
		return false;
	}
	g->nr_refused = 0;
	note_run(d, queue, b);
	return true;
}

/* ---- batches ------------------------------------------------------------ */

static void give_batch(struct cuda_device *d, unsigned queue,
		       struct cuda_batch *b)
{
	struct cuda_graph *g;

	if (b->nr >= BATCH_LEAST) {
		g = find_graph(d, b);
		if (g && run_graph(d, queue, g, b))
			return;
		if (!g)
			note_graph(d, b);
	}
	give_steps(d, queue, b);
}

void cuda_flush(struct cuda_device *d, unsigned queue)
{
	struct cuda_batch *b = d->queue[queue].batch;

	if (!b || !b->nr)
		return;
	if (!d->broken)
		give_batch(d, queue, b);
	b->nr = b->nr_told = b->bytes = 0;
	b->is_told = false;
}

void cuda_flush_all(struct cuda_device *d)
{
	unsigned i;

	for (i = 0; i < d->nr_queues; i++)
		cuda_flush(d, i);
}

/* A program's stream may be captured; what a driver does not tell of a
 * function it may still read. */
static bool may_hold(const struct cuda_device *d, const struct cuda_queue *q,
		     const struct cuda_known *k, bool is_quiet)
{
	return !d->foreign && k->nr_param != UINT32_MAX &&
	       (is_quiet || (q->batch && q->batch->nr)) &&
	       room_of_all(k) <= BATCH_BYTES;
}

static void add_step(struct cuda_batch *b, const struct cuda_step *s,
		     void **param, bool is_quiet, struct lkdf_device_op op)
{
	if (b->is_told)
		b->step[b->nr - 1].has_word = 1;
	b->step[b->nr] = *s;
	b->op[b->nr] = op;
	take_values(s->known, param, b->value + b->bytes);
	b->bytes += room_of_all(s->known);
	b->is_told = !is_quiet;
	b->nr_told += !is_quiet;
	b->nr++;
}

bool cuda_hold(struct cuda_device *d, unsigned queue, const struct cuda_step *s,
	       void **param, bool is_quiet, struct lkdf_device_op op)
{
	struct cuda_queue *q = &d->queue[queue];
	struct cuda_batch *b;

	if (!may_hold(d, q, s->known, is_quiet))
		return false;
	if (!q->batch)
		q->batch = calloc(1, sizeof(*q->batch));
	b = q->batch;
	if (!b)
		return false;
	if (b->nr == BATCH_LAUNCHES ||
	    b->bytes + room_of_all(s->known) > BATCH_BYTES)
		cuda_flush(d, queue);
	if (cuda_make_room(q, b->nr_told + 1))
		return false;
	add_step(b, s, param, is_quiet, op);
	if (!is_quiet && b->nr >= BATCH_ENOUGH)
		cuda_flush(d, queue);
	return true;
}
