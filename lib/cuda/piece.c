/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "cuda/piece.h"

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

/* A piece was given this, or is given it now. */
struct content {
	struct cuda_step *step; /* by launch */
	unsigned char *value; /* of all launches */
	uint32_t bytes, room; /* of the values, and allocated */
};

struct cuda_piece {
	struct list list; /* of the device's */
	uint32_t nr;
	cu_exec exec; /* NULL: none yet */
	unsigned nr_refused; /* since the last run of it */
	unsigned rests; /* so many times it goes one by one */
	struct content had, now; /* had: as the graph has it */

	/* While it runs. */
	struct list running; /* of its queue */
	uint32_t number; /* of its last command, in the queue */
	uint32_t nr_stages, nr_told;
	struct lkdf_device_op *stage; /* by number, from 0 */
	struct cuda_word word;
};

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

static int add_values(struct content *c, const struct cuda_known *k,
		      void **param)
{
	uint32_t bytes = room_of_all(k), room = c->room ? c->room : 1024;
	unsigned char *v;

	while (room < c->bytes + bytes)
		room *= 2;
	if (room > c->room) {
		v = realloc(c->value, room);
		if (!v)
			return err(-ENOMEM, "cuda: no memory");
		c->value = v;
		c->room = room;
	}
	take_values(k, param, c->value + c->bytes);
	c->bytes += bytes;
	return 0;
}

/* ---- pieces ------------------------------------------------------------- */

static void free_piece(struct cuda_piece *p)
{
	free(p->had.step);
	free(p->had.value);
	free(p->now.step);
	free(p->now.value);
	free(p->stage);
	free(p);
}

static struct cuda_piece *create_piece(struct cuda_device *d, uint32_t nr)
{
	struct cuda_piece *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->nr = nr;
	p->had.step = calloc(nr, sizeof(*p->had.step));
	p->now.step = calloc(nr, sizeof(*p->now.step));
	p->stage = calloc(nr, sizeof(*p->stage));
	if (!p->had.step || !p->now.step || !p->stage) {
		free_piece(p);
		return NULL;
	}
	list_init(&p->running);
	list_push(&d->pieces, &p->list);
	return p;
}

static void drop_exec(const struct cuda_device *d, struct cuda_piece *p)
{
	if (p->exec)
		d->cuda.cuGraphExecDestroy(p->exec);
	p->exec = NULL;
}

void cuda_drop_piece(void *dev, struct lkdf_piece *piece)
{
	struct cuda_device *d = dev;
	struct cuda_piece *p = piece->of_driver;

	if (!p)
		return;
	drop_exec(d, p);
	if (p->word.at)
		cuda_put_word(d, &p->word);
	list_del(&p->running);
	list_del(&p->list);
	free_piece(p);
	piece->of_driver = NULL;
}

/* The device is lost: nobody asks for its pieces any more. */
void cuda_close_pieces(struct cuda_device *d)
{
	struct cuda_piece *p;

	while (!list_is_empty(&d->pieces)) {
		p = container_of(d->pieces.next, struct cuda_piece, list);
		drop_exec(d, p);
		list_del(&p->running);
		list_del(&p->list);
		free_piece(p);
	}
}

void cuda_forget_pieces(struct cuda_device *d, const struct cuda_known *k)
{
	struct list *at;
	struct cuda_piece *p;
	uint32_t i;

	for (at = d->pieces.next; at != &d->pieces; at = at->next) {
		p = container_of(at, struct cuda_piece, list);
		for (i = 0; i < p->nr && p->had.step[i].known != k; i++)
			;
		if (i < p->nr)
			drop_exec(d, p);
	}
}

/* ---- graphs ------------------------------------------------------------- */

cu_result cuda_run_step(const struct cuda_device *d, const struct cuda_step *s,
			void **param, cu_stream stream)
{
	const struct cuda_shape *h = &s->shape;

	return d->cuda.cuLaunchKernel(s->known->function, h->grid[0],
				      h->grid[1], h->grid[2], h->block[0],
				      h->block[1], h->block[2], h->dynamic,
				      stream, param, NULL);
}

static cu_result capture_steps(const struct cuda_device *d,
			       struct cuda_piece *p)
{
	void *param[LKDF_MAX_PARAMS];
	unsigned char *at = p->now.value;
	uint32_t stage = 0, i;
	cu_result r = CU_SUCCESS;

	for (i = 0; i < p->nr && !r; i++) {
		at = set_params(p->now.step[i].known, at, param);
		r = cuda_run_step(d, &p->now.step[i], param, d->capture);
		if (!r && p->now.step[i].is_stage)
			r = d->cuda.cuStreamWriteValue32(
				d->capture, p->word.there, ++stage, 0);
	}
	return r;
}

/* Other threads may call what they like meanwhile. */
static cu_result capture_piece(const struct cuda_device *d,
			       struct cuda_piece *p, cu_graph *out)
{
	cu_result r, end;

	r = d->cuda.cuStreamBeginCapture(d->capture, CU_CAPTURE_RELAXED);
	if (r)
		return r;
	r = capture_steps(d, p);
	end = d->cuda.cuStreamEndCapture(d->capture, out);
	if (!r && !end)
		return CU_SUCCESS;
	if (!end)
		d->cuda.cuGraphDestroy(*out);
	return r ? r : end;
}

static cu_result change_exec(struct cuda_device *d, struct cuda_piece *p,
			     cu_graph from)
{
	_Alignas(8) unsigned char told[64] = { 0 };
	bool is_new = !p->exec;
	cu_result r = CU_SUCCESS;

	if (!is_new)
		r = d->cuda.cuGraphExecUpdate(p->exec, from,
					      (cu_updated *)(void *)told);
	if (r == CU_GRAPH_UPDATE_FAILURE) {
		drop_exec(d, p);
		r = CU_SUCCESS;
	}
	if (!r && !p->exec)
		r = d->cuda.cuGraphInstantiateWithFlags(&p->exec, from, 0);
	if (!r && !is_new)
		cuda_count(d, CUDA_UPDATES);
	return r;
}

/* The graph has what the piece is given now. */
static cu_result make_exec(struct cuda_device *d, struct cuda_piece *p)
{
	cu_graph from = NULL;
	struct content was;
	cu_result r = capture_piece(d, p, &from);

	if (!r) {
		r = change_exec(d, p, from);
		d->cuda.cuGraphDestroy(from);
	}
	if (r)
		return r;
	was = p->had;
	p->had = p->now;
	p->now = was;
	return CU_SUCCESS;
}

static bool is_same(const struct cuda_piece *p)
{
	return p->exec && p->had.bytes == p->now.bytes &&
	       !memcmp(p->had.step, p->now.step,
		       p->nr * sizeof(*p->now.step)) &&
	       !(p->now.bytes &&
		 memcmp(p->had.value, p->now.value, p->now.bytes));
}

static int refuse_piece(struct cuda_device *d, struct cuda_piece *p)
{
	drop_exec(d, p);
	if (p->nr_refused < PIECE_REFUSED)
		p->nr_refused++;
	p->rests = (1u << p->nr_refused) - 1;
	cuda_count(d, CUDA_REFUSED);
	return -EOPNOTSUPP;
}

/* ---- running it --------------------------------------------------------- */

/* The driver may read parameters of a function that it does not tell of. */
static int take_step(struct cuda_device *d, struct cuda_piece *p, uint32_t i,
		     const struct lkdf_launch *l)
{
	struct cuda_step *s = &p->now.step[i];
	void *param[LKDF_MAX_PARAMS];
	struct cuda_values v = { .nr = 0 };
	int rc;

	memset((void *)s, 0, sizeof(*s));
	rc = cuda_set_step(d, l, s, &v);
	if (rc)
		return rc;
	if (s->known->nr_param == UINT32_MAX)
		return -ENOSYS;
	s->is_stage = i < p->nr - 1 && !(l->flags & LKDF_LAUNCH_QUIET);
	memcpy(param, v.param, sizeof(param));
	return add_values(&p->now, s->known, param);
}

static int take_launches(struct cuda_device *d, struct cuda_piece *p,
			 const struct lkdf_launch *const *launch,
			 const struct lkdf_device_op *op)
{
	uint32_t i;
	int rc = 0;

	p->now.bytes = p->nr_stages = p->nr_told = 0;
	for (i = 0; i < p->nr && !rc; i++) {
		rc = take_step(d, p, i, launch[i]);
		if (!rc && p->now.step[i].is_stage)
			p->stage[p->nr_stages++] = op[i];
	}
	if (!rc && p->nr_stages && !p->word.at)
		rc = cuda_take_word(d, &p->word);
	return rc;
}

/* Until the word has that number of a stage. */
static int tell_stages(struct cuda_piece *p, uint32_t word)
{
	int nr = 0;

	for (; p->nr_told < word && p->nr_told < p->nr_stages; nr++)
		lkdf_device_done(p->stage[p->nr_told++], 0);
	return nr;
}

/*
 * A word that is refused is that of the queue: the stream has done all then.
 */
static void note_run(struct cuda_device *d, unsigned queue,
		     struct cuda_piece *p, struct lkdf_device_op last)
{
	struct cuda_queue *q = &d->queue[queue];
	cu_result r;
	int rc;

	cuda_count(d, CUDA_GRAPHS);
	p->nr_refused = 0;
	r = cuda_give_word(d, queue, last);
	if (!r) {
		p->number = q->given;
		list_append(&q->running, &p->running);
		return;
	}
	rc = cuda_fails(d, "cuStreamWriteValue32", r);
	if (rc == -ENODEV) {
		d->broken = r;
		return;
	}
	tell_stages(p, p->nr_stages);
	lkdf_device_failed(last, rc, err_text());
}

static int run_piece(struct cuda_device *d, unsigned queue,
		     struct cuda_piece *p, struct lkdf_device_op last)
{
	cu_result r = CU_SUCCESS;
	int rc = cuda_begin_command(d, queue);

	if (rc)
		return rc;
	if (!is_same(p))
		r = make_exec(d, p);
	if (p->word.at)
		a_store(p->word.at, 0, relaxed);
	if (!r)
		r = d->cuda.cuGraphLaunch(p->exec, d->queue[queue].stream);
	if (r)
		return refuse_piece(d, p);
	note_run(d, queue, p, last);
	return 0;
}

/* A stream of the program's may be captured by it. */
int cuda_launch_piece(void *dev, unsigned queue, struct lkdf_piece *piece,
		      const struct lkdf_launch *const *launch,
		      const struct lkdf_device_op *op)
{
	struct cuda_device *d = dev;
	struct cuda_piece *p = piece->of_driver;
	int rc;

	if (d->foreign)
		return -ENOSYS;
	if (!p)
		p = piece->of_driver = create_piece(d, piece->nr);
	if (!p)
		return err(-ENOMEM, "cuda: no memory");
	if (p->rests) {
		p->rests--;
		return -EOPNOTSUPP;
	}
	rc = take_launches(d, p, launch, op);
	return rc ? rc : run_piece(d, queue, p, op[p->nr - 1]);
}

/* ---- ends --------------------------------------------------------------- */

static int ask_queue(struct cuda_queue *q)
{
	struct cuda_piece *p;
	struct list *at;
	int nr = 0;

	for (at = q->running.next; at != &q->running; at = at->next) {
		p = container_of(at, struct cuda_piece, running);
		/* [cuda.word] as in queue.c. */
		if (p->nr_told < p->nr_stages)
			nr += tell_stages(p, a_load(p->word.at, acquire));
	}
	return nr;
}

int cuda_ask_pieces(struct cuda_device *d)
{
	unsigned i;
	int nr = 0;

	for (i = 0; i < d->nr_queues; i++)
		nr += ask_queue(&d->queue[i]);
	return nr;
}

void cuda_end_pieces(struct cuda_queue *q, uint32_t number)
{
	struct cuda_piece *p;

	while (!list_is_empty(&q->running)) {
		p = container_of(q->running.next, struct cuda_piece, running);
		if (p->number != number)
			return;
		list_del(&p->running);
		tell_stages(p, p->nr_stages);
	}
}
