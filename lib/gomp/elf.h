/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Symbols and lines of source of an address of code, as the files that this
 * process has loaded say them. Files are
 * mapped when the first address of them is asked for, and stay so. They are
 * read as they come: nothing in them is believed unchecked.
 */
#ifndef GOMP_ELF_H
#define GOMP_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Some bytes of a file. */
struct bytes {
	const unsigned char *at, *end;
};

struct code {
	const char *symbol; /* of the file; NULL: none holds the address */
	const char *file; /* the name of the file, without folders */
	uint64_t offset; /* of the address, as the file counts */
	struct bytes lines; /* section .debug_line; empty: there is none */
};

/* False: the address is of no file. */
bool elf_find_code(const void *address, struct code *out);

/* The line of source at an address as the file counts; 0: not known. */
unsigned elf_find_line(struct bytes lines, uint64_t address);

#endif
