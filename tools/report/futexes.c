/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Futex words in which bodies met: sums by word and kind, and where they lie.
 */
#include "report/load.h"
#include "utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define NR_SUMS 4 /* sleeps, slept, samples, waits */

/* A word in bodies of one kind. */
struct row {
	uint64_t address;
	uint32_t name, next;
	uint64_t last[NR_SUMS], sum[NR_SUMS], at; /* at: of the last */
	uint64_t wait_nodes, wake_nodes;
	uint64_t last_wakes, wakes;
	uint32_t waker_tid, waker_name;
	int32_t waker;
};

/* A word's place, with texts of its own. */
struct row_place {
	uint64_t address, nr; /* nr: the later one counts */
	struct trace_probed_place place;
	char *text[4];
};

struct futex_rows {
	struct row *row;
	uint32_t nr, cap;
	uint32_t *bucket; /* by hash, cap of them */
	struct row_place *place;
	uint32_t nr_places, cap_places;
};

static struct futex_rows *rows_of(struct load *l)
{
	if (!l->futexes)
		l->futexes = calloc(1, sizeof(*l->futexes));
	if (!l->futexes)
		l->rc = -ENOMEM;
	return l->futexes;
}

static uint32_t *bucket_of(const struct futex_rows *f, uint64_t address,
			   uint32_t name)
{
	uint64_t h = (address + name) * 11400714819323198485ull;

	return &f->bucket[(h >> 32) & (f->cap - 1)];
}

static void link_row(struct futex_rows *f, uint32_t i)
{
	uint32_t *at = bucket_of(f, f->row[i].address, f->row[i].name);

	f->row[i].next = *at;
	*at = i;
}

/* Twice as many; false: no memory. */
static bool grow_rows(struct futex_rows *f)
{
	uint32_t cap = f->cap ? 2 * f->cap : 64, i;
	uint32_t *bucket = malloc(cap * sizeof(*bucket));
	struct row *row = realloc(f->row, cap * sizeof(*row));

	f->row = row ? row : f->row;
	if (!bucket || !row) {
		free(bucket);
		return false;
	}
	free(f->bucket);
	f->bucket = bucket;
	f->cap = cap;
	memset(bucket, 0xff, cap * sizeof(*bucket));
	for (i = 0; i < f->nr; i++)
		link_row(f, i);
	return true;
}

/* NULL: no memory. */
static struct row *row_of(struct futex_rows *f, uint64_t address, uint32_t name)
{
	uint32_t i = f->cap ? *bucket_of(f, address, name) : NONE;

	for (; i != NONE; i = f->row[i].next)
		if (f->row[i].address == address && f->row[i].name == name)
			return &f->row[i];
	if (f->nr == f->cap && !grow_rows(f))
		return NULL;
	f->row[f->nr] = (struct row){ .address = address, .name = name };
	link_row(f, f->nr);
	return &f->row[f->nr++];
}

void note_probed_word(void *u, const struct trace_probed_word *w)
{
	const uint64_t now[NR_SUMS] = { w->sleeps, w->slept_ns, w->samples,
					w->waits };
	struct load *l = u;
	struct futex_rows *f = rows_of(l);
	struct row *x = f ? row_of(f, w->address, w->name) : NULL;
	uint64_t at = load_time(l, w->ticks), more;
	int i;

	if (!x) {
		l->rc = -ENOMEM;
		return;
	}
	for (i = 0; i < NR_SUMS; i++) {
		/* Lower ones have begun anew. */
		more = now[i] >= x->last[i] ? now[i] - x->last[i] : now[i];
		x->last[i] = now[i];
		/* Growth that begins and ends beside the window is left out. */
		if (at >= l->from && x->at < l->to &&
		    x->sum[i] + more >= x->sum[i])
			x->sum[i] += more;
	}
	x->at = at;
	x->wait_nodes |= w->wait_nodes;
	x->wake_nodes |= w->wake_nodes;
}

void note_probed_waker(void *u, const struct trace_probed_waker *w)
{
	struct load *l = u;
	struct futex_rows *f = rows_of(l);
	struct row *x = f ? row_of(f, w->address, w->name) : NULL;
	uint64_t at = load_time(l, w->ticks), more;

	if (!x) {
		l->rc = -ENOMEM;
		return;
	}
	more = w->wakes >= x->last_wakes ? w->wakes - x->last_wakes : w->wakes;
	x->last_wakes = w->wakes;
	if (at < l->from || at > l->to || x->wakes + more < more)
		return;
	x->wakes += more;
	x->waker_tid = w->tid;
	x->waker_name = w->by;
	x->waker = w->executor;
}

void note_probed_place(void *u, const struct trace_probed_place *p)
{
	const char *const text[] = { p->file, p->build_id, p->mapping,
				     p->label };
	struct load *l = u;
	struct futex_rows *f = rows_of(l);
	struct row_place *x;
	int i;

	if (f && f->nr_places == f->cap_places) {
		x = realloc(f->place, (2ull * f->cap_places + 16) * sizeof(*x));
		if (x) {
			f->place = x;
			f->cap_places = 2 * f->cap_places + 16;
		}
	}
	if (!f || f->nr_places == f->cap_places) {
		l->rc = -ENOMEM;
		return;
	}
	x = &f->place[f->nr_places];
	*x = (struct row_place){ p->address, f->nr_places++, *p, { NULL } };
	for (i = 0; i < 4; i++) {
		x->text[i] = strdup(text[i]);
		l->rc = x->text[i] ? l->rc : -ENOMEM;
	}
	x->place.file = x->text[0];
	x->place.build_id = x->text[1];
	x->place.mapping = x->text[2];
	x->place.label = x->text[3];
}

/* ---- by word ------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int by_place(const void *a, const void *b)
{
	const struct row_place *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->nr > y->nr ? -1 : x->nr < y->nr;
}

static int by_address_only(const void *a, const void *b)
{
	const uint64_t *x = a;
	const struct row_place *y = b;

	return *x < y->address ? -1 : *x > y->address;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b >= a ? a + b : UINT64_MAX;
}

static uint64_t time_of(const struct report *r, uint64_t slept,
			uint64_t samples)
{
	uint64_t each = r->probe_hz ? 1000000000 / r->probe_hz : 0;

	return add(slept,
		   samples < UINT64_MAX / 1000000000 ? samples * each : 0);
}

static int longest_first(const void *a, const void *b)
{
	const struct futex *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* Kept in order: the kind with most time first, the least one falls off. */
static void add_kind(const struct report *r, struct futex *f,
		     const struct futex_kind *k)
{
	uint32_t i =
		f->nr_kinds < FUTEX_KINDS ? f->nr_kinds++ : FUTEX_KINDS - 1;
	uint64_t time = time_of(r, k->slept, k->samples);

	if (i == FUTEX_KINDS - 1 && f->kind[i].sleeps + f->kind[i].samples &&
	    time <= time_of(r, f->kind[i].slept, f->kind[i].samples))
		return;
	for (; i &&
	       time > time_of(r, f->kind[i - 1].slept, f->kind[i - 1].samples);
	     i--)
		f->kind[i] = f->kind[i - 1];
	f->kind[i] = *k;
}

static void add_row(struct load *l, struct futex *f, const struct row *x)
{
	struct report *r = l->r;
	struct futex_kind k = { NO_KIND, x->sum[0], x->sum[1], x->sum[2] };

	if (x->name) {
		k.kind = load_kind(l, x->name);
		r->kind[k.kind].futex = add(r->kind[k.kind].futex, x->sum[1]);
	}
	f->address = x->address;
	/* The kind with the most of them says by whom. */
	if (x->wakes && x->wakes > f->wakes) {
		f->waker_tid = x->waker_tid;
		f->waker_name = x->waker_name;
		f->waker = x->waker;
	}
	f->wakes = add(f->wakes, x->wakes);
	f->sleeps = add(f->sleeps, x->sum[0]);
	f->slept = add(f->slept, x->sum[1]);
	f->samples = add(f->samples, x->sum[2]);
	f->waits = add(f->waits, x->sum[3]);
	f->wait_nodes |= x->wait_nodes;
	f->wake_nodes |= x->wake_nodes;
	f->time = time_of(r, f->slept, f->samples);
	add_kind(r, f, &k);
}

bool futexes_place(const struct load *l, uint64_t address,
		   struct trace_probed_place *out)
{
	const struct futex_rows *rows = l->futexes;
	const struct row_place *p =
		rows && rows->nr_places
			? bsearch(&address, rows->place, rows->nr_places,
				  sizeof(*p), by_address_only)
			: NULL;

	/* The first of several of that address is the last that was told. */
	while (p && p > rows->place && p[-1].address == address)
		p--;
	if (p)
		*out = p->place;
	return p != NULL;
}

static void name_word(const struct load *l, struct futex *f)
{
	struct trace_probed_place place;
	char text[512];

	if (futexes_place(l, f->address, &place)) {
		where_recorded(&place, &f->where);
		snprintf(f->text, sizeof(f->text), "%.250s",
			 where_text(&f->where, text, sizeof(text)));
	} else {
		snprintf(f->text, sizeof(f->text), "0x%" PRIx64, f->address);
	}
	utf8_tame(f->text);
	utf8_tame(f->where.object);
	utf8_tame(f->where.label);
}

int futexes_sum(struct load *l)
{
	struct futex_rows *rows = l->futexes;
	struct report *r = l->r;
	uint32_t i;

	if (l->rc || !rows)
		return l->rc;
	r->futex = calloc(rows->nr + 1ull, sizeof(*r->futex));
	if (!r->futex)
		return -ENOMEM;
	if (rows->nr)
		qsort(rows->row, rows->nr, sizeof(*rows->row), by_address);
	if (rows->nr_places)
		qsort(rows->place, rows->nr_places, sizeof(*rows->place),
		      by_place);
	for (i = 0; i < rows->nr; i++) {
		if (!(rows->row[i].sum[0] | rows->row[i].sum[2]))
			continue;
		if (!r->nr_futexes ||
		    r->futex[r->nr_futexes - 1].address != rows->row[i].address)
			r->nr_futexes++;
		add_row(l, &r->futex[r->nr_futexes - 1], &rows->row[i]);
	}
	qsort(r->futex, r->nr_futexes, sizeof(*r->futex), longest_first);
	if (r->nr_futexes > MAX_FUTEXES) {
		r->futexes_left_out = r->nr_futexes - MAX_FUTEXES;
		r->nr_futexes = MAX_FUTEXES;
	}
	for (i = 0; i < r->nr_futexes; i++)
		name_word(l, &r->futex[i]);
	return l->rc;
}

void futexes_fini(struct load *l)
{
	struct futex_rows *f = l->futexes;
	uint32_t i, k;

	if (!f)
		return;
	for (i = 0; i < f->nr_places; i++)
		for (k = 0; k < 4; k++)
			free(f->place[i].text[k]);
	free(f->place);
	free(f->row);
	free(f->bucket);
	free(f);
}
