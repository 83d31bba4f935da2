/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The line number program of DWARF 2 to 5, section 6.2 of its standard. Only
 * lines are asked for, so tables of folders and files are passed over.
 */
#include "gomp/elf.h"

#include <string.h>

enum opcode {
	OP_EXTENDED = 0,
	OP_COPY = 1,
	OP_ADVANCE_PC = 2,
	OP_ADVANCE_LINE = 3,
	OP_CONST_ADD_PC = 8,
	OP_FIXED_ADVANCE_PC = 9,
	EXTENDED_END = 1,
	EXTENDED_ADDRESS = 2,
};

/* A unit of the section, and the row that its program is at. */
struct lines {
	struct bytes in; /* the rest of its program */
	const unsigned char *nr_args; /* of each standard opcode, from 1 on */
	unsigned opcode_base, line_range, step;
	int line_base;
	uint64_t address, line;
	uint64_t before, line_before; /* the row before it */
	bool has_before;
};

static uint64_t take_number(struct bytes *b, unsigned size)
{
	uint64_t n = 0;

	if (size > (size_t)(b->end - b->at))
		size = (unsigned)(b->end - b->at);
	memcpy(&n, b->at, size);
	b->at += size;
	return n;
}

static uint64_t take_leb(struct bytes *b)
{
	unsigned shift = 0;
	uint64_t n = 0;

	for (; b->at < b->end; shift += 7) {
		if (shift < 64)
			n |= (uint64_t)(*b->at & 127) << shift;
		if (!(*b->at++ & 128))
			break;
	}
	return n;
}

static int64_t take_signed(struct bytes *b)
{
	const unsigned char *from = b->at;
	uint64_t n = take_leb(b);
	unsigned bits = (unsigned)(b->at - from) * 7;

	if (bits && bits < 64 && n >> (bits - 1) & 1)
		n |= UINT64_MAX << bits;
	return (int64_t)n;
}

/* Takes the next unit's head from the section. False: it is no such unit. */
static bool open_unit(struct bytes *section, struct lines *l)
{
	uint64_t size = take_number(section, 4), head;
	unsigned wide = size == UINT32_MAX ? 8 : 4, version;
	struct bytes *in = &l->in;

	if (wide == 8)
		size = take_number(section, 8);
	if (size > (uint64_t)(section->end - section->at))
		size = (uint64_t)(section->end - section->at);
	*l = (struct lines){ .in = { section->at, section->at + size },
			     .line = 1 };
	section->at += size;
	version = (unsigned)take_number(in, 2);
	if (version < 2 || version > 5)
		return false;
	if (version == 5)
		take_number(in, 2); /* sizes of an address and a segment */
	head = take_number(in, wide);
	if (head > (uint64_t)(in->end - in->at) || head < 6)
		return false;
	section = &(struct bytes){ in->at, in->at + head };
	in->at += head;
	l->step = (unsigned)take_number(section, 1);
	take_number(section, version >= 4 ? 2 : 1);
	l->line_base = (int8_t)take_number(section, 1);
	l->line_range = (unsigned)take_number(section, 1);
	l->opcode_base = (unsigned)take_number(section, 1);
	l->nr_args = section->at;
	return l->line_range && l->opcode_base &&
	       l->opcode_base - 1 <= (size_t)(section->end - section->at);
}

/* A row of the table. True: the address lies between the one before and it. */
static bool ends_at_row(struct lines *l, uint64_t address)
{
	if (l->has_before && address >= l->before && address < l->address)
		return true;
	l->before = l->address;
	l->line_before = l->line;
	l->has_before = true;
	return false;
}

static bool run_extended(struct lines *l, uint64_t address)
{
	uint64_t size = take_leb(&l->in);
	struct bytes op = l->in;
	bool is_there = false;

	if (!size || size > (uint64_t)(op.end - op.at)) {
		l->in.at = l->in.end;
		return false;
	}
	op.end = op.at + size;
	l->in.at = op.end;
	switch (take_number(&op, 1)) {
	case EXTENDED_END:
		is_there = ends_at_row(l, address);
		l->address = 0;
		l->line = 1;
		l->has_before = false;
		break;
	case EXTENDED_ADDRESS:
		l->address = take_number(&op, (unsigned)size - 1);
		break;
	default:
		break;
	}
	return is_there;
}

static void advance_by(struct lines *l, unsigned opcode)
{
	l->address += (opcode - l->opcode_base) / l->line_range * l->step;
}

static void run_standard(struct lines *l, unsigned opcode)
{
	unsigned i;

	switch (opcode) {
	case OP_ADVANCE_PC:
		l->address += take_leb(&l->in) * l->step;
		break;
	case OP_ADVANCE_LINE:
		l->line += (uint64_t)take_signed(&l->in);
		break;
	case OP_CONST_ADD_PC:
		advance_by(l, 255);
		break;
	case OP_FIXED_ADVANCE_PC:
		l->address += take_number(&l->in, 2);
		break;
	default:
		for (i = 0; i < l->nr_args[opcode - 1]; i++)
			take_leb(&l->in);
		break;
	}
}

/* The next operation. True: the row before it holds the address. */
static bool run_next(struct lines *l, uint64_t address)
{
	unsigned opcode = (unsigned)take_number(&l->in, 1);

	if (opcode == OP_EXTENDED)
		return run_extended(l, address);
	if (opcode < l->opcode_base && opcode != OP_COPY) {
		run_standard(l, opcode);
		return false;
	}
	if (opcode >= l->opcode_base) {
		advance_by(l, opcode);
		l->line += (uint64_t)(l->line_base +
				      (int)((opcode - l->opcode_base) %
					    l->line_range));
	}
	return ends_at_row(l, address);
}

unsigned elf_find_line(struct bytes section, uint64_t address)
{
	struct lines l;

	while (section.end - section.at > 4) {
		if (!open_unit(&section, &l))
			continue;
		while (l.in.at < l.in.end)
			if (run_next(&l, address))
				return (unsigned)l.line_before;
	}
	return 0;
}
