/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/cuda/fake/scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SHARED_BYTES 232448 /* of a block, at most */

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_word(const char *at, size_t size, const char *word)
{
	return strlen(word) == size && !strncmp(at, word, size);
}

/* The length of the token there: a word, a string, or one character. */
static size_t token_size(const char *at)
{
	size_t n = 1;

	if (*at == '"' || *at == '\'') {
		while (at[n] && at[n] != *at)
			n += at[n] == '\\' && at[n + 1] ? 2 : 1;
		return at[n] ? n + 1 : n;
	}
	if (is_letter(*at))
		while (is_letter(at[n]))
			n++;
	return n;
}

/* From ( to behind its ). */
static const char *skip_parens(const char *at)
{
	int depth = 0;

	do {
		depth += *at == '(';
		depth -= *at == ')';
		at += token_size(at);
	} while (*at && depth);
	return at;
}

/* The memory of a block whose size the launch says has all that there can be.
 */
static void put_shared(FILE *to, const char *from, const char *end)
{
	const char *begin = end;

	while (begin > from && !is_letter(begin[-1]))
		begin--;
	end = begin;
	while (begin > from && is_letter(begin[-1]))
		begin--;
	fprintf(to,
		"\n__asm__(\".pushsection .tbss,\\\"awT\\\",@nobits\\n"
		".balign 64\\n.globl %.*s\\n.type %.*s,@object\\n"
		"%.*s: .zero %d\\n.popsection\");\n",
		(int)(end - begin), begin, (int)(end - begin), begin,
		(int)(end - begin), begin, SHARED_BYTES);
}

/* Behind __global__: attributes, the type, the name, its parameters. */
static void add_kernel(struct scan *s, const char *at)
{
	const char *name = NULL, *bounds = "", *open;
	size_t size = 0, nr_bounds = 0, n;

	for (; *at && *at != ';' && *at != '{'; at += n) {
		n = token_size(at);
		if (is_letter(*at)) {
			name = at;
			size = n;
		}
		if (*at != '(' || !name)
			continue;
		open = at;
		at = skip_parens(at);
		n = 0;
		if (!is_word(name, size, "__launch_bounds__"))
			break;
		bounds = open + 1;
		nr_bounds = (size_t)(at - open) - 2;
	}
	while (isspace((unsigned char)*at))
		at++;
	if (!name || *at != '{' || s->nr_kernels == SCAN_KERNELS)
		return;
	s->kernels[s->nr_kernels].name = strndup(name, size);
	s->kernels[s->nr_kernels++].bounds = strndup(bounds, nr_bounds);
}

void scan_text(struct scan *s, const char *text, FILE *to)
{
	bool is_template = false, is_extern = false;
	const char *at, *shared = NULL;
	size_t n;

	for (at = text; *at; at += n) {
		n = token_size(at);
		if (*at == ';' || *at == '}')
			is_template = false;
		if (is_word(at, n, "template"))
			is_template = true;
		if (is_word(at, n, "__syncthreads"))
			s->has_barriers = true;
		if (is_word(at, n, "__global__") && !is_template)
			add_kernel(s, at + n);
		if (is_word(at, n, "__shared__")) {
			fputs(is_extern ? "__thread" : "static __thread", to);
			if (is_extern && !shared)
				shared = at;
		} else {
			fwrite(at, 1, n, to);
		}
		if (!isspace((unsigned char)*at))
			is_extern = is_word(at, n, "extern");
	}
	if (shared)
		put_shared(to, shared, shared + strcspn(shared, "["));
}

void scan_free(struct scan *s)
{
	size_t i;

	for (i = 0; i < s->nr_kernels; i++) {
		free(s->kernels[i].name);
		free(s->kernels[i].bounds);
	}
}
