/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/numa/driver.h"
#include "tests/vm/plugin/guest.h"

#include <stdio.h>

static void say_result(const struct program *p)
{
	uint32_t nr =
		p->is_gated ? p->nr_tasks_counted : p->nr_tasks * p->nr_repeats;
	int i;

	guest_say("note right %d", !program_check(p));
	guest_say("note tasks %u", nr);
	for (i = 0; p->is_timed && i < PROGRAM_NODES; i++)
		guest_say("note time %llu", (unsigned long long)p->time[i]);
	if (!p->is_gated)
		guest_say("note bytes %llu", (unsigned long long)p->nr_bytes);
}

static int count(const struct driver *d, struct program *p)
{
	int rc;

	guest_say("label %s %s", d->name, p->name);
	rc = guest_say_ranges();
	if (!p->is_gated)
		guest_mark(CONTROL_START);
	rc = d->run(p) || rc;
	guest_mark(CONTROL_STOP);
	say_result(p);
	return rc || guest_verify() ? -1 : 0;
}

int driver_main(const struct driver *d, int argc, char **argv)
{
	struct program *p = NULL;
	int rc = argc == 2 ? guest_open() : -1;

	if (!rc)
		p = program_create(argv[1]);
	rc = p ? d->prepare(p) : -1;
	if (!rc)
		rc = count(d, p);
	if (p) {
		d->finish();
		program_destroy(p);
	}
	printf("%s %s: %s\n", d->name, argc == 2 ? argv[1] : "",
	       rc ? "failed" : "done");
	return rc != 0;
}
