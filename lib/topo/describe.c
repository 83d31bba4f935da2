/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The machine for people and for programs. Both print the operating system's
 * numbers of nodes and CPUs; the JSON object is schema lkdf/topo/1.
 */
#include "topo/topo.h"

#include "base/err.h"
#include "base/quote.h"
#include "topo/cpulist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct view {
	const struct topo *t;
	const int *worker; /* may be NULL */
	int nr_workers;
	char *text; /* what is written so far */
	size_t used, size; /* bytes; size 0: memory ran out */
	int *number; /* scratch: as many as CPUs or workers */
	char *list; /* scratch: number as text */
	size_t list_size;
};

/* After the first failure nothing is written any more. */
__attribute__((format(printf, 2, 3))) static void put_text(struct view *v,
							   const char *fmt, ...)
{
	char *grown;
	va_list ap;
	int len;

	while (v->size) {
		va_start(ap, fmt);
		len = vsnprintf(v->text + v->used, v->size - v->used, fmt, ap);
		va_end(ap);
		if (len >= 0 && (size_t)len < v->size - v->used) {
			v->used += (size_t)len;
			return;
		}
		grown = len < 0 ? NULL : realloc(v->text, v->size * 2);
		v->size = grown ? v->size * 2 : 0;
		v->text = grown ? grown : v->text;
	}
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static const char *list_of(struct view *v, int nr)
{
	qsort(v->number, (size_t)nr, sizeof(*v->number), by_number);
	return cpulist_text(v->number, nr, v->list, v->list_size);
}

/* OS numbers of a node's CPUs, l3 < 0: of all its groups. */
static int collect_cpus(struct view *v, int node, int l3)
{
	const struct topo_node *n = &v->t->node[node];
	int i, nr = 0;

	for (i = n->first_cpu; i < n->first_cpu + n->nr_cpus; i++) {
		if (l3 < 0 || v->t->cpu[i].l3 == l3)
			v->number[nr++] = v->t->cpu[i].os_cpu;
	}
	return nr;
}

static int collect_workers(struct view *v, int node, int l3)
{
	int w, nr = 0;

	for (w = 0; v->worker && w < v->nr_workers; w++) {
		const struct topo_cpu *cpu = &v->t->cpu[v->worker[w]];

		if (cpu->node == node && cpu->l3 == l3)
			v->number[nr++] = w;
	}
	return nr;
}

static uint64_t all_memory(const struct topo *t)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < t->nr_nodes; i++)
		sum += t->node[i].mem_bytes;
	return sum;
}

static double mib_of(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static double gib_of(uint64_t bytes)
{
	return (double)bytes / (1 << 30);
}

static int nr_groups(const struct topo *t, int node)
{
	const struct topo_node *n = &t->node[node];
	int i, l3, nr = 0;

	for (l3 = 0; l3 < t->nr_l3; l3++) {
		for (i = 0; i < n->nr_cpus; i++) {
			if (t->cpu[n->first_cpu + i].l3 == l3)
				break;
		}
		nr += i < n->nr_cpus;
	}
	return nr;
}

static void text_group(struct view *v, int node, int l3, bool is_last)
{
	int nr = collect_cpus(v, node, l3);
	const char *bar = node + 1 < v->t->nr_nodes ? "│" : " ";
	const char *branch = is_last ? "└" : "├";

	if (v->t->l3[l3].bytes)
		put_text(v, "%s %s L3 %.1f MiB  ", bar, branch,
			 mib_of(v->t->l3[l3].bytes));
	else
		put_text(v, "%s %s no L3 known  ", bar, branch);
	put_text(v, "cpus %s", list_of(v, nr));
	nr = collect_workers(v, node, l3);
	if (nr)
		put_text(v, "  workers %s", list_of(v, nr));
	put_text(v, "\n");
}

static void text_node(struct view *v, int node)
{
	const struct topo_node *n = &v->t->node[node];
	int l3, left = nr_groups(v->t, node), nr = collect_cpus(v, node, -1);

	put_text(v, "%s node %d  ", node + 1 < v->t->nr_nodes ? "├" : "└",
		 n->os_node);
	if (n->mem_bytes)
		put_text(v, "%.1f GiB  ", gib_of(n->mem_bytes));
	else
		put_text(v, "no memory  ");
	if (nr)
		put_text(v, "cpus %s\n", list_of(v, nr));
	else
		put_text(v, "no cpus\n");
	for (l3 = 0; l3 < v->t->nr_l3; l3++) {
		if (collect_cpus(v, node, l3))
			text_group(v, node, l3, !--left);
	}
}

static void text_distances(struct view *v)
{
	const struct topo *t = v->t;
	int i, j;

	put_text(v, "distances");
	for (i = 0; i < t->nr_nodes; i++)
		put_text(v, " %4d", t->node[i].os_node);
	put_text(v, "\n");
	for (i = 0; i < t->nr_nodes; i++) {
		put_text(v, "%9d", t->node[i].os_node);
		for (j = 0; j < t->nr_nodes; j++)
			put_text(v, " %4d", topo_distance(t, i, j));
		put_text(v, "\n");
	}
}

static void text_machine(struct view *v)
{
	const struct topo *t = v->t;
	int i;

	put_text(v, "Machine  %.1f GiB, %d node%s, %d core%s, %d cpu%s, %s\n",
		 gib_of(all_memory(t)), t->nr_nodes,
		 t->nr_nodes == 1 ? "" : "s", t->nr_cores,
		 t->nr_cores == 1 ? "" : "s", t->nr_cpus,
		 t->nr_cpus == 1 ? "" : "s", t->source);
	for (i = 0; i < t->nr_nodes; i++)
		text_node(v, i);
	text_distances(v);
	if (t->quota)
		put_text(v, "cgroup quota %.2f CPUs\n",
			 t->quota_milli / 1000.0);
	if (t->is_synthetic)
		put_text(v, "not this machine: workers are not pinned\n");
}

static void json_string(struct view *v, const char *s)
{
	char c[QUOTE_SIZE];

	put_text(v, "\"");
	while ((s = quote_next(s, c)))
		put_text(v, "%s", c);
	put_text(v, "\"");
}

static void json_numbers(struct view *v, const char *name, const int *number,
			 int nr)
{
	int i;

	put_text(v, "\"%s\":[", name);
	for (i = 0; i < nr; i++)
		put_text(v, "%s%d", i ? "," : "", number[i]);
	put_text(v, "]");
}

static void json_node(struct view *v, int node)
{
	const struct topo *t = v->t;
	const struct topo_node *n = &t->node[node];
	int nr = collect_cpus(v, node, -1);

	qsort(v->number, (size_t)nr, sizeof(*v->number), by_number);
	put_text(v, "{\"node\":%d,\"mem_bytes\":%" PRIu64 ",\"cores\":%d,",
		 n->os_node, n->mem_bytes, n->nr_cores);
	json_numbers(v, "cpus", v->number, nr);
	put_text(v, ",");
	json_numbers(v, "distances", t->distance + node * t->nr_nodes,
		     t->nr_nodes);
	put_text(v, "}");
}

static void json_cpu(struct view *v, int i)
{
	const struct topo_cpu *cpu = &v->t->cpu[i];
	int w, nr = 0;

	for (w = 0; v->worker && w < v->nr_workers; w++) {
		if (v->worker[w] == i)
			v->number[nr++] = w;
	}
	put_text(v,
		 "{\"cpu\":%d,\"node\":%d,\"core\":%d,\"l3\":%d,"
		 "\"smt\":%d,",
		 cpu->os_cpu, v->t->node[cpu->node].os_node, cpu->core, cpu->l3,
		 cpu->smt);
	json_numbers(v, "workers", v->number, nr);
	put_text(v, "}");
}

static void json_machine(struct view *v)
{
	const struct topo *t = v->t;
	int i;

	put_text(v, "{\"schema\":\"lkdf/topo/1\",\"source\":");
	json_string(v, t->source);
	put_text(v,
		 ",\"synthetic\":%s,\"mem_bytes\":%" PRIu64
		 ",\"cores\":%d,\"quota_milli\":%d,\n\"nodes\":[",
		 t->is_synthetic ? "true" : "false", all_memory(t), t->nr_cores,
		 t->quota_milli);
	for (i = 0; i < t->nr_nodes; i++) {
		put_text(v, "%s", i ? ",\n" : "");
		json_node(v, i);
	}
	put_text(v, "],\n\"l3\":[");
	for (i = 0; i < t->nr_l3; i++)
		put_text(v, "%s{\"bytes\":%" PRIu64 ",\"cpus\":%d}",
			 i ? "," : "", t->l3[i].bytes, t->l3[i].nr_cpus);
	put_text(v, "],\n\"cpus\":[");
	for (i = 0; i < t->nr_cpus; i++) {
		put_text(v, "%s", i ? ",\n" : "");
		json_cpu(v, i);
	}
	put_text(v, "]}\n");
}

static int view_init(struct view *v)
{
	int nr = v->t->nr_cpus > v->nr_workers ? v->t->nr_cpus : v->nr_workers;

	v->list_size = (size_t)nr * 12 + 16;
	v->size = 4096;
	v->number = calloc((size_t)nr, sizeof(*v->number));
	v->list = malloc(v->list_size);
	v->text = malloc(v->size);
	return v->number && v->list && v->text ? 0 : -ENOMEM;
}

int topo_describe(const struct topo *t, const char *format, const int *worker,
		  int nr_workers, char **out)
{
	struct view v = { .t = t, .worker = worker, .nr_workers = nr_workers };
	bool is_json = !strcmp(format, "json");
	int rc;

	if (!is_json && strcmp(format, "text"))
		return err(-EINVAL, "topo: format=%s: expected text or json",
			   format);
	rc = view_init(&v);
	if (!rc && is_json)
		json_machine(&v);
	else if (!rc)
		text_machine(&v);
	free(v.number);
	free(v.list);
	if (rc || !v.size) {
		free(v.text);
		return err(-ENOMEM, "topo: no memory for the description");
	}
	*out = v.text;
	return 0;
}
