/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "probe/where.h"

#include "stat/stats_map.h"
#include "utf8.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where glibc puts the arenas of threads. */
#define ARENA_ALIGN ((uint64_t)64 << 20)
#define ARENA_BYTES 4096

/* A line of /proc/PID/maps. */
struct mapping {
	uint64_t from, to, offset;
	char path[PATH_MAX];
};

static bool read_mapping(FILE *f, struct mapping *m)
{
	char line[PATH_MAX + 128], *path;

	if (!fgets(line, sizeof(line), f))
		return false;
	m->path[0] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &m->from,
		   &m->to, &m->offset) != 3)
		return true;
	line[strcspn(line, "\n")] = '\0';
	path = strpbrk(line, "/[");
	if (path)
		snprintf(m->path, sizeof(m->path), "%.*s", PATH_MAX - 1, path);
	return true;
}

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void name_object(struct where *w, const char *name)
{
	snprintf(w->object, sizeof(w->object), "%.120s", name);
	utf8_tame(w->object);
}

/* As the process sees it: it may have another root. */
static int open_of(int pid, const char *path, struct elf_file *f)
{
	int rc = elf_open(pid, path, f);

	return rc ? elf_open(0, path, f) : 0;
}

static bool find_in_debug(int pid, struct elf_file *f, uint64_t address,
			  struct elf_symbol *s)
{
	char id[128], path[256];
	struct elf_file debug;
	bool found;

	if (!elf_build_id(f, id, sizeof(id)) || strlen(id) < 4)
		return false;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug",
		 id, id + 2);
	if (open_of(pid, path, &debug))
		return false;
	found = elf_find(&debug, false, address, s) && s->is_inside;
	elf_close(&debug);
	return found;
}

static void name_it(int pid, struct elf_file *f, uint64_t address,
		    struct where *w)
{
	struct elf_symbol *s = &w->symbol;

	w->has_symbol = (elf_find(f, false, address, s) && s->is_inside) ||
			find_in_debug(pid, f, address, s) ||
			elf_find(f, true, address, s);
}

/*
 * The file is loaded at m: does it hold the address? Memory that is zero at
 * first has no name in the maps.
 */
static bool find_in_file(int pid, const struct mapping *m, uint64_t address,
			 struct where *w)
{
	uint64_t from, to, bias;
	struct elf_file f;
	bool is_there;

	if (open_of(pid, m->path, &f))
		return false;
	is_there = elf_range(&f, &from, &to);
	bias = m->from - from / 4096 * 4096;
	is_there = is_there && address >= bias + from && address < bias + to;
	if (is_there) {
		w->offset = address - bias;
		name_object(w, last_of(m->path));
		name_it(pid, &f, address - bias, w);
	}
	elf_close(&f);
	return is_there;
}

static void name_memory(const char *path, uint64_t from, uint64_t address,
			struct where *w)
{
	const char *what = "heap";

	if (!strncmp(path, "[stack", 6))
		what = "stack";
	else if (path[0] && strcmp(path, "[heap]") &&
		 strncmp(path, "[anon:lkdf", 10))
		what = last_of(path);
	else if (!path[0] && from % ARENA_ALIGN == 0 &&
		 address - from < ARENA_BYTES)
		what = "heap, a malloc arena by its place";
	name_object(w, what);
}

void where_find(int pid, uint64_t address, struct where *w)
{
	char path[64];
	struct mapping *m = malloc(sizeof(*m));
	FILE *f;

	memset(w, 0, sizeof(*w));
	snprintf(w->object, sizeof(w->object), "memory");
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = m ? fopen(path, "re") : NULL;
	while (f && read_mapping(f, m)) {
		if (m->path[0] == '/' && !m->offset && m->from <= address &&
		    find_in_file(pid, m, address, w))
			break;
		if (address >= m->from && address < m->to)
			name_memory(m->path, m->from, address, w);
	}
	if (f)
		fclose(f);
	free(m);
}

/* A recording may name anything: only a file's contents are looked at. */
static void name_recorded(const struct trace_probed_place *p, struct where *w)
{
	struct elf_file f;
	char id[128];

	name_object(w, last_of(p->file));
	w->offset = p->offset;
	if (!p->build_id[0] || elf_open(0, p->file, &f))
		return;
	if (elf_build_id(&f, id, sizeof(id)) && !strcmp(id, p->build_id))
		name_it(0, &f, p->offset, w);
	elf_close(&f);
}

void where_recorded(const struct trace_probed_place *p, struct where *w)
{
	struct stats_label l = {
		.address = p->address - p->label_offset,
		.bytes = p->label_bytes,
	};

	memset(w, 0, sizeof(*w));
	snprintf(w->object, sizeof(w->object), "memory");
	snprintf(l.text, sizeof(l.text), "%.60s", p->label);
	if (p->file[0])
		name_recorded(p, w);
	else if (p->label[0])
		where_in_block(w, p->address, &l);
	else if (p->mapping_offset)
		name_memory(p->mapping, p->address - p->mapping_offset,
			    p->address, w);
}

void where_in_block(struct where *w, uint64_t address,
		    const struct stats_label *l)
{
	snprintf(w->object, sizeof(w->object), "heap");
	snprintf(w->label, sizeof(w->label), "%s", l->text);
	w->block = l->address;
	w->block_bytes = l->bytes;
	w->block_offset = address - l->address;
}

const char *where_text(const struct where *w, char *to, size_t size)
{
	const struct elf_symbol *s = &w->symbol;
	char offset[32] = "";

	if (w->label[0]) {
		snprintf(to, size, "block \"%s\"+0x%" PRIx64 " in %s", w->label,
			 w->block_offset, w->object);
		return to;
	}
	if (!w->has_symbol && !w->offset) {
		snprintf(to, size, "%s", w->object);
		return to;
	}
	if (!w->has_symbol || !s->is_inside) {
		snprintf(to, size, "%s+0x%" PRIx64 "%s%s%s", w->object,
			 w->offset, w->has_symbol ? " (near " : "",
			 w->has_symbol ? s->name : "",
			 w->has_symbol ? ")" : "");
		return to;
	}
	if (s->offset)
		snprintf(offset, sizeof(offset), "+0x%" PRIx64, s->offset);
	snprintf(to, size, "%s%s%s%s%s in %s", s->name, offset,
		 s->source[0] ? " (" : "", s->source, s->source[0] ? ")" : "",
		 w->object);
	return to;
}
