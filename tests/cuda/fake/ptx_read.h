/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A text of PTX while it is read: words, and the body of an entry. */
#ifndef FAKE_PTX_READ_H
#define FAKE_PTX_READ_H

#include "tests/cuda/fake/ptx.h"

#define MAX_REGISTERS 64
#define MAX_LABELS 32
#define MAX_WORD 64

struct label {
	char name[MAX_WORD];
	unsigned step;
};

/* A jump whose label comes later. */
struct jump {
	char name[MAX_WORD];
	unsigned step;
};

struct ptx_reader {
	const char *text, *at;
	struct CUmod_st *mod;
	struct CUfunc_st *func;
	struct ptx_code *code;
	char registers[MAX_REGISTERS][MAX_WORD];
	char params[MAX_REGISTERS][MAX_WORD];
	struct label labels[MAX_LABELS];
	struct jump jumps[MAX_LABELS];
	unsigned nr_labels, nr_jumps;
	char bad[MAX_WORD]; /* the word that is no instruction */
	const char *bad_at;
};

/* The next word, or one character that is none; "" at the end of the text. */
void ptx_word(struct ptx_reader *r, char word[MAX_WORD]);
bool ptx_next_is(struct ptx_reader *r, const char *want); /* passes it */

/* The bytes of the type that the word ends with: .u32, ld.param.u64; 0: none.
 */
unsigned ptx_type_size(const char *word);

/* From behind { to behind its }. */
cu_result ptx_body(struct ptx_reader *r);

#endif
