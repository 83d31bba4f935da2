/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes of other nodes. Their cost is estimated from the recording itself:
 * bodies of one kind with near bytes against those with far bytes. Where there
 * are not enough of both, bytes are all that is told.
 */
#include "report/find.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)
#define LEAST_REMOTE 0.1
#define LEAST_BYTES (1u << 20)
/* Per cent of a body's bytes: near up to here, far from there on. */
#define NEAR 20
#define FAR 80
#define LEAST_BODIES 30
/* Where the cost is not known: orders the finding among the others. */
#define RANK_OF_BYTES 0.3

struct side {
	uint64_t nr, time;
};

static double kind_cost(const struct report *r, uint32_t kind, bool *is_known)
{
	struct side near = { 0 }, far = { 0 }, *to;
	const struct slice *s = r->slice, *end = s + r->nr_slices;
	double longer;

	for (; s < end; s++) {
		if (s->kind != kind || s->remote == 255)
			continue;
		to = s->remote <= NEAR ? &near : s->remote >= FAR ? &far : NULL;
		if (!to)
			continue;
		to->nr++;
		to->time += s->end - s->begin;
	}
	*is_known = near.nr >= LEAST_BODIES && far.nr >= LEAST_BODIES;
	if (!*is_known)
		return 0;
	longer = (double)far.time -
		 (double)near.time / (double)near.nr * (double)far.nr;
	return longer > 0 ? longer / (double)worker_time(r) : 0;
}

static uint64_t row_sum(const struct report *r, int node)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < MAX_NODES; i++)
		sum += r->flow[node][i];
	return sum;
}

/* The pair of nodes between which most bytes go. */
static uint64_t worst_pair(const struct report *r, int *user, int *owner)
{
	uint64_t worst = 0;
	uint32_t i, k;

	*user = *owner = 0;
	for (i = 0; i < MAX_NODES; i++) {
		for (k = 0; k < MAX_NODES; k++) {
			if (i == k || r->flow[i][k] <= worst)
				continue;
			worst = r->flow[i][k];
			*user = (int)i;
			*owner = (int)k;
		}
	}
	return worst;
}

/* The part of that owner in the bytes that go between nodes. */
static double part_of_owner(const struct report *r, int owner)
{
	uint64_t all = 0, of = 0;
	uint32_t i, k;

	for (i = 0; i < MAX_NODES; i++) {
		for (k = 0; k < MAX_NODES; k++) {
			if (i == k)
				continue;
			all += r->flow[i][k];
			of += (int)k == owner ? r->flow[i][k] : 0;
		}
	}
	return share_of(of, all);
}

static void say_fix(const struct report *r, struct finding *f, const char *kind)
{
	int user, owner;

	if (worst_pair(r, &user, &owner) && part_of_owner(r, owner) > 0.6)
		PUT(f->fix,
		    "the data of %s lie on node %d: .home of its lkdf_data, "
		    "lkdf_alloc(lkdf_place_node(rt, N)) by its users, or "
		    "LKDF_MEM_INTERLEAVED",
		    kind, owner);
	else
		PUT(f->fix,
		    "lkdf_graph_record() plans places ahead, and moves blocks "
		    "to those that use them");
}

/* The data with most bytes of other nodes, where the recording has names. */
static void say_data(const struct report *r, struct finding *f)
{
	uint32_t i, worst = 0;
	uint64_t all = 0;
	size_t used = strlen(f->why);

	for (i = 0; i < LKDF_MAX_NAMES; i++) {
		all += r->remote_of[i];
		if (r->remote_of[i] > r->remote_of[worst])
			worst = i;
	}
	if (!r->remote_of[worst] || !r->info.name[worst])
		return;
	snprintf(f->why + used, sizeof(f->why) - used,
		 " %s of all of them are of %s.",
		 words_share(share_of(r->remote_of[worst], all)).text,
		 r->info.name[worst]);
}

static void say_why(const struct report *r, struct finding *f,
		    const struct kind *k)
{
	uint64_t worst;
	size_t used;
	int user, owner;

	PUT(f->why, "Most of it by %s: %s of its %s.", r->info.name[k->name],
	    words_bytes(k->remote).text,
	    words_bytes(k->remote + k->local).text);
	worst = worst_pair(r, &user, &owner);
	used = strlen(f->why);
	if (worst)
		snprintf(f->why + used, sizeof(f->why) - used,
			 " Node %d takes %s of its bytes from node %d.", user,
			 words_share(share_of(worst, row_sum(r, user))).text,
			 owner);
	say_data(r, f);
}

void find_remote(struct report *r)
{
	uint64_t local = 0, remote = 0;
	double share, cost = 0, more;
	bool is_known = false, knows;
	uint32_t i, worst = 0;
	struct finding *f;

	for (i = 0; i < r->nr_kinds; i++) {
		local += r->kind[i].local;
		remote += r->kind[i].remote;
		if (r->kind[i].remote > r->kind[worst].remote)
			worst = i;
	}
	share = share_of(remote, local + remote);
	if (share < LEAST_REMOTE || remote < LEAST_BYTES)
		return;
	for (i = 0; i < r->nr_kinds; i++) {
		if (!r->kind[i].remote)
			continue;
		more = kind_cost(r, i, &knows);
		cost += more;
		is_known |= knows;
	}
	f = find_add(r, "remote", is_known ? FINDING_COST : FINDING_BYTES,
		     cost);
	f->is_estimate = is_known;
	if (!is_known)
		f->rank = RANK_OF_BYTES * share * find_in_bodies(r);
	PUT(f->title, "%s of the bytes that tasks use come from another node",
	    words_share(share).text);
	say_why(r, f, &r->kind[worst]);
	say_fix(r, f, r->info.name[r->kind[worst].name]);
}
