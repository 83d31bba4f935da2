/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "pages/move.h"

#include "json.h"
#include "stat/stats_map.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK 2048 /* pages a call */
#define MIB 1048576.0
#define MAX_RUNTIMES 8

/* Pages that one call is about. */
struct chunk {
	unsigned long nr;
	void *page[CHUNK];
	int on[CHUNK]; /* before: its node, or -errno */
	int after[CHUNK], told[CHUNK];
	int node[CHUNK];
};

static long call(const struct pages_move *m, struct chunk *c, const int *nodes,
		 int *status)
{
	long rc = syscall(SYS_move_pages, m->pid, c->nr, c->page, nodes, status,
			  MPOL_MF_MOVE);

	return rc < 0 ? -errno : rc;
}

static void note_why(struct pages_move *m, int error, uint64_t bytes)
{
	unsigned i;

	m->refused += bytes;
	for (i = 0; i < m->nr_whys && m->why[i].error != error; i++)
		;
	if (i == MOVE_WHYS)
		i--;
	if (i == m->nr_whys)
		m->why[m->nr_whys++] = (struct move_why){ error, 0 };
	m->why[i].bytes += bytes;
}

static void count_moved(struct pages_move *m, int from, uint64_t page)
{
	m->moved += page;
	if (from >= 0 && from < MOVE_NODES)
		m->from[from] += page;
}

/* Only those that are present, and elsewhere, stay in the chunk. */
static void keep_movable(struct pages_move *m, struct chunk *c, uint64_t page)
{
	unsigned long i, nr = 0;

	for (i = 0; i < c->nr; i++) {
		if (c->on[i] < 0) {
			m->absent += page;
		} else if (c->on[i] == m->node) {
			m->there += page;
		} else {
			c->page[nr] = c->page[i];
			c->on[nr] = c->on[i];
			c->node[nr] = m->node;
			c->told[nr] = 0;
			nr++;
		}
	}
	c->nr = nr;
}

/* A page that went meanwhile was refused by nobody. */
static void judge(struct pages_move *m, const struct chunk *c, uint64_t page)
{
	unsigned long i;

	for (i = 0; i < c->nr; i++)
		if (c->after[i] == m->node)
			count_moved(m, c->on[i], page);
		else if (c->after[i] < 0)
			m->absent += page;
		else
			note_why(m, c->told[i] < 0 ? -c->told[i] : 0, page);
}

static int move_chunk(struct pages_move *m, struct chunk *c, uint64_t page)
{
	unsigned long i;
	long rc = call(m, c, NULL, c->on);

	if (rc < 0)
		return (int)rc;
	keep_movable(m, c, page);
	for (i = 0; m->is_dry && i < c->nr; i++)
		count_moved(m, c->on[i], page);
	if (m->is_dry || !c->nr)
		return 0;
	rc = call(m, c, c->node, c->told);
	/* Each was refused: all are as they were, and told has the reason. */
	if (rc == -ENOENT)
		rc = 0;
	if (rc >= 0)
		rc = call(m, c, NULL, c->after);
	if (rc < 0)
		return (int)rc;
	judge(m, c, page);
	return 0;
}

static int move_mapping(void *u, const struct lkdf_mapping *map)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t at = map->addr / page * page, end = map->addr + map->bytes;
	struct pages_move *m = u;
	struct chunk c;

	if (map->absent == map->bytes) {
		m->absent += map->bytes;
		return 0;
	}
	while (at < end && !m->error) {
		for (c.nr = 0; c.nr < CHUNK && at < end; at += page)
			c.page[c.nr++] = (void *)(uintptr_t)at;
		m->error = move_chunk(m, &c, page);
	}
	return m->error;
}

int pages_move_range(struct pages_move *m, struct lkdf *rt, uint64_t from,
		     uint64_t to)
{
	return lkdf_pages_walk(rt, m->pid, (const void *)(uintptr_t)from,
			       to - from, move_mapping, m);
}

/* A block that shares a page with other blocks stays. */
static int move_block(struct pages_move *m, struct lkdf *rt,
		      const struct stats_label *l)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t from = (l->address + page - 1) / page * page;
	uint64_t to = (l->address + l->bytes) / page * page;
	int rc;

	m->nr_blocks++;
	if (to <= from)
		return 0;
	rc = pages_move_range(m, rt, from, to);
	/* It was unmapped since it was listed. */
	return rc == -EFAULT ? 0 : rc;
}

static int move_listed(struct pages_move *m, struct lkdf *rt,
		       const struct stats_map *s, const char *label)
{
	struct stats_label l;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < s->header.label_cap && !rc; i++)
		if (stats_map_row(s, i, &l) && !strcmp(l.text, label))
			rc = move_block(m, rt, &l);
	return rc;
}

int pages_move_label(struct pages_move *m, struct lkdf *rt, const char *label)
{
	struct stats_map s[MAX_RUNTIMES];
	int nr = stats_map_open(m->pid, s, MAX_RUNTIMES), i, rc = 0;

	if (nr < 0)
		return nr == -EACCES ? -EPERM : nr;
	for (i = 0; i < nr; i++) {
		if (!rc)
			rc = move_listed(m, rt, &s[i], label);
		stats_map_close(&s[i]);
	}
	return rc ? rc : m->nr_blocks ? 0 : -ENOENT;
}

/* ---- what is told -------------------------------------------------------- */

static const char *reason(int error)
{
	switch (error) {
	case EACCES:
		return "shared with other processes";
	case EBUSY:
		return "in use by the kernel just now";
	case ENOMEM:
		return "the node has no room";
	case EFAULT:
		return "of a zero page, or of a device";
	case 0:
		return "the kernel did not say why";
	default:
		return strerror(error);
	}
}

static void print_from(const struct pages_move *m)
{
	int i;

	for (i = 0; i < MOVE_NODES; i++)
		if (m->from[i])
			printf("  %10.2f MiB from node %d\n",
			       (double)m->from[i] / MIB, i);
}

void pages_move_text(const struct pages_move *m)
{
	unsigned i;

	printf("%s%.2f MiB to node %d\n", m->is_dry ? "would move " : "moved ",
	       (double)m->moved / MIB, m->node);
	print_from(m);
	printf("  %10.2f MiB were there, %.2f MiB absent\n",
	       (double)m->there / MIB, (double)m->absent / MIB);
	for (i = 0; i < m->nr_whys; i++)
		printf("  %10.2f MiB refused: %s\n",
		       (double)m->why[i].bytes / MIB, reason(m->why[i].error));
}

void pages_move_json(const struct pages_move *m)
{
	struct json j;
	unsigned i;

	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/pages_move/1");
	json_int(&j, "pid", m->pid);
	json_int(&j, "node", m->node);
	json_bool(&j, "dry_run", m->is_dry);
	json_int(&j, "moved", (int64_t)m->moved);
	json_int(&j, "there", (int64_t)m->there);
	json_int(&j, "absent", (int64_t)m->absent);
	json_int(&j, "refused", (int64_t)m->refused);
	json_open(&j, "from", '[');
	for (i = 0; i < MOVE_NODES; i++) {
		if (!m->from[i])
			continue;
		json_open_flat(&j, NULL, '{');
		json_int(&j, "node", i);
		json_int(&j, "bytes", (int64_t)m->from[i]);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_open(&j, "why", '[');
	for (i = 0; i < m->nr_whys; i++) {
		json_open_flat(&j, NULL, '{');
		json_int(&j, "errno", m->why[i].error);
		json_int(&j, "bytes", (int64_t)m->why[i].bytes);
		json_text(&j, "why", reason(m->why[i].error));
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	printf("\n");
}
