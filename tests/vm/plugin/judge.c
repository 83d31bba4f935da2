/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * judge REPORT NODES CPUS, nodes with memory: is each section of the access
 * counter's report what the program in the machine said it must be? TAP; exact,
 * nothing is rounded. Sections of other programs than pair and facts are passed
 * over.
 */
/*
 * judge REPORT NODES CPUS RANGES: nodes with memory, CPUs, ranges of memory; is
 * each section of the access counter's report what the program in the machine
 * said it must be? TAP; exact, nothing is rounded. Sections of other programs
 * than pair and facts are passed over.
 */
#include "tests/tap.h"
#include "tests/vm/plugin/sections.h"

#include <inttypes.h>

/* Takes what is expected out of the matrix: what is left must be nothing. */
static bool take(struct section_matrix *m, const char *text)
{
	uint64_t bytes, accesses;
	struct cell *c;
	int from, to;

	if (sscanf(text, "%d %d %" SCNu64 " %" SCNu64, &from, &to, &bytes,
		   &accesses) != 4 ||
	    from < 0 || from >= CONTROL_MAX_NODES || to < 0 ||
	    to >= CONTROL_MAX_NODES)
		return false;
	c = &m->at[from][to];
	if (c->bytes != bytes || (accesses && c->accesses != accesses)) {
		printf("# node %d to %d: %" PRIu64 " bytes in %" PRIu64
		       " accesses, expected %" PRIu64 " in %" PRIu64 "\n",
		       from, to, c->bytes, c->accesses, bytes, accesses);
		return false;
	}
	*c = (struct cell){ 0 };
	return true;
}

static bool data_is_exact(struct section *s)
{
	static const struct section_matrix nothing;
	bool good = true;
	const char *text;
	unsigned i;

	for (i = 0; (text = section_note(s, "expect", i)); i++)
		good = take(&s->class[CELLS_DATA], text) && good;
	return good &&
	       !memcmp(&s->class[CELLS_DATA], &nothing, sizeof(nothing));
}

static bool has_buffer(const struct section *s, const char *text)
{
	struct section_buffer b;
	unsigned i;

	if (sscanf(text, "%47s %d %d %" SCNu64 " %" SCNu64, b.name, &b.from,
		   &b.to, &b.cell.bytes, &b.cell.accesses) != 5)
		return false;
	for (i = 0; i < s->nr_buffers; i++)
		if (!strcmp(s->buffer[i].name, b.name) &&
		    s->buffer[i].from == b.from && s->buffer[i].to == b.to)
			return s->buffer[i].cell.bytes == b.cell.bytes &&
			       s->buffer[i].cell.accesses == b.cell.accesses;
	return false;
}

static bool buffers_are_exact(const struct section *s)
{
	bool good = true;
	const char *text;
	unsigned i;

	for (i = 0; (text = section_note(s, "buffer", i)); i++)
		good = has_buffer(s, text) && good;
	return good && s->nr_buffers == i;
}

static uint64_t bytes_of(const struct section *s, enum cells_class class)
{
	uint64_t sum = 0;
	unsigned i, j;

	for (i = 0; i <= CONTROL_MAX_NODES; i++)
		for (j = 0; j <= CONTROL_MAX_NODES; j++)
			sum += s->class[class].at[i][j].bytes;
	return sum;
}

static bool pages_are_verified(const struct section *s)
{
	double pages = section_number(s, "pages");
	double wrong = section_number(s, "wrong");

	return (double)s->nr_verified == pages &&
	       (double)s->nr_wrong == (wrong < 0 ? 0 : wrong);
}

static void judge(struct section *s)
{
	ok(data_is_exact(s), "%s: every byte of the arena is in its cell",
	   s->label);
	if (s->is_verified)
		ok(pages_are_verified(s), "%s: %s", s->label,
		   section_note(s, "wrong", 0)
			   ? "all pages are said to be on the wrong node"
			   : "the kernel has all pages on the same nodes");
	if (s->nr_buffers)
		ok(buffers_are_exact(s), "%s: and in its buffer", s->label);
	if (section_note(s, "body", 0))
		ok((double)bytes_of(s, CELLS_BODY) == section_number(s, "body"),
		   "%s: no more and no less", s->label);
}

int main(int argc, char **argv)
{
	unsigned i, nr_nodes, nr_cpus, nr_pairs = 0, nr_facts = 0;
	struct sections s;
	bool is_pair, is_fact;

	tap_start(60);
	if (argc != 4)
		return 2;
	nr_nodes = (unsigned)atoi(argv[2]);
	nr_cpus = (unsigned)atoi(argv[3]);
	is(sections_read(&s, argv[1]), 0, "the report is readable");
	is(s.nr_cpus, nr_cpus, "each CPU has told its node");
	is(s.nr_memories, nr_nodes, "the memory of each node is known");
	is(s.nr_conflicts, 0, "no page contradicts another one");
	is(s.nr_refused, 0, "the counter has understood everything");
	for (i = 0; i < s.nr; i++) {
		is_pair = !strncmp(s.section[i].label, "pair ", 5);
		is_fact = !strncmp(s.section[i].label, "fact ", 5);
		nr_pairs += is_pair;
		nr_facts += is_fact;
		if (is_pair || is_fact)
			judge(&s.section[i]);
	}
	is(nr_pairs, nr_nodes * nr_cpus, "all pairs of CPU and node are there");
	is(nr_facts, 10, "all facts are there");
	sections_fini(&s);
	return tap_end();
}
