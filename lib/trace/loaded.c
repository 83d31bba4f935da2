/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/loaded.h"

#include "base/util.h"

#include <elf.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct search {
	uint64_t address;
	uint32_t flags; /* that its segment has, as PF_X */
	struct loaded *out;
};

static bool segment_holds(const struct dl_phdr_info *i, uint64_t address,
			  uint64_t size, uint32_t flags)
{
	const ElfW(Phdr) * p;
	int k;

	for (k = 0; k < i->dlpi_phnum; k++) {
		p = &i->dlpi_phdr[k];
		if (p->p_type == PT_LOAD && (p->p_flags & flags) == flags &&
		    address >= i->dlpi_addr + p->p_vaddr &&
		    address + size <= i->dlpi_addr + p->p_vaddr + p->p_memsz)
			return true;
	}
	return false;
}

static void write_hex(const uint8_t *bytes, size_t nr, char *to, size_t size)
{
	size_t i;

	for (i = 0; i < nr && 2 * i + 2 < size; i++)
		snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

/* It goes through notes that are loaded, one after the other. */
static void find_build_id(uint64_t at, uint64_t end, struct loaded *out)
{
	const ElfW(Nhdr) * n;
	uint64_t name, id;

	for (; at + sizeof(*n) <= end; at = id + round_up(n->n_descsz, 4)) {
		n = (const void *)(uintptr_t)at;
		name = at + sizeof(*n);
		id = name + round_up(n->n_namesz, 4);
		if (id > end || n->n_descsz > end - id)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    !memcmp((const void *)(uintptr_t)name, "GNU", 4)) {
			write_hex((const void *)(uintptr_t)id, n->n_descsz,
				  out->build_id, sizeof(out->build_id));
			return;
		}
	}
}

static int look_at_file(struct dl_phdr_info *i, size_t size, void *u)
{
	const struct search *s = u;
	struct loaded *out = s->out;
	const ElfW(Phdr) * p;
	char path[PATH_MAX];
	ssize_t n;
	int k;

	(void)size;
	if (!segment_holds(i, s->address, 1, s->flags))
		return 0;
	snprintf(path, sizeof(path), "%s", i->dlpi_name);
	if (!path[0]) {
		n = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
	}
	snprintf(out->file, sizeof(out->file), "%.*s", (int)LKDF_MAX_TEXT,
		 path);
	out->offset = s->address - i->dlpi_addr;
	for (k = 0; k < i->dlpi_phnum && !out->build_id[0]; k++) {
		p = &i->dlpi_phdr[k];
		if (p->p_type == PT_NOTE &&
		    segment_holds(i, i->dlpi_addr + p->p_vaddr, p->p_memsz, 0))
			find_build_id(i->dlpi_addr + p->p_vaddr,
				      i->dlpi_addr + p->p_vaddr + p->p_memsz,
				      out);
	}
	return 1;
}

/* A line of maps; false: it does not hold the address. */
static bool look_at_line(char *line, uint64_t address, struct loaded *out)
{
	uint64_t from, to;
	const char *name;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) != 2 ||
	    address < from || address >= to)
		return false;
	line[strcspn(line, "\n")] = '\0';
	name = strpbrk(line, "/[");
	snprintf(out->mapping, sizeof(out->mapping), "%.*s", (int)LKDF_MAX_TEXT,
		 name ? name : "");
	out->mapping_offset = address - from;
	return true;
}

static void find_mapping(uint64_t address, struct loaded *out)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];

	while (f && fgets(line, sizeof(line), f))
		if (look_at_line(line, address, out))
			break;
	if (f)
		fclose(f);
}

void loaded_find(uint64_t address, struct loaded *out)
{
	struct search s = { .address = address, .out = out };

	memset(out, 0, sizeof(*out));
	if (!dl_iterate_phdr(look_at_file, &s))
		find_mapping(address, out);
}

bool loaded_find_code(uint64_t address, struct loaded *out)
{
	struct search s = { .address = address, .flags = PF_X, .out = out };

	memset(out, 0, sizeof(*out));
	return dl_iterate_phdr(look_at_file, &s) != 0;
}
