/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The chunk KERNEL, record by record. */
#include "trace/reader.h"

/* A name that was told, or 0. */
static int read_kind(struct reader *r, uint32_t *name)
{
	uint64_t at = r->offset + r->at;
	int rc = reader_below(r, LKDF_MAX_NAMES, "name", name);

	if (!rc && *name && !r->info->name[*name])
		return reader_damaged(r, at, "name %u was not told", *name);
	return rc;
}

static int read_probe(struct reader *r)
{
	struct trace_probe p;
	int rc = reader_number(r, &p.ticks);

	if (!rc)
		rc = reader_below(r, UINT32_MAX, "hooks", &p.sees);
	if (!rc)
		rc = reader_below(r, 1000001, "samples a second", &p.hz);
	if (!rc && r->sink->probe)
		r->sink->probe(r->sink->u, &p);
	return rc;
}

static int read_probed_thread(struct reader *r)
{
	struct trace_probed_thread t;
	int i, rc = reader_executor(r, &t.executor);

	if (!rc)
		rc = reader_number(r, &t.ticks);
	if (!rc)
		rc = reader_below(r, UINT32_MAX, "state", &t.state);
	if (!rc)
		rc = reader_number(r, &t.state_ns);
	if (!rc)
		rc = reader_number(r, &t.word);
	for (i = 0; !rc && i < LKDF_PROBED_COUNTS; i++)
		rc = reader_number(r, &t.count[i]);
	if (!rc && r->sink->probed_thread)
		r->sink->probed_thread(r->sink->u, &t);
	return rc;
}

static int read_probed_word(struct reader *r)
{
	struct trace_probed_word w;
	uint64_t *const field[] = { &w.sleeps, &w.slept_ns,   &w.samples,
				    &w.waits,  &w.wait_nodes, &w.wake_nodes };
	size_t i;
	int rc = reader_number(r, &w.ticks);

	if (!rc)
		rc = reader_number(r, &w.address);
	if (!rc)
		rc = read_kind(r, &w.name);
	for (i = 0; !rc && i < sizeof(field) / sizeof(field[0]); i++)
		rc = reader_number(r, field[i]);
	if (!rc && r->sink->probed_word)
		r->sink->probed_word(r->sink->u, &w);
	return rc;
}

static int read_probed_place(struct reader *r)
{
	char file[TRACE_TEXT], id[TRACE_TEXT], mapping[TRACE_TEXT],
		label[TRACE_TEXT];
	struct trace_probed_place p = {
		.file = file,
		.build_id = id,
		.mapping = mapping,
		.label = label,
	};
	int rc = reader_number(r, &p.address);

	if (!rc)
		rc = reader_text(r, file);
	if (!rc)
		rc = reader_number(r, &p.offset);
	if (!rc)
		rc = reader_text(r, id);
	if (!rc)
		rc = reader_text(r, mapping);
	if (!rc)
		rc = reader_number(r, &p.mapping_offset);
	if (!rc)
		rc = reader_text(r, label);
	if (!rc)
		rc = reader_number(r, &p.label_offset);
	if (!rc)
		rc = reader_number(r, &p.label_bytes);
	if (!rc && r->sink->probed_place)
		r->sink->probed_place(r->sink->u, &p);
	return rc;
}

static int read_preemptor(struct reader *r)
{
	char name[TRACE_TEXT];
	struct trace_preemptor p = { .name = name };
	int rc = reader_executor(r, &p.executor);

	if (!rc)
		rc = reader_below(r, UINT32_MAX, "thread", &p.tid);
	if (!rc)
		rc = reader_text(r, name);
	if (!rc && r->sink->preemptor)
		r->sink->preemptor(r->sink->u, &p);
	return rc;
}

/* Callers, the innermost first, each counted from the one before. */
static int read_stack(struct reader *r)
{
	struct trace_probed_stack s;
	uint64_t by = 0, at = 0;
	uint32_t i;
	int rc = reader_number(r, &s.ticks);

	if (!rc)
		rc = reader_below(r, UINT32_MAX, "sort of stack", &s.sort);
	if (!rc)
		rc = read_kind(r, &s.name);
	if (!rc)
		rc = reader_number(r, &s.word);
	if (!rc)
		rc = reader_number(r, &s.count);
	if (!rc)
		rc = reader_below(r, LKDF_STACK_IPS + 1, "callers", &s.nr);
	for (i = 0; !rc && i < s.nr; i++) {
		rc = reader_signed(r, &by);
		at += by;
		s.ip[i] = at;
	}
	if (!rc && r->sink->probed_stack)
		r->sink->probed_stack(r->sink->u, &s);
	return rc;
}

static int read_waker(struct reader *r)
{
	struct trace_probed_waker w;
	uint32_t executor = 0;
	int rc = reader_number(r, &w.ticks);

	if (!rc)
		rc = reader_number(r, &w.address);
	if (!rc)
		rc = read_kind(r, &w.name);
	if (!rc)
		rc = reader_below(r, UINT32_MAX, "thread", &w.tid);
	if (!rc)
		rc = reader_below(r, r->info->header.nr_executors + 1ull,
				  "executor", &executor);
	w.executor = (int32_t)executor - 1;
	if (!rc)
		rc = read_kind(r, &w.by);
	if (!rc)
		rc = reader_number(r, &w.wakes);
	if (!rc && r->sink->probed_waker)
		r->sink->probed_waker(r->sink->u, &w);
	return rc;
}

/* A record of a later version is passed over. */
int kernel_read(struct reader *r)
{
	uint32_t record;
	int rc = reader_below(r, UINT32_MAX, "record", &record);

	if (rc)
		return rc;
	switch (record) {
	case LKDF_PROBED_PROBE:
		return read_probe(r);
	case LKDF_PROBED_THREAD:
		return read_probed_thread(r);
	case LKDF_PROBED_WORD:
		return read_probed_word(r);
	case LKDF_PROBED_PLACE:
		return read_probed_place(r);
	case LKDF_PROBED_PREEMPTOR:
		return read_preemptor(r);
	case LKDF_PROBED_STACK:
		return read_stack(r);
	case LKDF_PROBED_WAKER:
		return read_waker(r);
	default:
		return 0;
	}
}
