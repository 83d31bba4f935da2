/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "gomp/places.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Read by the first thread that asks, constant afterwards. */
static struct {
	pthread_once_t once;
	unsigned nr;
	int nr_cpus;
	size_t size; /* of a set */
	cpu_set_t **set; /* of each */
	cpu_set_t *all;
} places = { .once = PTHREAD_ONCE_INIT };

/* 1 + the place that this thread is bound to; 0: to none of them yet. */
static __thread unsigned here __attribute__((tls_model("initial-exec")));

/* The function of libgomp, which was loaded after us. */
static int ask_next(const char *name, int argument)
{
	void *found = dlsym(RTLD_NEXT, name);
	int (*fn)(int n) = NULL;

	memcpy(&fn, &found, sizeof(fn));
	return fn ? fn(argument) : 0;
}

static void read_place(unsigned place, const int *cpu, int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		CPU_SET_S((size_t)cpu[i], places.size, places.set[place]);
		CPU_SET_S((size_t)cpu[i], places.size, places.all);
	}
}

/* The numbers of its CPUs; NULL: no memory. */
static int *ask_cpus(unsigned place, int *nr)
{
	void *found = dlsym(RTLD_NEXT, "omp_get_place_proc_ids");
	void (*fn)(int place, int *cpu) = NULL;
	int *cpu;

	memcpy(&fn, &found, sizeof(fn));
	*nr = ask_next("omp_get_place_num_procs", (int)place);
	cpu = fn ? calloc((size_t)*nr + 1, sizeof(*cpu)) : NULL;
	if (cpu)
		fn((int)place, cpu);
	return cpu;
}

static int highest_cpu(void)
{
	unsigned i;
	int *cpu, k, nr, most = 0;

	for (i = 0; i < places.nr; i++) {
		cpu = ask_cpus(i, &nr);
		for (k = 0; cpu && k < nr; k++)
			most = cpu[k] > most ? cpu[k] : most;
		free(cpu);
	}
	return most;
}

static void read_places(void)
{
	int *cpu, k, nr, most;
	unsigned i;

	nr = ask_next("omp_get_num_places", 0);
	if (nr <= 0)
		return;
	places.nr = (unsigned)nr;
	places.nr_cpus = ask_next("omp_get_num_procs", 0);
	most = highest_cpu();
	places.size = CPU_ALLOC_SIZE(most + 1);
	places.all = calloc(1, places.size);
	places.set = calloc(places.nr, sizeof(*places.set));
	for (i = 0; places.all && places.set && i < places.nr; i++) {
		places.set[i] = calloc(1, places.size);
		cpu = ask_cpus(i, &k);
		if (!places.set[i] || !cpu)
			places.all = NULL;
		else
			read_place(i, cpu, k);
		free(cpu);
	}
	if (!places.all || !places.set)
		places.nr = 0;
}

bool places_are_read(void)
{
	return dlsym(RTLD_NEXT, "omp_get_num_places") != NULL;
}

unsigned places_nr(void)
{
	pthread_once(&places.once, read_places);
	return places.nr;
}

bool places_failed(void)
{
	const struct settings *s = settings_get();

	return s->env.bind == BIND_TRUE && !s->nr_binds && places_are_read() &&
	       !places_nr();
}

int places_nr_cpus(void)
{
	return places_nr() ? places.nr_cpus : 0;
}

static void go_to(unsigned place)
{
	if (likely(here == place + 1))
		return;
	sched_setaffinity(0, places.size, places.set[place]);
	here = place + 1;
}

/* A thread that is nowhere is at the first one, as in libgomp. */
int places_here(void)
{
	if (!places_nr())
		return -1;
	if (!here)
		go_to(0);
	return (int)here - 1;
}

void places_widen(void)
{
	if (!places_nr())
		return;
	places_here();
	sched_setaffinity(0, places.size, places.all);
}

void places_narrow(void)
{
	if (places_nr())
		sched_setaffinity(0, places.size, places.set[here - 1]);
}

/* ---- threads of a region ------------------------------------------------ */

void places_begin(struct team *t, unsigned clause)
{
	struct part *p = &t->part;
	unsigned bind = gomp_self.env.bind, next;

	if (!places_nr())
		return;
	*p = gomp_self.part;
	if (!p->nr)
		*p = (struct part){ 0, places.nr };
	if (bind != BIND_FALSE && (clause & 7) != BIND_FALSE)
		bind = clause & 7;
	t->bind = bind;
	t->place = (unsigned)places_here();
	next = settings_bind(t->level);
	t->env.bind = next != UINT_MAX ? next : bind;
}

/* Places after one of the part, which begins anew behind its last one. */
static unsigned place_after(const struct part *p, unsigned place, unsigned nr)
{
	return p->first + (place - p->first + nr) % p->nr;
}

/*
 * More threads than places: as many at each place as there are at each at
 * least, from the first thread's on, and then one at each for the rest.
 */
static unsigned place_of_many(const struct team *t, unsigned num)
{
	unsigned each = t->nr / t->part.nr, rest = t->nr % t->part.nr;
	unsigned after = num < t->nr - rest ? num / each : num - (t->nr - rest);

	return place_after(&t->part, t->place, after);
}

static unsigned place_close(const struct team *t, unsigned num)
{
	if (t->nr > t->part.nr)
		return place_of_many(t, num);
	return place_after(&t->part, t->place, num);
}

/* A part of the part for each thread; the first ones have one more place. */
static struct part part_spread(const struct team *t, unsigned num)
{
	unsigned each = t->part.nr / t->nr, more = t->part.nr % t->nr;
	unsigned at = t->place - t->part.first, i;

	i = at < (each + 1) * more ? at / (each + 1)
				   : more + (at - (each + 1) * more) / each;
	i = (i + num) % t->nr;
	return (struct part){ t->part.first + i * each + (i < more ? i : more),
			      each + (i < more) };
}

void places_enter(const struct team *t, unsigned num, struct part *out)
{
	*out = t->part;
	if (!t->part.nr || t->nr < 2 || t->bind == BIND_FALSE)
		return;
	if (t->bind == BIND_SPREAD && t->nr <= t->part.nr)
		*out = part_spread(t, num);
	else if (t->bind == BIND_SPREAD)
		*out = (struct part){ place_of_many(t, num), 1 };
	if (t->bind == BIND_PRIMARY || !num)
		go_to(t->place);
	else if (t->bind == BIND_SPREAD)
		go_to(out->first);
	else
		go_to(place_close(t, num));
}
