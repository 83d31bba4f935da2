/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Copies. Pageable bytes of an upload are taken at the call; a fetch to
 * pageable memory waits for all before it and for itself.
 */
#include "tests/cuda/fake/fake.h"

#include <stdlib.h>
#include <string.h>

static struct op *make_copy(void *to, const void *from, size_t size)
{
	struct op *o = op_make(OP_COPY);

	o->to = to;
	o->from = from;
	o->size = size;
	return o;
}

/* Memory that the card of the stream may use: not that of another card. */
static bool has_memory(const struct CUstream_st *s, cu_ptr p, size_t size)
{
	const struct range *r = range_find((uintptr_t)p);

	return range_has((uintptr_t)p, size) &&
	       (range_is_host(r) || r->kind == RANGE_MANAGED ||
		r->device == s->ctx->device);
}

static bool is_captured(cu_stream s)
{
	return s && s->capture;
}

static cu_result upload(enum entry e, cu_ptr to, const void *from, size_t size,
			cu_stream s)
{
	struct CUstream_st *found = NULL;
	cu_result r;
	struct op *o;

	r = stream_find(e, s, &found);
	if (r || !size)
		return r;
	if (!has_memory(found, to, size))
		return 1;
	o = make_copy((void *)(uintptr_t)to, from, size);
	if (!range_find((uintptr_t)from) && !is_captured(found)) {
		o->bytes = malloc(size);
		if (!o->bytes)
			abort();
		/* The caller's thread reads them, also behind a fault. */
		copy_held();
		memcpy(o->bytes, from, size);
		o->from = o->bytes;
		o->nr_bytes = size;
	}
	return stream_give(e, s, o);
}

static cu_result fetch(enum entry e, void *to, cu_ptr from, size_t size,
		       cu_stream s)
{
	struct CUstream_st *found = NULL;
	cu_result r;
	bool waits;

	r = stream_find(e, s, &found);
	if (r || !size)
		return r;
	if (!has_memory(found, from, size))
		return 1;
	waits = !range_find((uintptr_t)to) && !is_captured(found);
	if (waits)
		stream_wait(found);
	r = fault_told();
	if (r)
		return r;
	if (!waits)
		return stream_give(
			e, s, make_copy(to, (void *)(uintptr_t)from, size));
	/* The caller's thread writes the caller's memory, as above. */
	copy_held();
	memcpy(to, (void *)(uintptr_t)from, size);
	return 0;
}

cu_result cuMemcpyHtoDAsync(cu_ptr to, const void *from, size_t size,
			    cu_stream s)
{
	cu_result r = enter(E_cuMemcpyHtoDAsync, NEEDS_DRIVER);

	return leave(r ? r : upload(E_cuMemcpyHtoDAsync, to, from, size, s));
}

cu_result cuMemcpyDtoHAsync(void *to, cu_ptr from, size_t size, cu_stream s)
{
	cu_result r = enter(E_cuMemcpyDtoHAsync, NEEDS_DRIVER);

	return leave(r ? r : fetch(E_cuMemcpyDtoHAsync, to, from, size, s));
}

cu_result cuMemcpyDtoDAsync(cu_ptr to, cu_ptr from, size_t size, cu_stream s)
{
	cu_result r = enter(E_cuMemcpyDtoDAsync, NEEDS_DRIVER);
	struct CUstream_st *found = NULL;

	if (!r)
		r = stream_find(E_cuMemcpyDtoDAsync, s, &found);
	if (!r && size &&
	    (!has_memory(found, to, size) || !has_memory(found, from, size)))
		r = 1;
	if (!r && size)
		r = stream_give(E_cuMemcpyDtoDAsync, s,
				make_copy((void *)(uintptr_t)to,
					  (void *)(uintptr_t)from, size));
	return leave(r);
}

/* A side of a copy of rows: its first byte, NULL: it is none. */
static char *find_side(const struct CUstream_st *stream,
		       const struct cu_side *s, const struct cu_copy_2d *c)
{
	size_t at = s->y * s->pitch + s->x;
	size_t size = (c->height - 1) * s->pitch + c->width;
	bool is_host = s->place == CU_PLACE_HOST;
	char *first = is_host ? s->host : (char *)(uintptr_t)s->device;

	if (!first || s->x + c->width > s->pitch ||
	    (!is_host && (s->place != CU_PLACE_DEVICE ||
			  !has_memory(stream, s->device + at, size))))
		return NULL;
	return first + at;
}

/* Pinned rows of the host, or the card's; each row is a copy. */
static cu_result copy_rows(const struct cu_copy_2d *c, cu_stream s)
{
	struct CUstream_st *found = NULL;
	cu_result r = stream_find(E_cuMemcpy2DAsync, s, &found);
	char *to, *from;
	size_t y;

	if (r)
		return r;
	to = find_side(found, &c->to, c);
	from = find_side(found, &c->from, c);
	r = to && from ? 0 : 1;
	for (y = 0; y < c->height && !r; y++)
		r = stream_give(E_cuMemcpy2DAsync, s,
				make_copy(to + y * c->to.pitch,
					  from + y * c->from.pitch, c->width));
	return r;
}

cu_result cuMemcpy2DAsync(const struct cu_copy_2d *c, cu_stream s)
{
	cu_result r = enter(E_cuMemcpy2DAsync, NEEDS_DRIVER);

	if (r || !c->width || !c->height)
		return leave(r);
	return leave(copy_rows(c, s));
}

static cu_result wait_null(enum entry e)
{
	struct CUstream_st *s = NULL;
	cu_result r = stream_find(e, NULL, &s);

	if (r)
		return r;
	stream_wait(s);
	return fault_told();
}

cu_result cuMemcpyHtoD(cu_ptr to, const void *from, size_t size)
{
	cu_result r = enter(E_cuMemcpyHtoD, NEEDS_CONTEXT);

	if (!r)
		r = upload(E_cuMemcpyHtoD, to, from, size, NULL);
	return leave(r ? r : wait_null(E_cuMemcpyHtoD));
}

cu_result cuMemcpyDtoH(void *to, cu_ptr from, size_t size)
{
	cu_result r = enter(E_cuMemcpyDtoH, NEEDS_CONTEXT);

	if (!r)
		r = fetch(E_cuMemcpyDtoH, to, from, size, NULL);
	return leave(r ? r : wait_null(E_cuMemcpyDtoH));
}

cu_result cuMemsetD8Async(cu_ptr p, unsigned char value, size_t size,
			  cu_stream s)
{
	cu_result r = enter(E_cuMemsetD8Async, NEEDS_DRIVER);
	struct CUstream_st *found = NULL;
	struct op *o;

	if (!r)
		r = stream_find(E_cuMemsetD8Async, s, &found);
	if (!r && size && !has_memory(found, p, size))
		r = 1;
	if (!r && size) {
		o = op_make(OP_SET);
		o->to = (void *)(uintptr_t)p;
		o->value = value;
		o->size = size;
		r = stream_give(E_cuMemsetD8Async, s, o);
	}
	return leave(r);
}
