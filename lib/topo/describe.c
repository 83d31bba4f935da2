/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The machine for people and for programs. Both print the operating system's
 * numbers of nodes and CPUs; the JSON object is schema lkdf/topo/1.
 */
#include "topo/topo.h"

#include "base/err.h"
#include "topo/cpulist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct view {
	const struct topo *t;
	const int *worker; /* may be NULL */
	int nr_workers;
	FILE *f;
	int *number; /* scratch: as many as CPUs or workers */
	char *list; /* scratch: number as text */
	size_t list_size;
};

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

static double mib(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static double gib(uint64_t bytes)
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
		fprintf(v->f, "%s %s L3 %.1f MiB  ", bar, branch,
			mib(v->t->l3[l3].bytes));
	else
		fprintf(v->f, "%s %s no L3 known  ", bar, branch);
	fprintf(v->f, "cpus %s", list_of(v, nr));
	nr = collect_workers(v, node, l3);
	if (nr)
		fprintf(v->f, "  workers %s", list_of(v, nr));
	fputc('\n', v->f);
}

static void text_node(struct view *v, int node)
{
	const struct topo_node *n = &v->t->node[node];
	int l3, left = nr_groups(v->t, node), nr = collect_cpus(v, node, -1);

	fprintf(v->f, "%s node %d  ", node + 1 < v->t->nr_nodes ? "├" : "└",
		n->os_node);
	if (n->mem_bytes)
		fprintf(v->f, "%.1f GiB  ", gib(n->mem_bytes));
	else
		fprintf(v->f, "no memory  ");
	if (nr)
		fprintf(v->f, "cpus %s\n", list_of(v, nr));
	else
		fprintf(v->f, "no cpus\n");
	for (l3 = 0; l3 < v->t->nr_l3; l3++) {
		if (collect_cpus(v, node, l3))
			text_group(v, node, l3, !--left);
	}
}

static void text_distances(struct view *v)
{
	const struct topo *t = v->t;
	int i, j;

	fprintf(v->f, "distances");
	for (i = 0; i < t->nr_nodes; i++)
		fprintf(v->f, " %4d", t->node[i].os_node);
	fputc('\n', v->f);
	for (i = 0; i < t->nr_nodes; i++) {
		fprintf(v->f, "%9d", t->node[i].os_node);
		for (j = 0; j < t->nr_nodes; j++)
			fprintf(v->f, " %4d", topo_distance(t, i, j));
		fputc('\n', v->f);
	}
}

static void text_machine(struct view *v)
{
	const struct topo *t = v->t;
	int i;

	fprintf(v->f, "Machine  %.1f GiB, %d node%s, %d core%s, %d cpu%s, %s\n",
		gib(all_memory(t)), t->nr_nodes, t->nr_nodes == 1 ? "" : "s",
		t->nr_cores, t->nr_cores == 1 ? "" : "s", t->nr_cpus,
		t->nr_cpus == 1 ? "" : "s", t->source);
	for (i = 0; i < t->nr_nodes; i++)
		text_node(v, i);
	text_distances(v);
	if (t->quota)
		fprintf(v->f, "cgroup quota %.2f CPUs\n",
			t->quota_milli / 1000.0);
	if (t->is_synthetic)
		fprintf(v->f, "not this machine: workers are not pinned\n");
}

static void json_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			fprintf(f, "\\u%04x", (unsigned char)*s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

static void json_numbers(FILE *f, const char *name, const int *v, int nr)
{
	int i;

	fprintf(f, "\"%s\":[", name);
	for (i = 0; i < nr; i++)
		fprintf(f, "%s%d", i ? "," : "", v[i]);
	fputc(']', f);
}

static void json_node(struct view *v, int node)
{
	const struct topo *t = v->t;
	const struct topo_node *n = &t->node[node];
	int nr = collect_cpus(v, node, -1);

	qsort(v->number, (size_t)nr, sizeof(*v->number), by_number);
	fprintf(v->f, "{\"node\":%d,\"mem_bytes\":%" PRIu64 ",\"cores\":%d,",
		n->os_node, n->mem_bytes, n->nr_cores);
	json_numbers(v->f, "cpus", v->number, nr);
	fputc(',', v->f);
	json_numbers(v->f, "distances", t->distance + node * t->nr_nodes,
		     t->nr_nodes);
	fputc('}', v->f);
}

static void json_cpu(struct view *v, int i)
{
	const struct topo_cpu *cpu = &v->t->cpu[i];
	int w, nr = 0;

	for (w = 0; v->worker && w < v->nr_workers; w++) {
		if (v->worker[w] == i)
			v->number[nr++] = w;
	}
	fprintf(v->f,
		"{\"cpu\":%d,\"node\":%d,\"core\":%d,\"l3\":%d,"
		"\"smt\":%d,",
		cpu->os_cpu, v->t->node[cpu->node].os_node, cpu->core, cpu->l3,
		cpu->smt);
	json_numbers(v->f, "workers", v->number, nr);
	fputc('}', v->f);
}

static void json_machine(struct view *v)
{
	const struct topo *t = v->t;
	int i;

	fprintf(v->f, "{\"schema\":\"lkdf/topo/1\",\"source\":");
	json_string(v->f, t->source);
	fprintf(v->f,
		",\"synthetic\":%s,\"mem_bytes\":%" PRIu64
		",\"cores\":%d,\"quota_milli\":%d,\n\"nodes\":[",
		t->is_synthetic ? "true" : "false", all_memory(t), t->nr_cores,
		t->quota_milli);
	for (i = 0; i < t->nr_nodes; i++) {
		fputs(i ? ",\n" : "", v->f);
		json_node(v, i);
	}
	fprintf(v->f, "],\n\"l3\":[");
	for (i = 0; i < t->nr_l3; i++)
		fprintf(v->f, "%s{\"bytes\":%" PRIu64 ",\"cpus\":%d}",
			i ? "," : "", t->l3[i].bytes, t->l3[i].nr_cpus);
	fprintf(v->f, "],\n\"cpus\":[");
	for (i = 0; i < t->nr_cpus; i++) {
		fputs(i ? ",\n" : "", v->f);
		json_cpu(v, i);
	}
	fprintf(v->f, "]}\n");
}

static int view_init(struct view *v, size_t nr)
{
	v->list_size = nr * 12 + 16;
	v->number = calloc(nr, sizeof(*v->number));
	v->list = malloc(v->list_size);
	return v->number && v->list ? 0 : -ENOMEM;
}

int topo_describe(const struct topo *t, const char *format, const int *worker,
		  int nr_workers, char **out)
{
	struct view v = { .t = t, .worker = worker, .nr_workers = nr_workers };
	bool is_json = !strcmp(format, "json");
	char *text = NULL;
	size_t size, nr;
	int rc;

	if (!is_json && strcmp(format, "text"))
		return err(-EINVAL, "topo: format=%s: expected text or json",
			   format);
	nr = (size_t)(t->nr_cpus > nr_workers ? t->nr_cpus : nr_workers);
	rc = view_init(&v, nr);
	v.f = rc ? NULL : open_memstream(&text, &size);
	if (v.f && is_json)
		json_machine(&v);
	else if (v.f)
		text_machine(&v);
	if (!v.f || ferror(v.f))
		rc = -ENOMEM;
	if (v.f && fclose(v.f))
		rc = -ENOMEM;
	free(v.number);
	free(v.list);
	if (rc) {
		free(text);
		return err(rc, "topo: no memory for the description");
	}
	*out = text;
	return 0;
}
