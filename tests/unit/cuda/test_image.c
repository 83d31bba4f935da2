/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What an image is, by its first bytes; and that no size in the header of a
 * binary leads behind its end, where the driver would read.
 */
#include "cuda/code.h"

#include "tests/tap.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char log_text[256];

static int sort_of(const void *image, uint64_t bytes)
{
	const struct lkdf_code c = { .image = image, .bytes = bytes };
	enum code_sort sort;
	int rc;

	log_text[0] = 0;
	rc = code_sort(&c, &sort,
		       (struct code_log){ log_text, sizeof(log_text) });
	return rc ? rc : (int)sort;
}

static void texts_are_told_apart(void)
{
	is(sort_of(".version 7.0\n", 0), CODE_PTX, "PTX");
	is(sort_of("// by hand\n/* .. */\n\t.version 7.0\n", 0), CODE_PTX,
	   "PTX behind comments");
	is(sort_of("__global__ void f() {}", 0), CODE_CUDA_C, "CUDA C");
	is(sort_of("// .version\n__global__ void f() {}", 0), CODE_CUDA_C,
	   "CUDA C behind a comment");
	is(sort_of(".version 7.0", 4), CODE_CUDA_C, "as long as it is said");
	is(sort_of("", 0), -EINVAL, "nothing");
	has(log_text, "empty", "the text says so");
	is(sort_of(" \n/* never closed", 0), -EINVAL, "comments alone");
	is(sort_of("/", 0), CODE_CUDA_C, "a stroke ends the text");
}

/* On the heap, so that a sanitizer sees who reads behind it. */
static int sort_of_copy(const void *image, uint64_t bytes)
{
	void *copy = malloc(bytes);
	int rc;

	memcpy(copy, image, bytes);
	rc = sort_of(copy, bytes);
	free(copy);
	return rc;
}

static void cubins_are_whole(void)
{
	struct {
		Elf64_Ehdr h;
		Elf64_Shdr s[2];
	} x = { .h = { .e_ident = ELFMAG,
		       .e_machine = 190,
		       .e_shoff = sizeof(Elf64_Ehdr),
		       .e_shentsize = sizeof(Elf64_Shdr),
		       .e_shnum = 2 } };
	const uint64_t size = sizeof(x);
	uint64_t n;
	int nr = 0;

	x.h.e_ident[EI_CLASS] = ELFCLASS64;
	is(sort_of_copy(&x, size), CODE_BINARY, "a cubin");
	for (n = SELFMAG; n < size; n++)
		nr += sort_of_copy(&x, n) == -EINVAL;
	is(nr, size - SELFMAG, "none that is cut off");
	is(sort_of(&x, 0), -EINVAL, "without its length");
	has(log_text, "bytes", "the text names the field");
	x.h.e_shoff = UINT64_MAX;
	is(sort_of_copy(&x, size), -EINVAL, "sections that wrap");
	x.h.e_machine = EM_X86_64;
	is(sort_of_copy(&x, size), -EINVAL, "a program of x86-64");
	has(log_text, "machine 62", "the text names the machine");
}

static void fat_binaries_are_whole(void)
{
	struct {
		uint32_t magic;
		uint16_t version, header;
		uint64_t bytes;
		char rest[16];
	} x = { 0xba55ed50, 1, 16, 16, "" };
	const uint64_t size = sizeof(x);
	uint64_t n;
	int nr = 0;

	is(sort_of_copy(&x, size), CODE_BINARY, "a fat binary");
	for (n = 4; n < size; n++)
		nr += sort_of_copy(&x, n) == -EINVAL;
	is(nr, size - 4, "none that is cut off");
	x.bytes = UINT64_MAX;
	is(sort_of_copy(&x, size), -EINVAL, "a length that wraps");
}

static void lines_are_named_with_a_colon(void)
{
	char to[64];
	const struct code_log log = { to, sizeof(to) }, small = { to, 8 };

	nvrtc_map_log("add(2): error: x\n  y(3) = 1;\nadd(12): z", log);
	ok(!strcmp(to, "add:2: error: x\n  y(3) = 1;\nadd:12: z"),
	   "places at the beginning of a line, and no others");
	nvrtc_map_log("add(2): error", small);
	ok(!strcmp(to, "add:2: "), "as much as fits");
	nvrtc_map_log("(2): a\na(): b\na(2\n", log);
	ok(!strcmp(to, "(2): a\na(): b\na(2\n"), "what is no place stays");
}

int main(void)
{
	tap_start(60);
	texts_are_told_apart();
	cubins_are_whole();
	fat_binaries_are_whole();
	lines_are_named_with_a_colon();
	return tap_end();
}
