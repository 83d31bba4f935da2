/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/region.h"

#include "base/util.h"
#include "device/build.h"
#include "device/region_memory.h"

#include <stdlib.h>

static void set_host_addresses(struct device_req *r)
{
	uint32_t i;

	for (i = 0; i < r->nr_operand; i++)
		r->operand[i].device_ptr = r->operand[i].host;
}

/* ---- the region --------------------------------------------------------- */

/*
 * A region's life: EMPTY -> OPEN -> OVER, or OPEN -> FAILED -> OVER. EMPTY is
 * also one whose requests are over while a call is in it.
 */
enum region_state {
	REGION_EMPTY,
	REGION_OPEN,
	REGION_FAILED, /* takes no request */
	REGION_OVER,
};

CHECK_ONLY static const uint8_t legal[] = {
	[REGION_EMPTY] = MOVE_TO(REGION_OPEN) | MOVE_TO(REGION_OVER),
	[REGION_OPEN] = MOVE_TO(REGION_OPEN) | MOVE_TO(REGION_FAILED),
	[REGION_FAILED] = MOVE_TO(REGION_FAILED) | MOVE_TO(REGION_OVER),
	[REGION_OVER] = 0,
};

/* Nothing but the region's requests tell it. */
CHECK_ONLY static enum region_state state_of(const struct device_region *g)
{
	if (g->failed)
		return REGION_FAILED;
	return g->nr_open ? REGION_OPEN : REGION_EMPTY;
}

/* Launched requests stand before the next one to launch, all in one chain. */
CHECK_ONLY static bool region_sane(const struct device_region *g)
{
	struct device_req *const *at = &g->first;
	bool is_launched = g->next != g->first;
	uint32_t nr = 0;

	for (; *at; at = &(*at)->behind, nr++) {
		if (*at == g->next)
			is_launched = false;
		if (a_load(&(*at)->state, relaxed) !=
		    (is_launched ? DEVICE_RUN : DEVICE_UPLOAD))
			return false;
	}
	return at == g->end && nr == g->nr_first && nr <= g->nr_open;
}

static void append_request(struct device_region *g, struct device_req *r)
{
	check_move(legal, state_of(g), REGION_OPEN);
	r->region = g;
	r->behind = NULL;
	*g->end = r;
	g->end = &r->behind;
	if (!g->next)
		g->next = r;
	g->nr_first++;
	g->device->nr_in_queue[g->queue]++;
	g->nr_open++;
	request_move(r, DEVICE_UPLOAD);
	check(region_sane(g));
}

bool region_add(struct device_region *g, struct device_req *r)
{
	struct device *d = g->device;

	r->nr_reserved = 0;
	if (!build_is_there(d, r) || !region_take(g, r))
		return false;
	if (device_has(d, LKDF_DEVICE_HOST_MEMORY))
		set_host_addresses(r);
	check(region_has_room(g) || (r->piece && region_is_open(g)));
	append_request(g, r);
	request_upload(r, 0);
	return true;
}

static struct device_region *create_region(struct device_req *r)
{
	struct device_region *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->device = r->device;
	g->ops = r->ops;
	g->end = &g->first;
	g->queue = request_queue(r->device, r);
	list_init(&g->memory);
	list_init(&g->ready);
	return g;
}

static void advance_request(void *executor, struct device_region *g);

bool region_begin(void *executor, struct device_req *r)
{
	struct device_region *g;

	if (!device_has(r->device, LKDF_DEVICE_ORDERED))
		return false;
	g = create_region(r);
	if (!g)
		return false;
	if (!region_adopt(g, r)) {
		region_forget(g);
		free(g);
		return false;
	}
	append_request(g, r);
	request_upload(r, 0);
	advance_request(executor, g);
	return true;
}

/* ---- the end of requests ------------------------------------------------ */

static void tell_over(void *executor, struct device_req *r)
{
	r->region = NULL;
	r->ops->over(executor, r);
}

/* A request that failed waits until those that depend on it are over. */
static void put_region(void *executor, struct device_region *g)
{
	struct device_req *r, *next;

	/* order: region.failed */
	if (g->nr_open || g->nr_holds)
		return;
	check_move(legal, state_of(g), REGION_OVER);
	check(list_is_empty(&g->memory) && !g->nr_first);
	while (!list_is_empty(&g->ready))
		list_del(g->ready.next);
	g->device->nr_under_way--;
	for (r = g->failed; r; r = next) {
		next = r->behind;
		tell_over(executor, r);
	}
	/* Those behind are told of it until then. */
	free(g);
}

static void hold_request(struct device_region *g)
{
	g->nr_holds++;
}

static void release_region(void *executor, struct device_region *g)
{
	g->nr_holds--;
	put_region(executor, g);
}

/* Its memory is given back first: whoever is told may write the bytes. */
static void leave_region(void *executor, struct device_req *r)
{
	struct device_region *g = r->region;

	region_fetched(g, r);
	region_put(g, r);
	request_leave(g->device, r);
	if (r->error)
		check_move(legal, state_of(g), REGION_FAILED);
	g->nr_open--;
	if (!r->error) {
		tell_over(executor, r);
		return;
	}
	r->behind = g->failed;
	g->failed = r;
}

/* Only of a lost device: wherever it is in the chain. */
static void unlink_request(struct device_region *g, struct device_req *r)
{
	struct device_req **at;

	for (at = &g->first; *at && *at != r; at = &(*at)->behind)
		;
	if (!*at)
		return;
	if (g->next == r)
		g->next = r->behind;
	*at = r->behind;
	if (!*at)
		g->end = at;
	g->nr_first--;
	g->device->nr_in_queue[g->queue]--;
}

void region_end(void *executor, struct device_req *r)
{
	struct device_region *g = r->region;

	hold_request(g);
	if (a_load(&r->state, relaxed) != DEVICE_FETCH)
		region_give_up(g, r);
	unlink_request(g, r);
	leave_region(executor, r);
	release_region(executor, g);
}

/* ---- its way ------------------------------------------------------------ */

/*
 * May the device leave out to tell of the next launch? Only where another one
 * comes behind at once, and of no more than a quarter of the window, so that
 * the queue is filled in time; who records or looks wants each end.
 */
static bool goes_quietly(const struct device_region *g,
			 const struct device_req *r)
{
	const struct device *d = g->device;
	const struct device_req *next = r->behind;

	return device_has(d, LKDF_DEVICE_QUIET) && next && !next->nr_ops &&
	       !next->error && g->nr_quiet + 1 < region_window(d) / 4 &&
	       !rows_are_told(d) && r->code && !r->is_empty &&
	       !r->ops->is_awaited(r);
}

static void run_next(void *executor, struct device_region *g,
		     struct device_req *r)
{
	bool is_quiet = goes_quietly(g, r);

	g->nr_quiet = is_quiet ? g->nr_quiet + 1 : 0;
	r->is_quiet = is_quiet;
	request_run(executor, r, g->queue);
	r->has_run = !r->nr_ops;
}

/* ---- pieces ------------------------------------------------------------- */

void region_break_piece(struct device_region *g, struct device_piece *p)
{
	struct device_req *r;

	for (r = g->next; r; r = r->behind)
		if (r->piece == p)
			r->piece = NULL;
	p->is_whole = false;
}

static struct device_req *last_of(struct device_req *first)
{
	struct device_req *r = first;

	while (r->behind && r->behind->piece == first->piece)
		r = r->behind;
	return r;
}

/* All of it is there, and none is to be left out: one call can give it. */
static bool is_whole(const struct device_region *g,
		     const struct device_req *first)
{
	const struct device_piece *p = first->piece;
	const struct device_req *r;
	uint32_t nr = 0;

	for (r = first; r && r->piece == p; r = r->behind, nr++)
		if (r->error || !r->code || r->is_empty ||
		    r->ops->is_cancelled(r) || region_is_spoilt(r))
			return false;
	return p->is_whole && nr == p->p.nr && !rows_are_told(g->device);
}

/* False: bytes of some are on their way. */
static bool has_bytes(const struct device_req *first)
{
	const struct device_req *r;

	for (r = first; r && r->piece == first->piece; r = r->behind)
		if (r->nr_ops)
			return false;
	return true;
}

/* They go in one call, or one by one where the device refuses that. */
static void run_piece(void *executor, struct device_region *g,
		      struct device_req *first)
{
	struct device_req *end = last_of(first)->behind, *r;
	bool is_given;

	for (r = first; r != end; r = r->behind) {
		region_uploaded(r);
		request_move(r, DEVICE_RUN);
	}
	g->next = end;
	is_given = request_run_piece(first, g->queue);
	for (r = first; r != end; r = r->behind) {
		r->piece = NULL;
		if (is_given)
			r->has_run = !r->nr_ops;
		else
			run_next(executor, g, r);
	}
	g->nr_quiet = 0;
}

/*
 * The next one to launch is of a piece. False: it waits for bytes. It may have
 * no piece any more.
 */
static bool launch_piece(void *executor, struct device_region *g,
			 struct device_req *r)
{
	if (!r->piece->is_whole)
		r->ops->complete(executor, g, r);
	if (r->piece && !is_whole(g, r))
		region_break_piece(g, r->piece);
	if (!r->piece)
		return true;
	if (!has_bytes(r))
		return false;
	r->piece->is_whole = false;
	run_piece(executor, g, r);
	return true;
}

/* In their order, each once its bytes are there. */
static void launch_next(void *executor, struct device_region *g)
{
	struct device_req *r;

	/* order: region.launch */
	while ((r = g->next) && !r->nr_ops) {
		if (unlikely(r->piece != NULL)) {
			if (!launch_piece(executor, g, r))
				break;
			continue;
		}
		if (!r->error && region_bring_again(r))
			break;
		region_uploaded(r);
		g->next = r->behind;
		request_move(r, DEVICE_RUN);
		run_next(executor, g, r);
	}
	check(region_sane(g));
}

/* Before the first is finished: a later one may write what it has written. */
static void extend_region(void *executor, struct device_region *g)
{
	const struct device *d = g->device;

	if (g->first &&
	    (!list_is_empty(&g->ready) ||
	     (region_has_room(g) &&
	      d->nr_in_queue[g->queue] <= region_window(d) * 3 / 4)))
		g->ops->extend(executor, g);
	launch_next(executor, g);
}

/* In their order, too: whether one has failed is known before the next. */
static void finish_next(void *executor, struct device_region *g)
{
	struct device_req *r;

	/* order: region.finish */
	while ((r = g->first) && r->has_run) {
		extend_region(executor, g);
		g->first = r->behind;
		if (!g->first)
			g->end = &g->first;
		g->nr_first--;
		g->device->nr_in_queue[g->queue]--;
		r->behind = NULL;
		if (r->error)
			g->ops->failed(r);
		request_move(r, DEVICE_FETCH);
		region_fetch(g, r);
		/* A device that is lost ends it once it has let go. */
		if (!r->nr_ops && !g->device->has_gone)
			leave_region(executor, r);
	}
}

static void advance_request(void *executor, struct device_region *g)
{
	hold_request(g);
	extend_region(executor, g);
	finish_next(executor, g);
	if (!list_is_empty(&g->ready))
		extend_region(executor, g);
	release_region(executor, g);
}

void region_poke(void *executor, struct device_region *g)
{
	advance_request(executor, g);
}

/* A kernel has ended behind others: how long each took. */
static void measure_kernel(struct device_region *g, uint64_t end)
{
	struct device_window *w = &g->device->window;

	g->nr_ended++;
	if (end <= g->last_end)
		return;
	if (g->last_end)
		window_add(&w->kernel_ns,
			   rows_ns(g->device, end - g->last_end) / g->nr_ended);
	g->last_end = end;
	g->nr_ended = 0;
}

void region_go_on(void *executor, struct device_req *r, uint64_t end)
{
	struct device_region *g = r->region;

	hold_request(g);
	switch ((enum device_state)a_load(&r->state, relaxed)) {
	case DEVICE_RUN:
		r->has_run = true;
		measure_kernel(g, end);
		break;
	case DEVICE_FETCH:
		leave_region(executor, r);
		break;
	default:
		break;
	}
	advance_request(executor, g);
	release_region(executor, g);
}
