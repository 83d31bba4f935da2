/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Symbols of a 64-bit ELF file of this machine's byte order, by address as the
 * file has it. Files may be damaged, and change: they are read, not mapped, and
 * nothing found there is believed unchecked.
 */
#ifndef TOOLS_PROBE_ELF_SYMBOL_H
#define TOOLS_PROBE_ELF_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_part;

struct elf_file {
	int fd;
	uint64_t bytes; /* as it was opened */
	struct elf_part *parts; /* what has been read of it */
};

struct elf_symbol {
	char name[256]; /* of C++ as its source has it */
	char source[64]; /* the file it was compiled from; "": not known */
	uint64_t offset; /* of the address, in it or behind it */
	bool is_inside;
};

/* As foreign_file() opens it. 0; -EBADMSG: it is no such file; -errno. */
int elf_open(int pid, const char *path, struct elf_file *f);
void elf_close(struct elf_file *f);

/* From the lowest to the highest address that is loaded; false: none is. */
bool elf_range(struct elf_file *f, uint64_t *from, uint64_t *to);

/* In hexadecimal digits; false: it has none, or no room. */
bool elf_build_id(struct elf_file *f, char *to, size_t size);

/*
 * The symbol that holds the address, or where there is none the nearest below
 * it; of all, or of those that other files may use. False: there is none.
 */
bool elf_find(struct elf_file *f, bool is_dynamic, uint64_t address,
	      struct elf_symbol *s);

/* A symbol of a table. */
struct elf_name {
	char text[128];
	bool is_defined; /* in this file */
};

/* Calls fn for each symbol of all, or of those that other files may use. */
void elf_each(struct elf_file *f, bool is_dynamic,
	      void (*fn)(void *u, const struct elf_name *n), void *u);

/* The loader that the file asks for; false: for none. */
bool elf_interpreter(struct elf_file *f, char *to, size_t size);

#endif
