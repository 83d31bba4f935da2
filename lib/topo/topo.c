/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From the raw machine to the dense one: cut to the CPU list, drop nodes that
 * are of no use, number cores and L3 groups, put the CPUs in order.
 */
#include "topo/topo.h"

#include "base/err.h"
#include "base/util.h"
#include "topo/cpulist.h"
#include "topo/machine.h"
#include "topo/synthetic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(void)
{
	return err(-ENOMEM, "topo: no memory for the topology");
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int refuse_cpu(const struct machine *m, int os_cpu)
{
	int *os = calloc((size_t)m->nr_cpus, sizeof(*os)), i;
	char allowed[160];

	if (!os)
		return no_memory();
	for (i = 0; i < m->nr_cpus; i++)
		os[i] = m->cpu[i].os_cpu;
	qsort(os, (size_t)m->nr_cpus, sizeof(*os), by_number);
	cpulist_text(os, m->nr_cpus, allowed, sizeof(allowed));
	free(os);
	return err(-EINVAL, "topo: cpus=%d: this process may use %s", os_cpu,
		   allowed);
}

struct wish {
	const struct machine *m;
	bool *is_wanted; /* per machine.cpu */
};

static int wish_range(void *u, int first, int last)
{
	struct wish *w = u;
	int os, i;

	for (os = first; os <= last; os++) {
		for (i = 0; i < w->m->nr_cpus; i++) {
			if (w->m->cpu[i].os_cpu == os)
				break;
		}
		if (i == w->m->nr_cpus)
			return refuse_cpu(w->m, os);
		w->is_wanted[i] = true;
	}
	return 0;
}

/* Keeps the CPUs of the option list, which must all be allowed ones. */
static int cut_to_list(struct machine *m, const char *list)
{
	struct wish w = { .m = m };
	size_t at = SIZE_MAX;
	int i, n = 0, rc;

	w.is_wanted = calloc((size_t)m->nr_cpus, sizeof(*w.is_wanted));
	if (!w.is_wanted)
		return no_memory();
	rc = cpulist_parse(list, wish_range, &w, &at);
	if (rc && at != SIZE_MAX)
		rc = err(
			-EINVAL,
			"topo: cpus=%s: expected a list such as 0,2-5; stopped "
			"at \"%.8s\"",
			list, list + at);
	for (i = 0; !rc && i < m->nr_cpus; i++) {
		if (w.is_wanted[i])
			m->cpu[n++] = m->cpu[i];
	}
	if (!rc && n)
		m->nr_cpus = n;
	free(w.is_wanted);
	return rc;
}

static int by_core(const void *a, const void *b)
{
	const struct machine_cpu *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	return (x->os_cpu > y->os_cpu) - (x->os_cpu < y->os_cpu);
}

static int by_smt(const void *a, const void *b)
{
	const struct topo_cpu *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->smt != y->smt)
		return x->smt < y->smt ? -1 : 1;
	return (x->core > y->core) - (x->core < y->core);
}

static int make_arrays(struct topo *t, const struct machine *m)
{
	size_t cpus = (size_t)m->nr_cpus, nodes = (size_t)m->nr_nodes;

	t->cpu = calloc(cpus, sizeof(*t->cpu));
	t->l3 = calloc(cpus, sizeof(*t->l3));
	t->node = calloc(nodes, sizeof(*t->node));
	t->distance = calloc(nodes * nodes, sizeof(*t->distance));
	if (!t->cpu || !t->l3 || !t->node || !t->distance)
		return no_memory();
	return 0;
}

/* map[i] becomes the index of node i, or -1 if it is of no use. */
static void number_nodes(struct topo *t, const struct machine *m, int *map)
{
	int i, j;

	for (i = 0; i < m->nr_nodes; i++)
		map[i] = m->node[i].mem_bytes ? 0 : -1;
	for (i = 0; i < m->nr_cpus; i++)
		map[m->cpu[i].node] = 0;
	for (i = 0; i < m->nr_nodes; i++) {
		if (map[i] < 0)
			continue;
		map[i] = t->nr_nodes++;
		t->node[map[i]].os_node = m->node[i].os_node;
		t->node[map[i]].mem_bytes = m->node[i].mem_bytes;
	}
	for (i = 0; i < m->nr_nodes; i++) {
		for (j = 0; j < m->nr_nodes; j++) {
			if (map[i] >= 0 && map[j] >= 0)
				t->distance[map[i] * t->nr_nodes + map[j]] =
					m->distance[i * m->nr_nodes + j];
		}
	}
}

/* Index of the L3 group with this key; key[i] is the key of group i. */
static int number_l3(struct topo *t, const struct machine_cpu *from, int *key)
{
	int i;

	for (i = 0; i < t->nr_l3 && key[i] != from->l3; i++)
		;
	if (i == t->nr_l3) {
		key[t->nr_l3++] = from->l3;
		t->l3[i].bytes = from->l3_bytes;
	}
	t->l3[i].nr_cpus++;
	return i;
}

/* m->cpu is sorted by core. */
static void number_cpus(struct topo *t, const struct machine *m,
			const int *node_map, int *l3_key)
{
	const struct machine_cpu *from, *prev = NULL;
	struct topo_node *node;
	struct topo_cpu *cpu;

	for (t->nr_cpus = 0; t->nr_cpus < m->nr_cpus; t->nr_cpus++) {
		from = &m->cpu[t->nr_cpus];
		cpu = &t->cpu[t->nr_cpus];
		cpu->os_cpu = from->os_cpu;
		cpu->node = node_map[from->node];
		cpu->l3 = number_l3(t, from, l3_key);
		node = &t->node[cpu->node];
		if (!node->nr_cpus++)
			node->first_cpu = t->nr_cpus;
		if (prev && prev->node == from->node &&
		    prev->core == from->core) {
			cpu->smt = cpu[-1].smt + 1;
		} else {
			t->nr_cores++;
			node->nr_cores++;
		}
		cpu->core = t->nr_cores - 1;
		prev = from;
	}
	qsort(t->cpu, (size_t)t->nr_cpus, sizeof(*t->cpu), by_smt);
}

/* Is the CPU one of its node's row, and is each of its indices in range? */
CHECK_ONLY static bool cpu_is_sane(const struct topo *t, int i)
{
	const struct topo_cpu *cpu = &t->cpu[i];
	const struct topo_node *node = &t->node[cpu->node];

	return cpu->node >= 0 && cpu->node < t->nr_nodes &&
	       i >= node->first_cpu && i < node->first_cpu + node->nr_cpus &&
	       cpu->core >= 0 && cpu->core < t->nr_cores && cpu->l3 >= 0 &&
	       cpu->l3 < t->nr_l3 && cpu->smt >= 0;
}

/* Nodes and L3 groups have each CPU once. */
CHECK_ONLY static bool topo_sane(const struct topo *t)
{
	int of_nodes = 0, of_l3 = 0, i;

	for (i = 0; i < t->nr_cpus; i++)
		if (!cpu_is_sane(t, i))
			return false;
	for (i = 0; i < t->nr_nodes; i++)
		of_nodes += t->node[i].nr_cpus;
	for (i = 0; i < t->nr_l3; i++)
		of_l3 += t->l3[i].nr_cpus;
	return of_nodes == t->nr_cpus && of_l3 == t->nr_cpus;
}

static int build_topo(struct topo *t, struct machine *m)
{
	int *map, rc;

	qsort(m->cpu, (size_t)m->nr_cpus, sizeof(*m->cpu), by_core);
	rc = make_arrays(t, m);
	if (rc)
		return rc;
	map = calloc((size_t)m->nr_nodes + (size_t)m->nr_cpus, sizeof(*map));
	if (!map)
		return no_memory();
	number_nodes(t, m, map);
	number_cpus(t, m, map, map + m->nr_nodes);
	free(map);
	check(topo_sane(t));
	return 0;
}

static int load_topo(const struct topo_attr *a, struct topo *t,
		     struct machine *m)
{
	const char *matrix = NULL;
	char hw_text[1024];
	bool has_text = a->synthetic && *a->synthetic;
	int rc = 0;

	if (has_text)
		rc = synthetic_split(a->synthetic, hw_text, sizeof(hw_text),
				     &matrix);
	if (!rc)
		rc = machine_load(a, has_text ? hw_text : NULL, m);
	if (rc)
		return rc;
	if (matrix)
		rc = synthetic_distances(matrix, m);
	if (!rc && !m->nr_cpus)
		rc = err(-EINVAL, "topo: no CPU is left for this process");
	if (!rc && a->cpus && *a->cpus)
		rc = cut_to_list(m, a->cpus);
	if (rc)
		return rc;
	t->is_synthetic = !m->is_this_system;
	snprintf(t->source, sizeof(t->source), "%s%s",
		 has_text ? "synthetic " : "",
		 has_text ? a->synthetic : m->source);
	return 0;
}

int topo_open(const struct topo_attr *a, struct topo **out)
{
	struct machine m = { 0 };
	struct topo *t;
	int rc;

	t = calloc(1, sizeof(*t));
	if (!t)
		return no_memory();
	rc = load_topo(a, t, &m);
	if (!rc)
		rc = build_topo(t, &m);
	machine_fini(&m);
	if (rc) {
		topo_close(t);
		return rc;
	}
	if (!t->is_synthetic)
		topo_set_quota(t, topo_read_quota_milli(a->proc_root,
							a->cgroup_root));
	*out = t;
	return 0;
}

void topo_close(struct topo *t)
{
	if (!t)
		return;
	free(t->node);
	free(t->cpu);
	free(t->l3);
	free(t->distance);
	free(t);
}
