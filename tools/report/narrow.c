/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Kinds that the runtime had fewer workers run than there were: option narrow.
 */
#include "report/find.h"
#include "report/load.h"
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)
#define LEAST_NARROW 0.1
/* Bodies without a token: fewer workers than that were not what there was. */
#define MOST_PASSED 0.2
#define SOURCE_PROBE 2 /* enum lkdf_signal_source */

/* As Documentation/counters.rst has them; the others: all run it again. */
enum narrow_reason {
	REASON_TRIAL = 1,
	REASON_CALLED_OFF = 2,
	REASON_WON = 3,
	REASON_CONFIRMED = 5,
	REASON_AGAIN = 8,
};

static struct narrow_kind *row_of(struct report *r, uint32_t name)
{
	struct narrow_kind *k;

	for (k = r->narrow; k < r->narrow + r->nr_narrow; k++)
		if (k->name == name)
			return k;
	if (r->nr_narrow == NARROW_KINDS)
		return NULL;
	r->nr_narrow++;
	*k = (struct narrow_kind){ .name = name, .since = NO_TIME };
	return k;
}

/* Until then it was as the event before has said. */
static void end_span(struct narrow_kind *k, uint64_t at)
{
	if (k->since != NO_TIME && at > k->since)
		k->ns += at - k->since;
	k->since = NO_TIME;
}

void narrow_keep(struct report *r, uint64_t at, uint64_t name, uint64_t verdict)
{
	uint64_t reason = verdict >> 40;
	struct narrow_kind *k;

	if (name >= LKDF_MAX_NAMES || !r->info.name[name] ||
	    reason == REASON_TRIAL || reason == REASON_CALLED_OFF)
		return;
	k = row_of(r, (uint32_t)name);
	if (!k)
		return;
	end_span(k, at);
	if (reason != REASON_WON && reason != REASON_CONFIRMED &&
	    reason != REASON_AGAIN)
		return;
	k->since = at;
	k->workers = (uint32_t)verdict;
	k->source = verdict >> 32 & 0xff;
}

static struct narrow_kind *longest_span(struct report *r)
{
	struct narrow_kind *k, *found = NULL;

	for (k = r->narrow; k < r->narrow + r->nr_narrow; k++) {
		end_span(k, r->wall);
		if (k->ns && (!found || k->ns > found->ns))
			found = k;
	}
	return found;
}

/* The hottest word that bodies of the kind have met in; NULL: none is known. */
static const struct futex *word_of(const struct report *r, const char *name)
{
	const struct futex *f;
	uint32_t i;

	for (f = r->futex; f < r->futex + r->nr_futexes; f++)
		for (i = 0; i < f->nr_kinds; i++)
			if (f->kind[i].kind != NO_KIND &&
			    !strcmp(kind_name(r, f->kind[i].kind), name))
				return f;
	return NULL;
}

static void sum_passed(const struct report *r, uint64_t *gated,
		       uint64_t *passed)
{
	uint32_t i;

	*gated = *passed = 0;
	for (i = 0; i < r->nr_lanes; i++) {
		*gated += r->lane[i].gated;
		*passed += r->lane[i].passed;
	}
}

/*
 * The policy wanted fewer workers, and bodies came by all the same. False: few
 * did.
 */
static bool tell_passed(const struct report *r, const struct narrow_kind *k,
			const char *name, struct finding *f)
{
	uint64_t gated, passed;

	sum_passed(r, &gated, &passed);
	if (share_of(passed, gated) <= MOST_PASSED)
		return false;
	PUT(f->title, "narrow could not hold %.48s at %u of %u workers", name,
	    k->workers, r->nr_workers);
	PUT(f->why,
	    "For %s of %s the runtime wanted fewer workers for its bodies, but "
	    "%" PRIu64 " of %" PRIu64 " bodies of such kinds ran without a "
	    "token.",
	    words_time(k->ns).text, words_time(r->wall).text, passed, gated);
	PUT(f->fix,
	    "lkdf why says why they could not wait; less work under the lock, "
	    "or data of its own for each task, helps in any case");
	return true;
}

void find_narrow(struct report *r)
{
	struct narrow_kind *k = longest_span(r);
	const struct futex *word;
	struct finding *f;
	const char *name;

	if (!k || find_is_small(r, share_of(k->ns, r->wall), LEAST_NARROW))
		return;
	name = r->info.name[k->name];
	word = word_of(r, name);
	f = find_add(r, "narrow", FINDING_BOUND, 0);
	if (tell_passed(r, k, name, f))
		return;
	PUT(f->title, "%u of %u workers run %.48s%s%.72s", k->workers,
	    r->nr_workers, name, word ? ": " : "", word ? word->text : "");
	PUT(f->why,
	    "For %s of %s the runtime kept the other workers from its bodies, "
	    "as the program was faster so: %s.",
	    words_time(k->ns).text, words_time(r->wall).text,
	    k->source == SOURCE_PROBE
		    ? "they meet in a futex word"
		    : "they take longer beside each other than alone");
	PUT(f->fix,
	    "less work under the lock, or data of its own for each task; more "
	    "workers are of no use to %.60s before",
	    name);
}
