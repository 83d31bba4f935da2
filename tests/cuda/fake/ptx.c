/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Reads PTX; the language is NVIDIA's (PTX ISA 9.0). */
#include "tests/cuda/fake/ptx.h"

#include "tests/cuda/fake/ptx_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEWEST 9.0 /* version of the language, of CUDA 13.0 */

void ptx_free(struct ptx_code *c)
{
	if (c)
		free(c->steps);
	free(c);
}

/* ---- entries, variables ------------------------------------------------- */

/* .param .u64 at  or  .param .align 4 .b8 p[4096] */
static cu_result read_params(struct ptx_reader *r)
{
	unsigned size, align, n;
	char word[MAX_WORD];

	if (!ptx_next_is(r, "("))
		return 0;
	while (!ptx_next_is(r, ")")) {
		ptx_next_is(r, ",");
		if (!ptx_next_is(r, ".param") ||
		    r->func->nr_params == MAX_REGISTERS)
			return 218;
		align = 0;
		ptx_word(r, word);
		if (!strcmp(word, ".align")) {
			ptx_word(r, word);
			align = (unsigned)atoi(word);
			ptx_word(r, word);
		}
		size = ptx_type_size(word);
		ptx_word(r, r->params[r->func->nr_params]);
		n = 1;
		if (ptx_next_is(r, "[")) {
			ptx_word(r, word);
			n = (unsigned)atoi(word);
			ptx_next_is(r, "]");
		}
		if (!size)
			return 218;
		module_param(r->func, size * n, align ? align : size);
	}
	return r->func->params_size > MAX_PARAMS ? 218 : 0;
}

static cu_result read_entry(struct ptx_reader *r)
{
	char word[MAX_WORD];
	cu_result rc;

	ptx_word(r, word);
	r->func = module_add(r->mod, word, strlen(word));
	r->code = r->func->ptx = calloc(1, sizeof(*r->code));
	if (!r->code)
		abort();
	memset(r->registers, 0, sizeof(r->registers));
	r->nr_labels = r->nr_jumps = 0;
	rc = read_params(r);
	while (!rc && !ptx_next_is(r, "{")) {
		ptx_word(r, word);
		if (!word[0])
			return 218;
		if (!strcmp(word, ".maxntid")) {
			ptx_word(r, word);
			r->func->max_threads = (unsigned)atoi(word);
		}
	}
	return rc ? rc : ptx_body(r);
}

/* .global .align 4 .u32 name;  or  ... name[5] = {1, 2}; */
static cu_result read_global(struct ptx_reader *r)
{
	struct global *g = calloc(1, sizeof(*g));
	char word[MAX_WORD];
	unsigned size = 1, i;

	if (!g)
		abort();
	g->next = r->mod->globals;
	r->mod->globals = g;
	for (ptx_word(r, word); word[0] == '.'; ptx_word(r, word)) {
		if (!strcmp(word, ".align"))
			ptx_word(r, word);
		else
			size = ptx_type_size(word);
	}
	g->name = strdup(word);
	g->size = size;
	if (ptx_next_is(r, "[")) {
		ptx_word(r, word);
		g->size = size * (unsigned)atoi(word);
		ptx_next_is(r, "]");
	}
	g->at = calloc(1, g->size + 8);
	if (!size || !g->at)
		return 218;
	if (ptx_next_is(r, "=") && ptx_next_is(r, "{"))
		for (i = 0; i < g->size / size && !ptx_next_is(r, "}"); i++) {
			uint64_t v;

			ptx_word(r, word);
			v = strtoull(word, NULL, 0);
			memcpy((char *)g->at + (size_t)i * size, &v, size);
			ptx_next_is(r, ",");
		}
	r->at += strcspn(r->at, ";");
	return 0;
}

/* .version 7.0 .target sm_75 */
static cu_result read_head(struct ptx_reader *r)
{
	char word[MAX_WORD];

	if (!ptx_next_is(r, ".version"))
		return 218;
	ptx_word(r, word);
	if (atof(word) > NEWEST)
		return 222;
	if (!ptx_next_is(r, ".target"))
		return 218;
	ptx_word(r, word);
	return strncmp(word, "sm_", 3) || atoi(word + 3) > 90 ? 218 : 0;
}

static cu_result read_module(struct ptx_reader *r)
{
	cu_result rc = read_head(r);
	char word[MAX_WORD];

	while (!rc) {
		ptx_word(r, word);
		if (!word[0])
			break;
		if (!strcmp(word, ".entry"))
			rc = read_entry(r);
		else if (!strcmp(word, ".global"))
			rc = read_global(r);
		else if (!strcmp(word, ".extern") || !strcmp(word, ".func"))
			r->at += strcspn(r->at, ";");
		/* .visible, .address_size and the like say nothing here. */
	}
	return rc;
}

static void write_log(const struct ptx_reader *r, char *log, size_t size)
{
	const char *p;
	int line = 1;

	if (!log || !size)
		return;
	for (p = r->text; r->bad_at && p < r->bad_at; p++)
		line += *p == '\n';
	if (r->bad[0])
		snprintf(log, size,
			 "ptxas application ptx input, line %d; error   : Not "
			 "a name of any known instruction: '%s'\n",
			 line, r->bad);
	else
		snprintf(log, size,
			 "ptxas application ptx input; error   : wrong\n");
}

cu_result ptx_load(struct CUmod_st *m, const char *text, char *log, size_t size)
{
	struct ptx_reader *r = calloc(1, sizeof(*r));
	cu_result rc;

	if (!r)
		abort();
	r->text = r->at = text;
	r->mod = m;
	rc = read_module(r);
	if (rc)
		write_log(r, log, size);
	free(r);
	return rc;
}
