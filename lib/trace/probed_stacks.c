/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/probed_stacks.h"

#include "trace/loaded.h"
#include "trace/trace.h"

#include <stdlib.h>

/* Addresses whose place is told; of further ones nobody learns the place. */
#define NR_CODES 8192u
#define MOST_CODES (NR_CODES / 2)

struct code {
	uint64_t address; /* 0: free */
	bool is_there; /* in a loaded file */
};

struct stack_row {
	uint64_t id; /* 0: nobody's */
	uint64_t told;
};

struct probed_stacks {
	uint32_t nr_codes;
	struct code code[NR_CODES]; /* by hash */
	struct stack_row row[]; /* by place */
};

struct probed_stacks *probed_stacks_new(uint32_t nr)
{
	struct probed_stacks *s;

	return calloc(1, sizeof(*s) + nr * sizeof(s->row[0]));
}

static struct code *code_at(struct probed_stacks *s, uint64_t address)
{
	uint64_t h = address * 0x9e3779b97f4a7c15ull >> 32;
	uint32_t i = (uint32_t)h & (NR_CODES - 1);

	while (s->code[i].address && s->code[i].address != address)
		i = (i + 1) & (NR_CODES - 1);
	return &s->code[i];
}

static void tell_code(struct trace_file *f, uint64_t address,
		      const struct loaded *place)
{
	chunk_begin(f, LKDF_CHUNK_KERNEL);
	chunk_number(f, LKDF_PROBED_PLACE);
	chunk_number(f, address);
	chunk_text(f, place->file);
	chunk_number(f, place->offset);
	chunk_text(f, place->build_id);
	chunk_text(f, "");
	chunk_number(f, 0);
	chunk_text(f, "");
	chunk_number(f, 0);
	chunk_number(f, 0);
	chunk_end(f);
}

/* Is it code of a loaded file? Its place is told then. */
static bool is_code(struct probed_stacks *s, struct trace_file *f,
		    uint64_t address)
{
	struct code *c = code_at(s, address);
	struct loaded place;

	if (c->address)
		return c->is_there;
	if (s->nr_codes == MOST_CODES)
		return false;
	s->nr_codes++;
	*c = (struct code){ address, loaded_find_code(address, &place) };
	if (c->is_there)
		tell_code(f, address, &place);
	return c->is_there;
}

static void tell_stack(struct probed_stacks *s, struct trace_file *f,
		       uint64_t ticks, const struct probed_stack *now,
		       uint64_t count)
{
	uint64_t before = 0;
	uint32_t nr = 0, i;

	while (nr < LKDF_STACK_IPS && now->ip[nr] && is_code(s, f, now->ip[nr]))
		nr++;
	if (!nr)
		return;
	chunk_begin(f, LKDF_CHUNK_KERNEL);
	chunk_number(f, LKDF_PROBED_STACK);
	chunk_number(f, ticks);
	chunk_number(f, now->sort);
	chunk_number(f, now->kind);
	chunk_number(f, now->word);
	chunk_number(f, count);
	chunk_number(f, nr);
	for (i = 0; i < nr; before = now->ip[i++])
		chunk_signed(f, (int64_t)(now->ip[i] - before));
	chunk_end(f);
}

void probed_stacks_tell(struct probed *k, struct trace_file *f, uint64_t ticks,
			uint32_t nr_names)
{
	const struct probed_source *source = &k->t->probed;
	struct probed_stacks *s = k->stacks;
	struct probed_stack now;
	struct stack_row *r;
	uint64_t more;
	uint32_t i;

	for (i = 0; i < source->nr_stacks; i++) {
		if (!source->stack(source->u, i, &now))
			continue;
		r = &s->row[i];
		if (r->id != now.id)
			*r = (struct stack_row){ now.id,
						 k->has_begun ? 0 : now.count };
		more = now.count >= r->told ? now.count - r->told : now.count;
		r->told = now.count;
		now.kind = now.kind < nr_names ? now.kind : 0;
		if (more)
			tell_stack(s, f, ticks, &now, more);
	}
}
