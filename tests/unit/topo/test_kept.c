/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The machine that was read the first time serves who opens next: whole,
 * though the first thread was bound to one CPU, and for each thread cut to its
 * own affinity.
 */
#include "base/clock.h"
#include "base/err.h"
#include "tests/tap.h"
#include "topo/kept.h"
#include "topo/topo.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static cpu_set_t all;

static struct topo *open_machine(bool keeps)
{
	struct topo_attr a = { .keeps = keeps };
	struct topo *t = NULL;

	if (topo_open(&a, &t)) {
		printf("Bail out! %s\n", err_text());
		exit(1);
	}
	return t;
}

static int first_cpu(void)
{
	int cpu = 0;

	while (!CPU_ISSET(cpu, &all))
		cpu++;
	return cpu;
}

static void bind_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	is(sched_setaffinity(0, sizeof(one), &one), 0, "bound to CPU %d", cpu);
}

static void nothing_is_kept_unasked(void)
{
	struct machine m;

	topo_close(open_machine(false));
	ok(!kept_copy(&m), "nothing is kept where nobody asks for it");
}

/* The first one in the process. */
static void a_bound_thread_keeps_the_whole_machine(void)
{
	struct machine m;
	struct topo *t;

	bind_to(first_cpu());
	t = open_machine(true);
	is(t->nr_cpus, 1, "a thread that is bound to one CPU has one");
	topo_close(t);
	ok(kept_copy(&m), "the machine is kept");
	ok(m.is_this_system, "this one");
	has(m.source, "sysfs", "as /sys told it: %s", m.source);
	ok(m.nr_cpus >= CPU_COUNT(&all), "with all its CPUs");
	machine_fini(&m);
	is(sched_setaffinity(0, sizeof(all), &all), 0, "bound no more");
	t = open_machine(true);
	is(t->nr_cpus, CPU_COUNT(&all), "and a thread that is not has all");
	topo_close(t);
}

static void it_serves_again(void)
{
	struct topo *t;
	int i;

	for (i = 0; i < 3; i++) {
		bind_to(first_cpu());
		t = open_machine(true);
		is(t->nr_cpus, 1, "again one");
		is(t->cpu[0].os_cpu, first_cpu(), "the one that it may use");
		topo_close(t);
		is(sched_setaffinity(0, sizeof(all), &all), 0, "bound no more");
		t = open_machine(true);
		is(t->nr_cpus, CPU_COUNT(&all), "again all");
		topo_close(t);
	}
}

static void a_child_has_it(void)
{
	int status = -1;
	pid_t child = fork();
	struct machine m;

	if (!child)
		_exit(kept_copy(&m) ? 0 : 1);
	is(waitpid(child, &status, 0), child, "a forked child ends");
	is(status, 0, "it has the machine, too");
}

/* Ticks of a nap by the clock; a machine that is busy may cut in between. */
static bool clocks_agree(uint32_t ticks)
{
	int64_t ns = clock_now_ns();
	uint64_t from = clock_ticks();
	double told;

	usleep(20000);
	told = (double)(clock_ticks() - from) * 1024 / ticks;
	ns = clock_now_ns() - ns;
	return told > 0.9 * (double)ns && told < 1.1 * (double)ns;
}

static void the_clock_is_measured_once(void)
{
	uint32_t ticks = clock_ticks_per_1024ns();
	bool agree = false;
	int i;

	ok(ticks > 0, "%u ticks in 1024 ns", ticks);
	is(clock_ticks_per_1024ns(), ticks, "so says each who asks");
	for (i = 0; i < 20 && !agree; i++)
		agree = clocks_agree(ticks);
	ok(agree, "a nap is as long by ticks as by the clock");
}

int main(void)
{
	tap_start(30);
	if (sched_getaffinity(0, sizeof(all), &all)) {
		skip("the machine is kept", "sched_getaffinity is refused");
	} else {
		nothing_is_kept_unasked();
		a_bound_thread_keeps_the_whole_machine();
		it_serves_again();
		a_child_has_it();
	}
	the_clock_is_measured_once();
	return tap_end();
}
