/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A library of a tool is told of copies for readers and of bytes that move. */
#include "tests/api/data/moving.h"
#include "tests/api/hooks.h"

static int old_stderr;
static FILE *file;

static void start_told(void)
{
	char options[600];

	snprintf(options, sizeof(options), "topology=numa:4 core:1,hooks=%s",
		 hooks_library());
	file = tmpfile();
	start(options);
	old_stderr = redirect(file);
}

static void stop_told(void)
{
	stop();
	take_stderr(file, old_stderr);
}

static void a_copy_for_readers_is_told(void)
{
	struct lkdf_data *d;

	start_told();
	d = DATA(rt, .bytes = BYTES, .flags = LKDF_DATA_REPLICATE);
	writes(0, d, 3);
	reads(0, d);
	reads(2, d);
	reads(2, d);
	lkdf_data_put(d);
	stop_told();
	is(hooks_nr("copy", NULL), 1, "one copy is told, not of each reader");
	is(hooks_nr("copy", "copy of 65536 bytes to node 2"), 1,
	   "with bytes and node");
	is(hooks_nr_odd(), 0, "and its end");
	has(said, "hooks: 1 copies of 65536 bytes, 0 not ended",
	    "the counts agree");
}

static void bytes_that_move_are_told(void)
{
	struct lkdf_data *d;

	start_told();
	d = DATA(rt, .bytes = BYTES, .flags = LKDF_DATA_MIGRATE);
	writes(0, d, 1);
	writes(1, d, 2);
	writes(1, d, 3);
	writes(3, d, 4);
	lkdf_data_put(d);
	stop_told();
	is(hooks_nr("copy", NULL), 2, "each move is told");
	is(hooks_nr("copy", "move of 65536 bytes to node 1"), 1,
	   "the first with bytes and node");
	is(hooks_nr("copy", "move of 65536 bytes to node 3"), 1,
	   "the second too");
	is(hooks_nr_odd(), 0, "and both ends");
}

int main(void)
{
	tap_start(60);
	a_copy_for_readers_is_told();
	bytes_that_move_are_told();
	return tap_end();
}
