/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Is the checker right? Small programs whose outcomes C11 (as RC11 repairs it)
 * allows or forbids: the allowed ones must be seen, the forbidden ones fail.
 * Names after Alglave, Maranget, Tautschnig 2014.
 */
#include "mc.h"

static _Atomic(uint32_t) w, x, y, z;
static int data;
static uint32_t r[MC_THREADS][2];

static void init(void)
{
	int i;

	a_store(&w, 0, relaxed);
	a_store(&x, 0, relaxed);
	a_store(&y, 0, relaxed);
	a_store(&z, 0, relaxed);
	plain_store(&data, 0);
	for (i = 0; i < MC_THREADS; i++)
		r[i][0] = r[i][1] = 0;
	mc_name(&x, "x");
	mc_name(&y, "y");
	mc_name(&z, "z");
	mc_name(&data, "data");
}

static void sb_relaxed(int id)
{
	if (id == 0) {
		a_store(&x, 1, relaxed);
		r[0][0] = a_load(&y, relaxed);
	} else {
		a_store(&y, 1, relaxed);
		r[1][0] = a_load(&x, relaxed);
	}
}

static void sb_release(int id)
{
	if (id == 0) {
		a_store(&x, 1, release);
		r[0][0] = a_load(&y, acquire);
	} else {
		a_store(&y, 1, release);
		r[1][0] = a_load(&x, acquire);
	}
}

static void sb_seen(void)
{
	if (!r[0][0] && !r[1][0])
		mc_see("0 0");
	if (r[0][0] && r[1][0])
		mc_see("1 1");
}

static void sb_seq_cst(int id)
{
	if (id == 0) {
		a_store(&x, 1, seq_cst);
		r[0][0] = a_load(&y, seq_cst);
	} else {
		a_store(&y, 1, seq_cst);
		r[1][0] = a_load(&x, seq_cst);
	}
}

static void sb_forbidden(void)
{
	mc_assert(r[0][0] || r[1][0]);
	sb_seen();
}

/* A read-modify-write is no fence: the loads may still read the past. */
static void sb_rmw_elsewhere(int id)
{
	if (id == 0) {
		a_store(&x, 1, relaxed);
		a_add(&z, 1, seq_cst);
		r[0][0] = a_load(&y, relaxed);
	} else {
		a_store(&y, 1, relaxed);
		a_add(&w, 1, seq_cst);
		r[1][0] = a_load(&x, relaxed);
	}
}

static void mp_relaxed(int id)
{
	if (id == 0) {
		a_store(&x, 1, relaxed);
		a_store(&y, 1, relaxed);
	} else {
		r[1][0] = a_load(&y, relaxed);
		r[1][1] = a_load(&x, relaxed);
	}
}

static void mp_release(int id)
{
	if (id == 0) {
		a_store(&x, 1, relaxed);
		a_store(&y, 1, release);
	} else {
		r[1][0] = a_load(&y, acquire);
		r[1][1] = a_load(&x, relaxed);
	}
}

static void mp_seen(void)
{
	if (r[1][0] && !r[1][1])
		mc_see("1 0");
	if (r[1][0] && r[1][1])
		mc_see("1 1");
	if (!r[1][0] && r[1][1])
		mc_see("0 1");
}

static void mp_forbidden(void)
{
	mc_assert(!r[1][0] || r[1][1]);
	mp_seen();
}

static void iriw_acquire(int id)
{
	if (id == 0) {
		a_store(&x, 1, release);
	} else if (id == 1) {
		a_store(&y, 1, release);
	} else if (id == 2) {
		r[2][0] = a_load(&x, acquire);
		r[2][1] = a_load(&y, acquire);
	} else {
		r[3][0] = a_load(&y, acquire);
		r[3][1] = a_load(&x, acquire);
	}
}

static void iriw_seq_cst(int id)
{
	if (id == 0) {
		a_store(&x, 1, seq_cst);
	} else if (id == 1) {
		a_store(&y, 1, seq_cst);
	} else if (id == 2) {
		r[2][0] = a_load(&x, seq_cst);
		r[2][1] = a_load(&y, seq_cst);
	} else {
		r[3][0] = a_load(&y, seq_cst);
		r[3][1] = a_load(&x, seq_cst);
	}
}

static bool iriw_differs(void)
{
	return r[2][0] && !r[2][1] && r[3][0] && !r[3][1];
}

static void iriw_seen(void)
{
	if (iriw_differs())
		mc_see("1 0 1 0");
}

static void iriw_forbidden(void)
{
	mc_assert(!iriw_differs());
	if (r[2][0] && r[2][1] && r[3][0] && !r[3][1])
		mc_see("1 1 1 0");
}

static void corr(int id)
{
	if (id == 0) {
		a_store(&x, 1, relaxed);
		a_store(&x, 2, relaxed);
	} else {
		r[id][0] = a_load(&x, relaxed);
		r[id][1] = a_load(&x, relaxed);
	}
}

static void corr_forbidden(void)
{
	mc_assert(r[1][0] <= r[1][1]);
	if (r[1][0] == 0 && r[1][1] == 2)
		mc_see("0 2");
	if (r[1][0] == 2 && r[2][1] == 0)
		mc_see("one sees, one does not");
}

static void wrc(int id)
{
	if (id == 0) {
		a_store(&x, 1, relaxed);
	} else if (id == 1) {
		if (a_load(&x, relaxed))
			a_store(&y, 1, release);
	} else {
		r[1][0] = a_load(&y, acquire);
		r[1][1] = a_load(&x, relaxed);
	}
}

static void wrc_relaxed(int id)
{
	if (id == 1) {
		if (a_load(&x, relaxed))
			a_store(&y, 1, relaxed);
	} else {
		wrc(id);
	}
}

static void isa2(int id)
{
	if (id == 0) {
		a_store(&x, 1, relaxed);
		a_store(&y, 1, release);
	} else if (id == 1) {
		if (a_load(&y, acquire))
			a_store(&z, 1, release);
	} else {
		r[1][0] = a_load(&z, acquire);
		r[1][1] = a_load(&x, relaxed);
	}
}

static void isa2_relaxed(int id)
{
	if (id == 1) {
		if (a_load(&y, relaxed))
			a_store(&z, 1, release);
	} else {
		isa2(id);
	}
}

/* A relaxed read-modify-write carries on what was released before. */
static void release_sequence(int id)
{
	if (id == 0) {
		a_store(&x, 1, relaxed);
		a_store(&y, 1, release);
	} else if (id == 1) {
		a_add(&y, 1, relaxed);
	} else {
		r[1][0] = a_load(&y, acquire) == 2 && a_load(&z, relaxed) == 0;
		r[1][1] = a_load(&x, relaxed);
	}
}

static void release_sequence_seen(void)
{
	/* 2 can only be read where the add came after the store. */
	mc_assert(!r[1][0] || r[1][1]);
	if (r[1][0])
		mc_see("2 was read");
}

/* A plain store of another thread ends it. */
static void broken_sequence(int id)
{
	if (id == 1)
		a_store(&y, 2, relaxed);
	else
		release_sequence(id);
}

static void lb(int id)
{
	if (id == 0) {
		r[0][0] = a_load(&x, relaxed);
		a_store(&y, 1, relaxed);
	} else {
		r[1][0] = a_load(&y, relaxed);
		a_store(&x, 1, relaxed);
	}
}

static void lb_forbidden(void)
{
	mc_assert(!r[0][0] || !r[1][0]);
}

static void two_plus_two(int id)
{
	if (id == 0) {
		a_store(&x, 1, relaxed);
		a_store(&y, 2, relaxed);
	} else {
		a_store(&y, 1, relaxed);
		a_store(&x, 2, relaxed);
	}
}

static void two_plus_two_seen(void)
{
	if (a_load(&x, relaxed) == 2 && a_load(&y, relaxed) == 2)
		mc_see("2 2");
}

static void rwc(int id)
{
	if (id == 0) {
		a_store(&x, 1, seq_cst);
	} else if (id == 1) {
		r[1][0] = a_load(&x, seq_cst);
		r[1][1] = a_load(&y, seq_cst);
	} else {
		a_store(&y, 1, seq_cst);
		r[2][0] = a_load(&x, seq_cst);
	}
}

static void rwc_forbidden(void)
{
	mc_assert(!(r[1][0] && !r[1][1] && !r[2][0]));
}

static void adds(int id)
{
	uint32_t old = a_load(&y, relaxed);

	(void)id;
	a_add(&x, 1, relaxed);
	while (!a_cas(&y, &old, old + 1, relaxed, relaxed))
		mc_see("cas again");
}

static void adds_forbidden(void)
{
	mc_assert(a_load(&x, relaxed) == 3 && a_load(&y, relaxed) == 3);
}

static void race(int id)
{
	if (id == 0) {
		plain_store(&data, 1);
		a_store(&x, 1, relaxed);
	} else if (a_load(&x, acquire)) {
		r[1][0] = (uint32_t)plain_load(&data);
	}
}

static void no_race(int id)
{
	if (id == 0) {
		plain_store(&data, 1);
		a_store(&x, 1, release);
	} else if (a_load(&x, acquire)) {
		mc_assert(plain_load(&data) == 1);
		mc_see("read");
	}
}

static void spinlock(int id)
{
	uint32_t zero = 0;

	(void)id;
	while (!a_cas(&x, &zero, 1, acquire, relaxed)) {
		zero = 0;
		a_pause();
	}
	plain_store(&data, plain_load(&data) + 1);
	a_store(&x, 0, release);
}

static void spinlock_counts(void)
{
	mc_assert(plain_load(&data) == 3);
}

static void freed_early(int id)
{
	static _Atomic(uint32_t) *box;

	if (id == 0) {
		box = mc_alloc(sizeof(*box));
		a_store(box, 1, relaxed);
		a_store(&x, 1, release);
		a_load(&y, relaxed);
		mc_free((void *)box);
	} else if (a_load(&x, acquire)) {
		a_load(box, relaxed);
	}
}

#define ROW(text, n, f, g)                                                     \
	.name = text, .nr_threads = n, .bound = -1, .init = init, .thread = f, \
	.final = g

static const struct mc_scenario table[] = {
	{ ROW("SB, relaxed", 2, sb_relaxed, sb_seen),
	  .must_see = { "0 0", "1 1" } },
	{ ROW("SB, release and acquire", 2, sb_release, sb_seen),
	  .must_see = { "0 0", "1 1" } },
	{ ROW("SB, seq_cst", 2, sb_seq_cst, sb_forbidden),
	  .must_see = { "1 1" } },
	{ ROW("SB, seq_cst adds elsewhere are no fence", 2, sb_rmw_elsewhere,
	      sb_seen),
	  .must_see = { "0 0", "1 1" } },
	{ ROW("MP, relaxed", 2, mp_relaxed, mp_seen),
	  .must_see = { "1 0", "1 1", "0 1" } },
	{ ROW("MP, release and acquire", 2, mp_release, mp_forbidden),
	  .must_see = { "1 1", "0 1" } },
	{ ROW("IRIW, acquire", 4, iriw_acquire, iriw_seen),
	  .must_see = { "1 0 1 0" } },
	{ ROW("IRIW, seq_cst", 4, iriw_seq_cst, iriw_forbidden),
	  .must_see = { "1 1 1 0" } },
	{ ROW("CoRR", 3, corr, corr_forbidden),
	  .must_see = { "0 2", "one sees, one does not" } },
	{ ROW("WRC", 3, wrc, mp_forbidden), .must_see = { "1 1", "0 1" } },
	{ ROW("WRC, relaxed", 3, wrc_relaxed, mp_seen),
	  .must_see = { "1 0", "1 1" } },
	{ ROW("ISA2", 3, isa2, mp_forbidden), .must_see = { "1 1" } },
	{ ROW("ISA2, the middle does not acquire", 3, isa2_relaxed, mp_seen),
	  .must_see = { "1 0", "1 1" } },
	{ ROW("release sequence", 3, release_sequence, release_sequence_seen),
	  .must_see = { "2 was read" } },
	{ ROW("release sequence broken by a store", 3, broken_sequence,
	      mp_seen),
	  .must_see = { "1 0", "1 1" } },
	{ ROW("LB is left out", 2, lb, lb_forbidden) },
	{ ROW("2+2W, interleaved", 2, two_plus_two, two_plus_two_seen),
	  .must_see = { "2 2" } },
	{ ROW("RWC, seq_cst", 3, rwc, rwc_forbidden) },
	{ ROW("adds are not lost", 3, adds, adds_forbidden),
	  .must_see = { "cas again" } },
	{ ROW("a data race is found", 2, race, NULL), .fails = "data race" },
	{ ROW("no data race behind release", 2, no_race, NULL),
	  .must_see = { "read" } },
	{ ROW("a spin lock excludes", 3, spinlock, spinlock_counts) },
	{ ROW("a free too early is found", 2, freed_early, NULL),
	  .fails = "free" },
};

MC_MAIN(table)
