/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Guests: who submits on which CPU, as workers of that CPU see it. */
#include "mechanism/client/client.h"

#include "tests/tap.h"

#include <stdlib.h>

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
}

static int first_of(const cpu_set_t *set, int from)
{
	while (from < CPU_SETSIZE && !CPU_ISSET(from, set))
		from++;
	return from;
}

static void on_its_cpu(struct sched *s)
{
	ok(!client_is_here(s) && !client_was_here(s), "nobody has come");
	client_waits(s);
	ok(!client_is_here(s), "who waits has not come by that");
	client_comes(s);
	ok(client_is_here(s) && client_was_here(s), "one has come");
	client_waits(s);
	ok(!client_is_here(s) && client_was_here(s), "it waits: it was here");
	client_comes(s);
	client_comes(s);
	ok(client_is_here(s), "and comes again");
	client_forget(s);
	ok(!client_is_here(s) && !client_was_here(s), "forgotten");
	client_comes(s);
}

/* As without the mechanism, whose open() has not been called. */
static void nobody_looks(void)
{
	static struct client_sched clients;
	static struct sched s = { .data = { [SLOT_CLIENT] = &clients } };

	client_comes(&s);
	ok(!a_load(&clients.clients, relaxed), "without workers that look "
					       "nobody is noted");
}

int main(void)
{
	static struct client_sched clients = { .crowded_ticks = 1 };
	static struct sched s = { .data = { [SLOT_CLIENT] = &clients } };
	cpu_set_t all;
	int one, other;

	tap_start(60);
	if (sched_getaffinity(0, sizeof(all), &all))
		abort();
	one = first_of(&all, 0);
	other = first_of(&all, one + 1);
	pin_to(one);
	nobody_looks();
	on_its_cpu(&s);
	if (other == CPU_SETSIZE || other % 32 == one % 32) {
		skip("another CPU", "there is none with a bit of its own");
		return tap_end();
	}
	pin_to(other);
	ok(!client_is_here(&s) && !client_was_here(&s), "not on another CPU");
	client_waits(&s);
	client_forget(&s);
	pin_to(one);
	ok(client_is_here(&s) && client_was_here(&s), "whose news are its own");
	return tap_end();
}
