/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Planned work of a node: a thief has waited for it since it came, not since
 * the thief has nothing to do, and more of it does not begin that anew.
 */
#include "sched/load.h"

#include "tests/tap.h"

int main(void)
{
	struct load l = { .bytes = 0 };

	tap_start(20);
	load_begin(&l, 1000);
	load_add(&l, 4096, 2);
	is(load_idle(&l, 5000, 1000), 0, "work that comes was not waited for");
	is(load_idle(&l, 5000, 1300), 300, "until then nobody knew of it");
	is(load_idle(&l, 100, 1300), 100, "and nobody was idle for longer");
	is(load_idle(&l, 5000, 900), 0, "another CPU's clock may be behind");
	load_begin(&l, 2000);
	load_add(&l, 4096, 2);
	is(load_idle(&l, 5000, 2100), 1100, "more work does not begin anew");
	load_add(&l, -8192, -4);
	load_begin(&l, 3000);
	load_add(&l, 4096, 1);
	is(load_idle(&l, 5000, 3010), 10, "work after none does");
	return tap_end();
}
