/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The probe's part of the JSON. */
#include "report/writers.h"

#include <inttypes.h>
#include <string.h>

static const char *const count_names[LKDF_PROBED_COUNTS] = {
	[LKDF_PROBED_PREEMPTS] = "preempts",
	[LKDF_PROBED_PREEMPTED_NS] = "preempted",
	[LKDF_PROBED_BLOCKS] = "sleeps",
	[LKDF_PROBED_BLOCKED_NS] = "slept",
	[LKDF_PROBED_FUTEXES] = "futex_sleeps",
	[LKDF_PROBED_FUTEX_NS] = "futex_slept",
	[LKDF_PROBED_CPUS] = "cpu_changes",
	[LKDF_PROBED_NODES] = "node_changes",
	[LKDF_PROBED_SAMPLES] = "samples",
	[LKDF_PROBED_FUTEX_SAMPLES] = "futex_samples",
	[LKDF_PROBED_OWN_SAMPLES] = "own_samples",
	[LKDF_PROBED_PAGES] = "moved_pages",
};

static void put_size(struct json *j, const char *key, uint64_t v)
{
	json_int(j, key, (int64_t)(v < INT64_MAX ? v : INT64_MAX));
}

static void write_nodes(struct json *j, const char *key, uint64_t nodes)
{
	int i;

	json_open_flat(j, key, '[');
	for (i = 0; i < 64; i++)
		if (nodes >> i & 1)
			json_int(j, NULL, i);
	json_close(j, ']');
}

static void write_waker(const struct report *r, const struct futex *f,
			struct json *j)
{
	put_size(j, "wakes", f->wakes);
	if (!f->wakes) {
		json_null(j, "waker");
		return;
	}
	json_open_flat(j, "waker", '{');
	json_int(j, "thread", f->waker_tid);
	if (f->waker >= 0)
		json_int(j, "executor", f->waker);
	else
		json_null(j, "executor");
	json_text_or_null(j, "kind",
			  f->waker_name ? r->info.name[f->waker_name] : NULL);
	json_close(j, '}');
}

static void write_stack(const struct report *r, const struct stack *s,
			struct json *j)
{
	const char *at = s->frames, *end;
	char name[200];

	json_open_flat(j, NULL, '{');
	json_text(j, "sort", s->sort == LKDF_STACK_WAITS ? "sleeps" : "runs");
	json_text_or_null(j, "kind",
			  s->kind == NO_KIND ? NULL : kind_name(r, s->kind));
	json_text_or_null(j, "word",
			  s->futex ? r->futex[s->futex - 1].text : NULL);
	put_size(j, "count", s->count);
	json_fixed(j, "share", s->share, 6);
	json_open_flat(j, "callers", '[');
	for (; *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, "\n");
		snprintf(name, sizeof(name), "%.*s", (int)(end - at), at);
		json_text(j, NULL, name);
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void write_futex(const struct report *r, const struct futex *f,
			struct json *j)
{
	char address[32];
	uint32_t i;

	snprintf(address, sizeof(address), "0x%" PRIx64, f->address);
	json_open(j, NULL, '{');
	json_text(j, "address", address);
	json_text(j, "where", f->text);
	json_text(j, "object", f->where.object);
	json_text_or_null(j, "symbol",
			  f->where.has_symbol ? f->where.symbol.name : NULL);
	json_text_or_null(j, "label",
			  f->where.label[0] ? f->where.label : NULL);
	put_size(j, "sleeps", f->sleeps);
	put_size(j, "slept", f->slept);
	put_size(j, "samples", f->samples);
	put_size(j, "wait_samples", f->waits);
	write_nodes(j, "wait_nodes", f->wait_nodes);
	write_nodes(j, "wake_nodes", f->wake_nodes);
	write_waker(r, f, j);
	json_open(j, "kinds", '[');
	for (i = 0; i < f->nr_kinds; i++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "name", futex_kind_name(r, f, i));
		put_size(j, "sleeps", f->kind[i].sleeps);
		put_size(j, "slept", f->kind[i].slept);
		put_size(j, "samples", f->kind[i].samples);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void write_sees(const struct report *r, struct json *j)
{
	static const char *const words[] = { "switches", "samples", "pages" };
	int i;

	json_open_flat(j, "sees", '[');
	for (i = 0; i < 3; i++)
		if (r->probe_sees >> i & 1)
			json_text(j, NULL, words[i]);
	json_close(j, ']');
}

void json_probe(const struct report *r, struct json *j)
{
	uint32_t i;

	if (!r->has.probe) {
		json_null(j, "probe");
	} else {
		json_open(j, "probe", '{');
		json_fixed(j, "seen", share_of(r->probe_ns, worker_time(r)), 6);
		write_sees(r, j);
		json_int(j, "hz", r->probe_hz);
		for (i = 0; i < LKDF_PROBED_COUNTS; i++)
			put_size(j, count_names[i], report_probe_count(r, i));
		json_close(j, '}');
	}
	json_open(j, "futexes", '[');
	for (i = 0; i < r->nr_futexes; i++)
		write_futex(r, &r->futex[i], j);
	json_close(j, ']');
	json_open(j, "stacks", '[');
	for (i = 0; i < r->nr_stacks; i++)
		write_stack(r, &r->stack[i], j);
	json_close(j, ']');
}

void json_probed_worker(const struct lane *l, struct json *j)
{
	uint64_t from, to;
	int i;

	if (!l->is_probed) {
		json_null(j, "probe");
		return;
	}
	json_open(j, "probe", '{');
	for (i = 0; i < LKDF_PROBED_COUNTS; i++) {
		from = l->probe_from[i];
		to = l->probe_to[i];
		put_size(j, count_names[i], to > from ? to - from : 0);
	}
	json_close(j, '}');
}
