/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Dependences of tasks that have one parent, by address: a task that reads
 * starts after the last one that has written, and one that writes after that
 * and after all that have read since. Each task has an event, after which later
 * ones start.
 */
#include "gomp/depend.h"

#include <stdlib.h>
#include <string.h>

/* Kinds in an omp_depend_t. */
#define DEPEND_IN 1

/* The event of a task, in each place that it uses. */
struct node {
	struct lkdf_event event;
	size_t nr_places;
};

/* Tasks of one address since the last one that has written. */
struct place {
	void *address; /* NULL: the slot is free */
	struct node *writer; /* NULL: none */
	struct node **reader;
	unsigned nr_readers, room;
};

/* The array that gcc gives, in its old and its new form. */
struct uses {
	void **address;
	size_t nr_writes, nr_reads, nr_objects; /* in this order */
};

static struct uses uses_of(void **depend)
{
	size_t nr = (uintptr_t)depend[0], nr_out = (uintptr_t)depend[1];
	struct uses u = { .address = depend + 2,
			  .nr_writes = nr_out,
			  .nr_reads = nr - nr_out };

	if (nr)
		return u;
	nr = (uintptr_t)depend[1];
	u.address = depend + 5;
	/* mutexinoutset goes one after the other, too. */
	u.nr_writes = (uintptr_t)depend[2] + (uintptr_t)depend[3];
	u.nr_reads = (uintptr_t)depend[4];
	u.nr_objects = nr - u.nr_writes - u.nr_reads;
	return u;
}

/* Use i of them: its address, and whether it writes. */
static void *use_at(const struct uses *u, size_t i, bool *writes)
{
	void **object;

	*writes = i < u->nr_writes;
	if (i < u->nr_writes + u->nr_reads)
		return u->address[i];
	object = u->address[i];
	*writes = (uintptr_t)object[1] != DEPEND_IN;
	return object[0];
}

static size_t nr_uses(const struct uses *u)
{
	return u->nr_writes + u->nr_reads + u->nr_objects;
}

/* ---- the table ---------------------------------------------------------- */

static struct place *find_slot(const struct depends *d, const void *address)
{
	size_t i = ((uintptr_t)address >> 3) * 0x9e3779b97f4a7c15ull >> 20;

	for (;; i++) {
		struct place *p = &d->place[i & d->mask];

		if (!p->address || p->address == address)
			return p;
	}
}

static bool grow_table(struct depends *d)
{
	size_t nr = d->place ? (d->mask + 1) * 2 : 16, i;
	struct depends old = *d;

	d->place = calloc(nr, sizeof(*d->place));
	if (!d->place) {
		*d = old;
		return false;
	}
	d->mask = nr - 1;
	for (i = 0; old.place && i <= old.mask; i++)
		if (old.place[i].address)
			*find_slot(d, old.place[i].address) = old.place[i];
	free(old.place);
	return true;
}

/* NULL: no memory. */
static struct place *get_place(struct depends *d, void *address)
{
	struct place *p;

	if ((!d->place || d->nr * 3 > d->mask * 2) && !grow_table(d))
		return NULL;
	p = find_slot(d, address);
	d->nr += !p->address;
	p->address = address;
	return p;
}

static bool has_room(struct place *p)
{
	unsigned room = p->room ? p->room * 2 : 4;
	struct node **more;

	if (p->nr_readers < p->room)
		return true;
	more = realloc(p->reader, room * sizeof(*more));
	if (!more)
		return false;
	p->reader = more;
	p->room = room;
	return true;
}

static void leave_place(struct node *n)
{
	if (!n || --n->nr_places)
		return;
	lkdf_event_put(n->event);
	free(n);
}

static void forget_tasks(struct place *p)
{
	unsigned i;

	for (i = 0; i < p->nr_readers; i++)
		leave_place(p->reader[i]);
	leave_place(p->writer);
	p->nr_readers = 0;
	p->writer = NULL;
}

void depends_forget(struct depends *d)
{
	size_t i;

	for (i = 0; d && d->place && i <= d->mask; i++)
		forget_tasks(&d->place[i]);
}

void depends_free(struct depends *d)
{
	size_t i;

	if (!d)
		return;
	depends_forget(d);
	for (i = 0; d->place && i <= d->mask; i++)
		free(d->place[i].reader);
	free(d->place);
	free(d);
}

/* ---- a task ------------------------------------------------------------- */

static bool add_event(const struct node *n, struct lkdf_event *after,
		      unsigned *nr)
{
	if (!n)
		return true;
	if (*nr == LKDF_MAX_AFTER)
		return false;
	after[(*nr)++] = n->event;
	return true;
}

bool depends_look(struct depends *d, void **depend, struct lkdf_event *after,
		  unsigned *nr)
{
	struct uses u = uses_of(depend);
	struct place *p;
	bool writes, fits = true;
	unsigned k;
	size_t i;

	for (*nr = 0, i = 0; i < nr_uses(&u) && fits; i++) {
		p = get_place(d, use_at(&u, i, &writes));
		if (!p)
			return false;
		fits = add_event(p->writer, after, nr);
		for (k = 0; writes && k < p->nr_readers && fits; k++)
			fits = add_event(p->reader[k], after, nr);
	}
	return fits;
}

bool depends_note(struct depends *d, void **depend, struct lkdf_event done)
{
	struct node *n = malloc(sizeof(*n));
	struct uses u = uses_of(depend);
	struct place *p;
	bool writes, fits = true;
	size_t i;

	if (!n) {
		lkdf_event_put(done);
		return false;
	}
	*n = (struct node){ .event = done, .nr_places = 1 };
	for (i = 0; i < nr_uses(&u) && fits; i++) {
		p = get_place(d, use_at(&u, i, &writes));
		fits = p && (writes || has_room(p));
		if (!fits)
			break;
		n->nr_places++;
		if (writes) {
			forget_tasks(p);
			p->writer = n;
		} else {
			p->reader[p->nr_readers++] = n;
		}
	}
	leave_place(n);
	return fits;
}
