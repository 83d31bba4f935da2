/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The driver believes the sizes in the header of a binary, and reads as far as
 * they say: they are compared with the bytes that there are.
 */
#include "cuda/code.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

#define FAT_MAGIC 0xba55ed50

/* The first bytes of a fat binary. */
struct fat_header {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes; /* behind the header */
};

static int refuse_image(struct code_log log, const char *why)
{
	snprintf(log.text, log.size, "cuda: %s", why);
	return -EINVAL;
}

static int check_elf(const struct lkdf_code *c, struct code_log log)
{
	uint64_t table;
	Elf64_Ehdr h;

	if (c->bytes < sizeof(h))
		return refuse_image(log, "the cubin is cut off");
	memcpy(&h, c->image, sizeof(h));
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_CUDA) {
		snprintf(log.text, log.size,
			 "cuda: an ELF file for machine %u is no cubin",
			 h.e_machine);
		return -EINVAL;
	}
	table = (uint64_t)h.e_shnum * h.e_shentsize;
	if (h.e_shoff > c->bytes || table > c->bytes - h.e_shoff)
		return refuse_image(log, "the cubin is cut off");
	return 0;
}

static int check_fat(const struct lkdf_code *c, struct code_log log)
{
	struct fat_header h;

	if (c->bytes < sizeof(h))
		return refuse_image(log, "the fat binary is cut off");
	memcpy(&h, c->image, sizeof(h));
	if (h.header_bytes > c->bytes || h.bytes > c->bytes - h.header_bytes)
		return refuse_image(log, "the fat binary is cut off");
	return 0;
}

/* Behind white space and comments. */
static const char *skip_comments(const char *at, const char *end)
{
	const char *stop;

	while (at < end) {
		if (isspace((unsigned char)*at)) {
			at++;
			continue;
		}
		if (end - at < 2 || at[0] != '/' ||
		    (at[1] != '/' && at[1] != '*'))
			break;
		stop = at[1] == '/' ? "\n" : "*/";
		at = memmem(at + 2, (size_t)(end - at - 2), stop, strlen(stop));
		at = at ? at + strlen(stop) : end;
	}
	return at;
}

static bool begins_with(const char *at, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - at) >= n && !memcmp(at, word, n);
}

int code_sort(const struct lkdf_code *c, enum code_sort *out,
	      struct code_log log)
{
	static const char elf[] = ELFMAG;
	const uint32_t fat = FAT_MAGIC;
	const char *at = c->image, *end;

	*out = CODE_BINARY;
	/* A fat binary of 0 bytes begins with "P", and may be a text. */
	if (!strncmp(at, elf, SELFMAG) ||
	    (c->bytes >= sizeof(fat) && !memcmp(at, &fat, sizeof(fat)))) {
		if (!c->bytes)
			return refuse_image(log,
					    "the image is binary: bytes has to "
					    "say how long it is");
		return *at == elf[0] ? check_elf(c, log) : check_fat(c, log);
	}
	end = at + (c->bytes ? c->bytes : strlen(at));
	at = skip_comments(at, end);
	if (at == end)
		return refuse_image(log, "the image is empty");
	*out = begins_with(at, end, ".version") ? CODE_PTX : CODE_CUDA_C;
	return 0;
}
