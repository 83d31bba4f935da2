/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One OpenCL queue by hand, as a program without a runtime would write it: what
 * lkdf bench device compares with. Two kernels: one that does nothing, and one
 * step of RAW_CL_WORDS words. The library of OpenCL comes by dlopen.
 */
#ifndef TESTS_BENCH_RAW_CL_H
#define TESTS_BENCH_RAW_CL_H

#include <stddef.h>
#include <stdint.h>

#define RAW_CL_WORDS 4096
#define RAW_CL_BYTES (RAW_CL_WORDS * sizeof(uint64_t))
#define RAW_CL_BLOCK 256

/* The text of both kernels: step_words, do_nothing. */
extern const char raw_cl_text[];

/* What a word is after nr steps of 0. */
uint64_t raw_cl_word(unsigned nr);

struct raw_cl;

/* NULL: why has the reason. */
struct raw_cl *raw_cl_open(char *why, size_t size);
void raw_cl_close(struct raw_cl *r);

/*
 * ns of the whole, or -errno, with why: nr steps, each after the other; nr
 * kernels that do nothing; nr times a step whose result the host changes.
 */
int64_t raw_cl_chain(struct raw_cl *r, unsigned nr);
int64_t raw_cl_side_by_side(struct raw_cl *r, unsigned nr);
int64_t raw_cl_pairs(struct raw_cl *r, unsigned nr);
const char *raw_cl_why(const struct raw_cl *r);

#endif
