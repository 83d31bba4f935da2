/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops by name. Blocks of one run of a loop became ready together, when it
 * began; how unevenly its threads ended is the time from the end of each
 * thread's last block to the end of the last of all.
 */
#include "report/find.h"
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

static bool is_block(const struct report *r, const struct slice *s)
{
	return s->ready != NO_TIME && r->kind[s->kind].is_loop;
}

/* Blocks of one loop, thread by thread, by end. */
static int by_loop(const void *a, const void *b)
{
	const struct slice *x = *(const struct slice *const *)a;
	const struct slice *y = *(const struct slice *const *)b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->ready != y->ready)
		return x->ready < y->ready ? -1 : 1;
	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static int longest_first(const void *a, const void *b)
{
	const struct loop_sum *x = a, *y = b;

	return x->wall > y->wall ? -1 : x->wall < y->wall;
}

/*
 * The blocks of a run, thread by thread, are added to its loop. A thread of the
 * program that leaves the rest to the workers waits for nobody's last block.
 */
static void add_run(const struct report *r, struct loop_sum *l,
		    const struct slice **s, uint32_t nr)
{
	uint64_t end = 0, uneven = 0, most = 0, gap;
	uint32_t i, nr_threads = 0;

	for (i = 0; i < nr; i++)
		end = s[i]->end > end ? s[i]->end : end;
	for (i = 0; i < nr; i++) {
		if (i + 1 < nr && s[i + 1]->lane == s[i]->lane)
			continue;
		gap = end - s[i]->end;
		most = gap > most ? gap : most;
		uneven += gap;
		nr_threads++;
	}
	uneven -= nr_threads > r->nr_workers ? most : 0;
	l->kind = s[0]->kind;
	l->nr++;
	l->nr_blocks += nr;
	l->wall += end - s[0]->ready;
	l->uneven += uneven;
	if (uneven < l->worst)
		return;
	l->worst = uneven;
	l->at = (struct place){ s[0]->ready, end, -1 };
}

static void add_loops(struct report *r, const struct slice **s, uint32_t nr)
{
	uint32_t i, first = 0;

	for (i = 1; i <= nr; i++) {
		if (i < nr && s[i]->kind == s[first]->kind &&
		    s[i]->ready == s[first]->ready)
			continue;
		if (!first || s[first]->kind != s[first - 1]->kind)
			r->nr_loops++;
		add_run(r, &r->loop[r->nr_loops - 1], s + first, i - first);
		first = i;
	}
}

int report_loops(struct report *r)
{
	const struct slice **s;
	uint32_t i, nr = 0, k = 0;

	for (i = 0; i < r->nr_slices; i++)
		nr += is_block(r, &r->slice[i]);
	s = malloc((nr + 1ull) * sizeof(*s));
	r->loop = calloc(r->nr_kinds + 1ull, sizeof(*r->loop));
	if (!s || !r->loop) {
		free(s);
		return -ENOMEM;
	}
	for (i = 0; i < r->nr_slices; i++)
		if (is_block(r, &r->slice[i]))
			s[k++] = &r->slice[i];
	qsort(s, nr, sizeof(*s), by_loop);
	if (nr)
		add_loops(r, s, nr);
	qsort(r->loop, r->nr_loops, sizeof(*r->loop), longest_first);
	free(s);
	return 0;
}

bool find_uneven(struct report *r)
{
	const struct loop_sum *l = r->loop, *x;
	const struct kind *k;
	struct finding *f;

	for (x = r->loop; x < r->loop + r->nr_loops; x++)
		l = x->uneven > l->uneven ? x : l;
	k = &r->kind[l->kind];
	if (find_is_refuted(r, "grain", kind_name(r, l->kind)))
		return false;
	f = find_add(r, "loop", FINDING_COST, find_part(r, STARVE_LOOP));
	find_predict(r, f, "grain", kind_name(r, l->kind));
	PUT(f->title, "Threads of the loop %.96s do not end together",
	    kind_name(r, l->kind));
	PUT(f->why,
	    "For %s of worker time nothing was left of a loop while its last "
	    "blocks ran. %s runs of %.64s: threads that had ended waited for "
	    "%s in all, at most %s in one run; a body takes %s in the middle, "
	    "at most %s.",
	    words_time(r->starved[STARVE_LOOP]).text, words_count(l->nr).text,
	    kind_name(r, l->kind), words_time(l->uneven).text,
	    words_time(l->worst).text, words_time(k->p50).text,
	    words_time(k->max).text);
	PUT(f->fix, "a smaller grain, no SCHEDULE_STATIC, or the long "
		    "iterations first; lkdf_for_in() within one that is long");
	f->at = l->at;
	find_source(f, "bodies");
	return true;
}

bool find_serial(struct report *r)
{
	struct finding *f;

	if (find_is_refuted(r, "program", ""))
		return false;
	f = find_add(r, "serial", FINDING_COST, find_part(r, STARVE_PROGRAM));

	PUT(f->title, "The program works alone between its loops");
	PUT(f->why,
	    "For %s of worker time, until %s, when the last loop began, none "
	    "ran, and no thread of the program was in a wait of the library.",
	    words_time(r->starved[STARVE_PROGRAM]).text,
	    words_time(r->last_outside).text);
	PUT(f->fix, "make loops or tasks of what the thread computes between "
		    "them, or start those that need not wait for it earlier");
	f->at = r->starved_gap.at;
	find_source(f, "bodies, waits");
	find_predict(r, f, "program", "");
	return true;
}
