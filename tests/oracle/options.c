/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/options.h"

#include "tests/oracle/drop.h"
#include "tests/oracle/shrink.h"

#include <stdio.h>
#include <string.h>

/* Without a part of the program the same order is another one. */
#define SHRINK_ORDERS 40

static void parse_workers(struct options *o, const char *text)
{
	char *end = (char *)(uintptr_t)text;

	o->nr_workers = 0;
	do {
		o->workers[o->nr_workers++] = (int)strtol(text, &end, 10);
		text = end + 1;
	} while (*end == ',' && o->nr_workers < MAX_RUNTIMES);
}

bool options_parse(struct options *o, const char *name, const char *value)
{
	uint64_t number = strtoull(value, NULL, 0);

	if (!strcmp(name, "--programs"))
		o->programs = number;
	else if (!strcmp(name, "--seed"))
		o->seed = number;
	else if (!strcmp(name, "--base"))
		o->base = number;
	else if (!strcmp(name, "--tasks"))
		o->tasks = (uint32_t)number;
	else if (!strcmp(name, "--repeat"))
		o->repeat = (uint32_t)number;
	else if (!strcmp(name, "--seconds"))
		o->seconds = (uint32_t)number;
	else if (!strcmp(name, "--narrow"))
		o->narrow = (uint32_t)number;
	else if (!strcmp(name, "--substitutes"))
		o->substitutes = (uint32_t)number;
	else if (!strcmp(name, "--drop"))
		o->drop = value;
	else if (!strcmp(name, "--orders"))
		o->orders = (uint32_t)number;
	else if (!strcmp(name, "--order"))
		o->order = (uint32_t)number;
	else if (!strcmp(name, "--watchdog"))
		o->watchdog = (uint32_t)number;
	else if (!strcmp(name, "--workers"))
		parse_workers(o, value);
	else if (!strcmp(name, "--shrink"))
		o->shrinks = number != 0;
	else if (!strcmp(name, "--compare"))
		o->compares = number != 0;
	else if (!strcmp(name, "--data"))
		o->data = number != 0;
	else if (!strcmp(name, "--devices"))
		o->devices = (enum d_devices)number;
	else
		return false;
	o->has_seed |= !strcmp(name, "--seed");
	return true;
}

/* Of the one program. */
static uint32_t count_parts(const struct options *o)
{
	struct d_program *data;
	struct program p;
	uint32_t nr;

	if (seed_has_data(o->seed)) {
		data = d_program_create(o->seed, o->tasks, o->devices);
		nr = d_program_nr_parts(data);
		d_program_destroy(data);
		return nr;
	}
	program_create(&p, o->seed, o->tasks);
	nr = program_nr_parts(&p);
	program_destroy(&p);
	return nr;
}

int options_shrink(struct options *o, const char *self)
{
	char command[512], quiet[560];
	uint32_t nr;

	for (nr = 0; nr <= 20000; nr += nr / 4 + 1) {
		snprintf(command, sizeof(command),
			 "%s --seed %llu --workers %d --tasks %u --repeat %u "
			 "--narrow %u --order %u --orders %u --devices %d "
			 "--watchdog 5",
			 self, (unsigned long long)o->seed, o->workers[0], nr,
			 o->repeat > 1 || o->order ? o->repeat : 200, o->narrow,
			 o->order, o->order ? SHRINK_ORDERS : 0,
			 (int)o->devices);
		snprintf(quiet, sizeof(quiet), "%s >/dev/null 2>&1", command);
		if (system(quiet) == 0)
			continue;
		o->tasks = nr;
		return shrink_parts(command, count_parts(o));
	}
	printf("it does not fail\n");
	return 1;
}
