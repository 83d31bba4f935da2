/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "pages/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct class_row {
	const char *name, *word;
} class_rows[NR_PAGES_CLASSES] = {
	[PAGES_HEAP] = { "Heap", "heap" },
	[PAGES_STACK] = { "Stack", "stack" },
	[PAGES_FILES] = { "Files", "files" },
	[PAGES_SHARED] = { "Shared memory", "shared" },
	[PAGES_ANONYMOUS] = { "Anonymous", "anonymous" },
	[PAGES_HUGETLB] = { "hugetlb", "hugetlb" },
	[PAGES_LKDF] = { "lkdf", "lkdf" },
	[PAGES_KERNEL] = { "Kernel's", "kernel" },
};

/* By how the name in /proc/PID/maps begins; the first that fits. */
static const struct name_row {
	const char *begins;
	enum pages_class class;
} name_rows[] = {
	{ "[heap]", PAGES_HEAP },      { "[stack", PAGES_STACK },
	{ "[anon:lkdf", PAGES_LKDF },  { "[anon_shmem:lkdf", PAGES_LKDF },
	{ "/memfd:lkdf", PAGES_LKDF }, { "[anon_shmem:", PAGES_SHARED },
	{ "/memfd:", PAGES_SHARED },   { "/dev/shm/", PAGES_SHARED },
	{ "/dev/zero", PAGES_SHARED }, { "/SYSV", PAGES_SHARED },
	{ "[anon:", PAGES_ANONYMOUS }, { "[", PAGES_KERNEL },
	{ "", PAGES_ANONYMOUS },
};

const char *pages_class_name(enum pages_class class)
{
	return class_rows[class].name;
}

const char *pages_class_word(enum pages_class class)
{
	return class_rows[class].word;
}

static enum pages_class class_of(const struct lkdf_mapping *m)
{
	const struct name_row *row = name_rows;

	while (strncmp(m->name, row->begins, strlen(row->begins)))
		row++;
	if (row->class == PAGES_LKDF)
		return PAGES_LKDF;
	if (m->flags & LKDF_MAPPING_HUGETLB)
		return PAGES_HUGETLB;
	return !row->begins[0] && m->name[0] ? PAGES_FILES : row->class;
}

/* "0-3,8" of the nodes that are there. */
static void read_online(struct pages_report *r)
{
	FILE *f = fopen("/sys/devices/system/node/online", "re");
	int first, last;
	char next;

	while (f && fscanf(f, "%d", &first) == 1 && first >= 0) {
		last = first;
		next = '\0';
		if (fscanf(f, "-%d", &last) < 0)
			last = first;
		for (; first <= last && first < PAGES_MAX_NODES; first++)
			r->is_node[first] = true;
		if (fscanf(f, "%c", &next) != 1 || next != ',')
			break;
	}
	if (f)
		fclose(f);
}

static void read_command(struct pages_report *r)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", r->pid);
	f = fopen(path, "re");
	if (f && fgets(r->command, sizeof(r->command), f))
		r->command[strcspn(r->command, "\n")] = '\0';
	if (f)
		fclose(f);
}

void pages_report_init(struct pages_report *r, int pid)
{
	memset(r, 0, sizeof(*r));
	r->pid = pid;
	read_online(r);
	read_command(r);
}

void pages_report_fini(struct pages_report *r)
{
	size_t i;

	for (i = 0; i < r->nr_ranges; i++) {
		free(r->range[i].on);
		free(r->range[i].name);
	}
	free(r->range);
	r->range = NULL;
	r->nr_ranges = r->room = 0;
}

static struct pages_range *new_range(struct pages_report *r)
{
	size_t room = r->room ? 2 * r->room : 64;
	struct pages_range *grown;

	if (r->nr_ranges == r->room) {
		grown = realloc(r->range, room * sizeof(*grown));
		if (!grown)
			return NULL;
		r->range = grown;
		r->room = room;
	}
	memset(&r->range[r->nr_ranges], 0, sizeof(*r->range));
	return &r->range[r->nr_ranges];
}

int pages_report_add(void *u, const struct lkdf_mapping *m)
{
	struct pages_report *r = u;
	struct pages_range *to = new_range(r);
	uint32_t i;

	if (!to)
		return -ENOMEM;
	to->on = calloc(m->nr_nodes, sizeof(*to->on));
	to->name = strdup(m->name);
	r->nr_ranges++;
	if (!to->on || !to->name)
		return -ENOMEM;
	to->addr = m->addr;
	to->bytes = m->bytes;
	to->absent = m->absent;
	to->unknown = m->unknown;
	to->flags = m->flags;
	to->class = class_of(m);
	to->present = m->unknown;
	to->nr_nodes = m->nr_nodes;
	for (i = 0; i < m->nr_nodes && i < PAGES_MAX_NODES; i++) {
		to->on[i] = m->bytes_on_node[i];
		to->present += m->bytes_on_node[i];
		r->on[to->class][i] += m->bytes_on_node[i];
		if (m->bytes_on_node[i])
			r->is_node[i] = true;
	}
	r->unknown[to->class] += m->unknown;
	r->flags |= m->flags;
	r->sources |= m->sources;
	return 0;
}

int pages_report_status(struct pages_report *r)
{
	static const struct {
		const char *key;
		enum pages_class class;
	} rows[] = {
		{ "RssAnon:", PAGES_ANONYMOUS },
		{ "RssFile:", PAGES_FILES },
		{ "RssShmem:", PAGES_SHARED },
		{ "HugetlbPages:", PAGES_HUGETLB },
	};
	unsigned long long kib;
	char line[256];
	size_t i;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/status", r->pid);
	f = fopen(line, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (!strncmp(line, rows[i].key, strlen(rows[i].key)) &&
			    sscanf(line + strlen(rows[i].key), "%llu", &kib) ==
				    1)
				r->unknown[rows[i].class] += kib * 1024;
	}
	fclose(f);
	r->is_status = true;
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const struct pages_range *x = a, *y = b;

	if (x->present != y->present)
		return x->present < y->present ? 1 : -1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void pages_report_sort(struct pages_report *r)
{
	if (r->nr_ranges)
		qsort(r->range, r->nr_ranges, sizeof(*r->range), by_size);
}

bool pages_report_is_exact(const struct pages_report *r)
{
	const uint32_t doubt = LKDF_MAPPING_SAMPLED | LKDF_MAPPING_ESTIMATED |
			       LKDF_MAPPING_UNCHECKED;

	return !r->is_status && !(r->flags & doubt);
}
