/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "stat/stats_map.h"

#include "foreign.h"
#include "utf8.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int is_sane(const struct lkdf_stats_header *h, size_t bytes)
{
	uint64_t nr = h->nr_executors;

	return h->magic == LKDF_STATS_MAGIC &&
	       h->version == LKDF_STATS_VERSION && nr <= LKDF_MAX_EXECUTORS &&
	       h->block_size >= sizeof(struct lkdf_stats_block) &&
	       h->block_size <= bytes && h->blocks_offset <= bytes &&
	       (nr + 1) * h->block_size <= bytes - h->blocks_offset &&
	       h->name_size && h->name_size <= LKDF_MAX_TEXT + 1 &&
	       h->name_cap <= LKDF_MAX_NAMES && h->name_table_offset <= bytes &&
	       (uint64_t)h->name_cap * h->name_size <=
		       bytes - h->name_table_offset;
}

/* Older ones have none: 0 rows. */
static int has_sane_labels(const struct lkdf_stats_header *h, size_t bytes)
{
	uint64_t row = h->label_size + sizeof(uint64_t);

	return !h->label_cap ||
	       (h->label_cap <= LKDF_MAX_LABELS &&
		h->label_size >= sizeof(struct lkdf_stats_label) &&
		h->label_size <= LKDF_MAX_TEXT && h->label_size % 8 == 0 &&
		h->label_table_offset % 8 == 0 &&
		h->label_table_offset <= bytes &&
		h->label_cap * row <= bytes - h->label_table_offset);
}

static int map_memfd(int fd, struct stats_map *m)
{
	const uint8_t *base;
	uint64_t size;
	int rc = foreign_map(fd, sizeof(m->header), &base, &size);

	if (rc)
		return rc;
	m->base = (const char *)base;
	m->bytes = (size_t)size;
	memcpy(&m->header, base, sizeof(m->header));
	if (is_sane(&m->header, m->bytes) &&
	    has_sane_labels(&m->header, m->bytes))
		return 0;
	stats_map_close(m);
	return -EBADMSG;
}

/* 1: it is mapped; 0: it was no such file; -EACCES, -EPERM. */
static int try_link(int pid, const char *number, struct stats_map *m)
{
	int fd = foreign_memfd(pid, number, LKDF_STATS_NAME), rc = fd;

	if (fd >= 0) {
		rc = map_memfd(fd, m);
		close(fd);
	}
	return rc == -EACCES || rc == -EPERM ? rc : !rc;
}

int stats_map_open(int pid, struct stats_map *m, int max)
{
	char path[64];
	struct dirent *d;
	int nr = 0, refused = 0, rc;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (nr < max && (d = readdir(dir))) {
		rc = d->d_name[0] == '.' ? 0 : try_link(pid, d->d_name, &m[nr]);
		if (rc < 0)
			refused = rc;
		else
			nr += rc;
	}
	closedir(dir);
	return nr ? nr : refused;
}

void stats_map_close(struct stats_map *m)
{
	if (m->base)
		munmap((void *)(uintptr_t)m->base, m->bytes);
	m->base = NULL;
}

void stats_map_block(const struct stats_map *m, uint32_t executor,
		     struct lkdf_stats_block *b)
{
	memcpy(b,
	       m->base + m->header.blocks_offset +
		       executor * m->header.block_size,
	       sizeof(*b));
}

static uint64_t load(const _Atomic(uint64_t) *word)
{
	return atomic_load_explicit(word, memory_order_acquire);
}

/* False: its writer is at it, or it is nobody's. */
bool stats_map_row(const struct stats_map *m, uint32_t i, struct stats_label *l)
{
	const struct lkdf_stats_header *h = &m->header;
	const char *table = m->base + h->label_table_offset;
	const _Atomic(uint64_t) *address = (const void *)table;
	const _Atomic(uint64_t) *word =
		(const void *)(table + h->label_cap * sizeof(uint64_t) +
			       (uint64_t)i * h->label_size);
	struct lkdf_stats_label row;
	uint64_t copy[sizeof(row) / 8];
	size_t k;

	l->address = load(&address[i]);
	if (l->address <= 1)
		return false;
	for (k = 0; k < sizeof(row) / 8; k++)
		copy[k] = load(&word[k]);
	memcpy(&row, copy, sizeof(row));
	l->bytes = row.bytes;
	snprintf(l->text, sizeof(l->text), "%.63s", row.text);
	utf8_tame(l->text);
	return l->text[0] && load(&address[i]) == l->address;
}

bool stats_map_label(const struct stats_map *m, uint64_t address,
		     struct stats_label *l)
{
	uint32_t i;

	for (i = 0; i < m->header.label_cap; i++)
		if (stats_map_row(m, i, l) && address >= l->address &&
		    address - l->address < l->bytes)
			return true;
	return false;
}

uint64_t stats_map_key(const struct stats_map *m)
{
	const struct lkdf_stats_header *h = (const void *)m->base;

	return load((const _Atomic(uint64_t) *)(const void *)&h->probe_key);
}

void stats_map_name(const struct stats_map *m, uint32_t nr, char *to,
		    size_t size)
{
	size_t known = m->header.name_size < size ? m->header.name_size : size;

	snprintf(to, size, "?");
	if (nr >= m->header.name_cap)
		return;
	memcpy(to,
	       m->base + m->header.name_table_offset +
		       (size_t)nr * m->header.name_size,
	       known);
	to[known - 1] = '\0';
	utf8_tame(to);
}
