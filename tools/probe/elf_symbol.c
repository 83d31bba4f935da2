/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "probe/elf_symbol.h"

#include "foreign.h"
#include "probe/demangle.h"
#include "utf8.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Some bytes of the file, until it is closed. */
struct elf_part {
	struct elf_part *next;
	uint64_t offset, bytes;
	_Alignas(8) unsigned char at[];
};

/* Longer names stay as they are, cut. */
#define MAX_NAME 2048

/* More than any table of symbols has. */
#define MAX_PART ((uint64_t)1 << 30)

/* The file may get shorter meanwhile. */
static bool read_all(int fd, void *to, uint64_t bytes, uint64_t offset)
{
	char *at = to;
	ssize_t n;

	for (; bytes; bytes -= (uint64_t)n, offset += (uint64_t)n, at += n) {
		n = pread(fd, at, bytes, (off_t)offset);
		if (n <= 0)
			return false;
	}
	return true;
}

/* The bytes that lie there; NULL: they are not all there, or too many. */
static const unsigned char *part(struct elf_file *f, uint64_t offset,
				 uint64_t bytes)
{
	struct elf_part *p;

	for (p = f->parts; p; p = p->next)
		if (p->offset == offset && p->bytes == bytes)
			return p->at;
	if (offset > f->bytes || bytes > f->bytes - offset || bytes > MAX_PART)
		return NULL;
	p = malloc(sizeof(*p) + bytes);
	if (!p)
		return NULL;
	if (!read_all(f->fd, p->at, bytes, offset)) {
		free(p);
		return NULL;
	}
	p->offset = offset;
	p->bytes = bytes;
	p->next = f->parts;
	f->parts = p;
	return p->at;
}

/* A table of the file: nr entries of a size. NULL: it is not all there. */
static const void *table(struct elf_file *f, uint64_t offset, uint64_t nr,
			 uint64_t size)
{
	if (nr > f->bytes / size || offset % 8 != 0)
		return NULL;
	return part(f, offset, nr * size);
}

static const Elf64_Ehdr *header(struct elf_file *f)
{
	return table(f, 0, 1, sizeof(Elf64_Ehdr));
}

static bool is_elf(struct elf_file *f)
{
	const Elf64_Ehdr *h = header(f);

	return h && !memcmp(h->e_ident, ELFMAG, SELFMAG) &&
	       h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == (*(const unsigned char *)&(int){ 1 }
					       ? ELFDATA2LSB
					       : ELFDATA2MSB);
}

int elf_open(int pid, const char *path, struct elf_file *f)
{
	struct stat s;

	*f = (struct elf_file){ .fd = foreign_file(pid, path) };
	if (f->fd < 0)
		return f->fd;
	f->bytes = fstat(f->fd, &s) ? 0 : (uint64_t)s.st_size;
	if (is_elf(f))
		return 0;
	elf_close(f);
	return -EBADMSG;
}

void elf_close(struct elf_file *f)
{
	struct elf_part *p;

	while ((p = f->parts)) {
		f->parts = p->next;
		free(p);
	}
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

bool elf_range(struct elf_file *f, uint64_t *from, uint64_t *to)
{
	const Elf64_Ehdr *h = header(f);
	const Elf64_Phdr *p = table(f, h->e_phoff, h->e_phnum, sizeof(*p));
	unsigned i;

	*from = UINT64_MAX;
	*to = 0;
	for (i = 0; p && i < h->e_phnum; i++) {
		if (p[i].p_type != PT_LOAD)
			continue;
		if (p[i].p_vaddr < *from)
			*from = p[i].p_vaddr;
		if (p[i].p_vaddr + p[i].p_memsz > *to)
			*to = p[i].p_vaddr + p[i].p_memsz;
	}
	return *from < *to;
}

/* ---- the build id ------------------------------------------------------- */

static bool write_id(const unsigned char *id, size_t nr, char *to, size_t size)
{
	size_t i;

	if (!nr || 2 * nr + 1 > size)
		return false;
	for (i = 0; i < nr; i++)
		snprintf(to + 2 * i, 3, "%02x", id[i]);
	return true;
}

/* Notes, each padded to four bytes. */
static bool find_id(const unsigned char *at, uint64_t bytes, char *to,
		    size_t size)
{
	Elf64_Nhdr n;
	uint64_t name, id;

	while (bytes >= sizeof(n)) {
		memcpy(&n, at, sizeof(n));
		name = sizeof(n) + ((uint64_t)n.n_namesz + 3) / 4 * 4;
		id = name + ((uint64_t)n.n_descsz + 3) / 4 * 4;
		if (id > bytes)
			return false;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    !memcmp(at + sizeof(n), "GNU", 4))
			return write_id(at + name, n.n_descsz, to, size);
		at += id;
		bytes -= id;
	}
	return false;
}

bool elf_build_id(struct elf_file *f, char *to, size_t size)
{
	const Elf64_Ehdr *h = header(f);
	const Elf64_Phdr *p = table(f, h->e_phoff, h->e_phnum, sizeof(*p));
	const unsigned char *notes;
	unsigned i;

	for (i = 0; p && i < h->e_phnum; i++) {
		if (p[i].p_type != PT_NOTE)
			continue;
		notes = part(f, p[i].p_offset, p[i].p_filesz);
		if (notes && find_id(notes, p[i].p_filesz, to, size))
			return true;
	}
	return false;
}

/* ---- symbols ------------------------------------------------------------ */

/* Symbols and their names: one section says where the other is. */
struct symbols {
	const Elf64_Sym *sym;
	uint64_t nr;
	const char *text;
	uint64_t text_size;
};

static bool find_table(struct elf_file *f, uint32_t type, struct symbols *t)
{
	const Elf64_Ehdr *h = header(f);
	const Elf64_Shdr *s = table(f, h->e_shoff, h->e_shnum, sizeof(*s));
	const Elf64_Shdr *text;
	unsigned i;

	for (i = 0; s && i < h->e_shnum; i++) {
		if (s[i].sh_type != type || s[i].sh_link >= h->e_shnum)
			continue;
		t->nr = s[i].sh_size / sizeof(*t->sym);
		t->sym = table(f, s[i].sh_offset, t->nr, sizeof(*t->sym));
		text = &s[s[i].sh_link];
		t->text = (const void *)part(f, text->sh_offset, text->sh_size);
		t->text_size = text->sh_size;
		if (t->sym && t->nr && t->text)
			return true;
	}
	return false;
}

static void copy_text(const struct symbols *t, uint32_t at, char *to,
		      size_t size)
{
	size_t i = 0;

	for (; at < t->text_size && t->text[at] && i + 1 < size; at++, i++)
		to[i] = t->text[at];
	to[i] = '\0';
	utf8_tame(to);
}

/* A name of C++ grows: it is cut when it is known. */
static void copy_name(const struct symbols *t, uint32_t at, char *to,
		      size_t size)
{
	char text[MAX_NAME];

	copy_text(t, at, text, sizeof(text));
	demangle(text, sizeof(text));
	snprintf(to, size, "%.*s", (int)size - 1, text);
	utf8_tame(to);
}

static bool is_data(const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS &&
	       s->st_name &&
	       (type == STT_OBJECT || type == STT_NOTYPE || type == STT_FUNC);
}

static bool holds(const Elf64_Sym *s, uint64_t address)
{
	return address == s->st_value || address - s->st_value < s->st_size;
}

/* Better: it holds the address, or begins later below it. */
static bool is_better(const Elf64_Sym *s, const Elf64_Sym *best,
		      uint64_t address)
{
	if (!best)
		return true;
	if (holds(s, address) != holds(best, address))
		return holds(s, address);
	return s->st_value > best->st_value;
}

bool elf_find(struct elf_file *f, bool is_dynamic, uint64_t address,
	      struct elf_symbol *out)
{
	const Elf64_Sym *best = NULL, *source = NULL, *source_of = NULL, *s;
	struct symbols t;
	uint64_t i;

	if (!find_table(f, is_dynamic ? SHT_DYNSYM : SHT_SYMTAB, &t))
		return false;
	for (i = 0; i < t.nr; i++) {
		s = &t.sym[i];
		if (ELF64_ST_TYPE(s->st_info) == STT_FILE)
			source = s;
		if (!is_data(s) || s->st_value > address ||
		    !is_better(s, best, address))
			continue;
		best = s;
		/* Local symbols stand behind the file that they are from. */
		source_of =
			ELF64_ST_BIND(s->st_info) == STB_LOCAL ? source : NULL;
	}
	if (!best)
		return false;
	copy_name(&t, best->st_name, out->name, sizeof(out->name));
	out->source[0] = '\0';
	if (source_of)
		copy_text(&t, source_of->st_name, out->source,
			  sizeof(out->source));
	out->offset = address - best->st_value;
	out->is_inside = holds(best, address);
	return true;
}

/* ---- all of them -------------------------------------------------------- */

void elf_each(struct elf_file *f, bool is_dynamic,
	      void (*fn)(void *u, const struct elf_name *n), void *u)
{
	struct elf_name n;
	struct symbols t;
	uint64_t i;

	if (!find_table(f, is_dynamic ? SHT_DYNSYM : SHT_SYMTAB, &t))
		return;
	for (i = 0; i < t.nr; i++) {
		copy_text(&t, t.sym[i].st_name, n.text, sizeof(n.text));
		n.is_defined = t.sym[i].st_shndx != SHN_UNDEF;
		fn(u, &n);
	}
}

bool elf_interpreter(struct elf_file *f, char *to, size_t size)
{
	const Elf64_Ehdr *h = header(f);
	const Elf64_Phdr *p = table(f, h->e_phoff, h->e_phnum, sizeof(*p));
	const unsigned char *text;
	unsigned i;

	for (i = 0; p && i < h->e_phnum; i++) {
		if (p[i].p_type != PT_INTERP || p[i].p_filesz >= size)
			continue;
		text = part(f, p[i].p_offset, p[i].p_filesz);
		if (!text)
			return false;
		snprintf(to, size, "%.*s", (int)p[i].p_filesz,
			 (const char *)text);
		return true;
	}
	return false;
}
