/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "gomp/elf.h"

#include "base/atomic.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXE "/proc/self/exe"

/* A file, as it is mapped; never freed. */
struct object {
	struct object *next;
	uint64_t bias; /* where the process has its address 0 */
	struct bytes all; /* empty: it cannot be read */
	char path[];
};

/* Any thread appends in front; a file may be there twice. */
static _Atomic(struct object *) objects;

/* ---- which file --------------------------------------------------------- */

struct search {
	uint64_t address;
	uint64_t bias;
	const char *path;
};

static int look_at_object(struct dl_phdr_info *i, size_t size, void *u)
{
	struct search *s = u;
	uint64_t from;
	int k;

	(void)size;
	for (k = 0; k < i->dlpi_phnum; k++) {
		from = i->dlpi_addr + i->dlpi_phdr[k].p_vaddr;
		if (i->dlpi_phdr[k].p_type != PT_LOAD || s->address < from ||
		    s->address - from >= i->dlpi_phdr[k].p_memsz)
			continue;
		s->bias = i->dlpi_addr;
		s->path = i->dlpi_name[0] ? i->dlpi_name : EXE;
		return 1;
	}
	return 0;
}

static struct bytes map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct bytes b = { NULL, NULL };
	struct stat st;
	void *at;

	if (fd < 0)
		return b;
	if (!fstat(fd, &st) && st.st_size > (off_t)sizeof(Elf64_Ehdr)) {
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
			  0);
		if (at != MAP_FAILED)
			b = (struct bytes){ at,
					    (unsigned char *)at + st.st_size };
	}
	close(fd);
	return b;
}

static struct object *open_object(const struct search *s)
{
	/* [gomp.object] its fields; pairs with itself. */
	struct object *first = a_load(&objects, acquire), *o;

	for (o = first; o; o = o->next)
		if (o->bias == s->bias && !strcmp(o->path, s->path))
			return o;
	o = calloc(1, sizeof(*o) + strlen(s->path) + 1);
	if (!o)
		return NULL;
	strcpy(o->path, s->path);
	o->bias = s->bias;
	o->all = map_file(o->path);
	do {
		o->next = first;
		/* [gomp.object] as above. */
	} while (!a_cas(&objects, &first, o, acq_rel, acquire));
	return o;
}

/* ---- what it says ------------------------------------------------------- */

/* nr entries of a size at an offset; NULL: they are not all there. */
static const void *part_of(struct bytes b, uint64_t offset, uint64_t nr,
			   uint64_t size)
{
	uint64_t room = (uint64_t)(b.end - b.at);

	if (offset > room || offset % 4 || nr > (room - offset) / size)
		return NULL;
	return b.at + offset;
}

/* NULL: the file has none. */
static const Elf64_Shdr *sections_of(struct bytes b, unsigned *nr)
{
	const Elf64_Ehdr *h = (const void *)b.at;

	*nr = 0;
	if (!b.at || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
	    h->e_shentsize != sizeof(Elf64_Shdr))
		return NULL;
	*nr = h->e_shnum;
	return part_of(b, h->e_shoff, *nr, sizeof(Elf64_Shdr));
}

/* A text of a table of texts; NULL: it does not end there. */
static const char *text_of(struct bytes b, const Elf64_Shdr *table, uint64_t at)
{
	const char *text;

	if (table->sh_offset > (uint64_t)(b.end - b.at) ||
	    table->sh_size > (uint64_t)(b.end - b.at) - table->sh_offset ||
	    at >= table->sh_size)
		return NULL;
	text = (const char *)b.at + table->sh_offset + at;
	return memchr(text, 0, table->sh_size - at) ? text : NULL;
}

static const char *find_in_table(struct bytes b, const Elf64_Shdr *s,
				 const Elf64_Shdr *texts, uint64_t address)
{
	uint64_t nr = s->sh_size / sizeof(Elf64_Sym), i;
	const Elf64_Sym *sym = part_of(b, s->sh_offset, nr, sizeof(*sym));

	for (i = 0; sym && i < nr; i++)
		if ((sym[i].st_info & 15) == STT_FUNC && sym[i].st_shndx &&
		    address >= sym[i].st_value &&
		    address - sym[i].st_value < sym[i].st_size)
			return text_of(b, texts, sym[i].st_name);
	return NULL;
}

static const char *find_symbol(struct bytes b, uint64_t address, unsigned type)
{
	const char *found = NULL;
	unsigned nr, i;
	const Elf64_Shdr *s = sections_of(b, &nr);

	for (i = 0; s && i < nr && !found; i++)
		if (s[i].sh_type == type && s[i].sh_link < nr)
			found = find_in_table(b, &s[i], &s[s[i].sh_link],
					      address);
	return found;
}

static struct bytes find_lines(struct bytes b)
{
	unsigned nr, i, names;
	const Elf64_Shdr *s = sections_of(b, &nr);
	const char *name;

	names = s ? ((const Elf64_Ehdr *)(const void *)b.at)->e_shstrndx : 0;
	for (i = 0; s && i < nr && names < nr; i++) {
		name = text_of(b, &s[names], s[i].sh_name);
		if (name && !strcmp(name, ".debug_line") &&
		    !(s[i].sh_flags & SHF_COMPRESSED) &&
		    s[i].sh_offset < (uint64_t)(b.end - b.at) &&
		    s[i].sh_size <= (uint64_t)(b.end - b.at) - s[i].sh_offset)
			return (struct bytes){ b.at + s[i].sh_offset,
					       b.at + s[i].sh_offset +
						       s[i].sh_size };
	}
	return (struct bytes){ NULL, NULL };
}

bool elf_find_code(const void *address, struct code *out)
{
	struct search s = { .address = (uint64_t)(uintptr_t)address };
	struct object *o;
	const char *slash;

	*out = (struct code){ .symbol = NULL };
	if (!dl_iterate_phdr(look_at_object, &s))
		return false;
	o = open_object(&s);
	if (!o)
		return false;
	slash = strrchr(o->path, '/');
	out->file = strcmp(o->path, EXE) ? slash ? slash + 1 : o->path
					 : program_invocation_short_name;
	out->offset = s.address - s.bias;
	out->symbol = find_symbol(o->all, out->offset, SHT_SYMTAB);
	if (!out->symbol)
		out->symbol = find_symbol(o->all, out->offset, SHT_DYNSYM);
	out->lines = find_lines(o->all);
	return true;
}
