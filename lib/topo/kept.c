/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "topo/kept.h"

#include "base/atomic.h"
#include "topo/plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kept {
	/* When it was read. */
	long nr_online; /* CPUs */
	char mems[PLAIN_LINE]; /* nodes whose memory the cgroup leaves */
	struct machine machine;
};

/*
 * A thread that looks at it takes it out, and puts it back: no thread waits for
 * another, nor does a forked child. NULL: nothing is kept, or a thread looks.
 */
static _Atomic(struct kept *) kept;

static void free_kept(struct kept *k)
{
	if (!k)
		return;
	machine_fini(&k->machine);
	free(k);
}

static struct kept *take_kept(void)
{
	/* [machine.keep] all of it; pairs with itself. */
	return a_xchg(&kept, NULL, acq_rel);
}

static void put_kept(struct kept *k)
{
	/* [machine.keep] as above. */
	free_kept(a_xchg(&kept, k, acq_rel));
}

/* The library is unloaded, or the process ends. */
__attribute__((destructor)) static void drop_kept(void)
{
	free_kept(take_kept());
}

static void *copy_array(const void *from, size_t nr, size_t size)
{
	void *to = calloc(nr + 1, size);

	if (to && nr)
		memcpy(to, from, nr * size);
	return to;
}

static bool copy_machine(struct machine *to, const struct machine *from)
{
	size_t nodes = (size_t)from->nr_nodes;

	*to = *from;
	to->node = copy_array(from->node, nodes, sizeof(*to->node));
	to->cpu =
		copy_array(from->cpu, (size_t)from->nr_cpus, sizeof(*to->cpu));
	to->distance = copy_array(from->distance, nodes * nodes,
				  sizeof(*to->distance));
	if (to->node && to->cpu && to->distance)
		return true;
	machine_fini(to);
	return false;
}

static bool has_cpu(const struct plain_cpus *c, int os_cpu)
{
	int low = 0, high = c->nr, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (c->os[mid] < os_cpu)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->nr && c->os[low] == os_cpu;
}

/*
 * Is it what the system would tell now? A cgroup that takes CPUs away takes
 * them from the affinity; one that gives CPUs gives some that are not kept.
 */
static bool is_current(const struct kept *k)
{
	const struct machine *m = &k->machine;
	char mems[PLAIN_LINE];
	struct plain_cpus c = { NULL, 0 };
	int rc, i, nr = 0;

	plain_mems(NULL, mems);
	if (k->nr_online != sysconf(_SC_NPROCESSORS_ONLN) ||
	    strcmp(mems, k->mems))
		return false;
	rc = plain_affinity(&c);
	for (i = 0; i < m->nr_cpus && !rc; i++)
		nr += has_cpu(&c, m->cpu[i].os_cpu);
	free(c.os);
	return !rc && nr == c.nr;
}

bool kept_copy(struct machine *m)
{
	struct kept *k = take_kept();
	bool is_there;

	if (!k)
		return false;
	is_there = is_current(k) && copy_machine(m, &k->machine);
	put_kept(k);
	return is_there;
}

void kept_note(const struct machine *m)
{
	struct kept *k = calloc(1, sizeof(*k));

	if (!k)
		return;
	k->nr_online = sysconf(_SC_NPROCESSORS_ONLN);
	plain_mems(NULL, k->mems);
	if (copy_machine(&k->machine, m))
		put_kept(k);
	else
		free(k);
}

int kept_cut(struct machine *m)
{
	struct plain_cpus c = { NULL, 0 };
	int rc = plain_affinity(&c), i, nr = 0;

	for (i = 0; i < m->nr_cpus && !rc; i++)
		if (has_cpu(&c, m->cpu[i].os_cpu))
			m->cpu[nr++] = m->cpu[i];
	free(c.os);
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	m->nr_cpus = nr;
	return 0;
}
