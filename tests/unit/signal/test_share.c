/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What part of the time between two marks went to futexes or the system, and
 * who says so: the probe, the threads themselves, or nobody.
 */
#include "signal/workers.h"
#include "tests/tap.h"

#define MS 1000000u

static const struct workers_mark begin = { 70 * MS, 30 * MS, 50, 900, 90, 20 };

struct span {
	uint64_t user_ms, system_ms, nr_faults, samples, futex, own;
};

static struct workers_share share_of(struct span s)
{
	struct workers_mark end = begin;

	end.user_ns += s.user_ms * MS;
	end.system_ns += s.system_ms * MS;
	end.nr_faults += s.nr_faults;
	end.samples += s.samples;
	end.futex += s.futex;
	end.own += s.own;
	return workers_share(&begin, &end);
}

static void is_share(struct span s, uint32_t permille, int source,
		     const char *what)
{
	struct workers_share got = share_of(s);

	is(got.permille, permille, "%s", what);
	is(got.source, source, "and who says so");
}

int main(void)
{
	struct workers_mark gone = { 170 * MS, 130 * MS, 50, 0, 0, 0 };

	tap_start(20);
	is_share((struct span){ 60, 40, 0, 0, 0, 0 }, 400, LKDF_SIGNAL_SELF,
		 "no probe: time in the system");
	is_share((struct span){ 60, 40, 20000, 0, 0, 0 }, 200, LKDF_SIGNAL_SELF,
		 "less what page faults take");
	is_share((struct span){ 1, 0, 0, 3, 3, 0 }, 0, LKDF_SIGNAL_NONE,
		 "too short to tell");
	is_share((struct span){ 1, 0, 0, 8, 4, 0 }, 500, LKDF_SIGNAL_BPF,
		 "samples tell of short times, too");
	is_share((struct span){ 60, 40, 0, 100, 45, 0 }, 450, LKDF_SIGNAL_BPF,
		 "a probe: futexes, which are in the system's time");
	is_share((struct span){ 60, 40, 0, 100, 1, 0 }, 400, LKDF_SIGNAL_SELF,
		 "bodies that call the system and meet in no lock");
	is_share((struct span){ 60, 40, 0, 100, 1, 35 }, 50, LKDF_SIGNAL_SELF,
		 "but for futexes of the runtime's own");
	is_share((struct span){ 95, 5, 0, 100, 0, 30 }, 0, LKDF_SIGNAL_BPF,
		 "of which there may be more than time in the system");
	is(workers_share(&begin, &gone).source, LKDF_SIGNAL_SELF,
	   "samples that are gone: the threads tell");
	return tap_end();
}
