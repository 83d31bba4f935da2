/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The driver's API by hand, as a program without a runtime would write it: what
 * lkdf bench device --device cuda compares with. The driver is the one that the
 * library loads: LKDF_CUDA_LIBRARY, or the system's.
 */
#ifndef TESTS_BENCH_RAW_CUDA_H
#define TESTS_BENCH_RAW_CUDA_H

#include <stddef.h>
#include <stdint.h>

#define RAW_CUDA_BYTES 32768 /* that a pair passes on */

/*
 * PTX: empty(); gate(flag, limit_ns) until the word at flag is not 0;
 * spin(limit_ns); step(at, value): the word at becomes three times it and the
 * value.
 */
extern const char raw_cuda_text[];

/* What a word is after nr steps of 0 by 1, each with so much more behind it. */
uint32_t raw_cuda_word(unsigned nr, uint32_t touched);

struct raw_cuda;

/* NULL: why has the reason. */
struct raw_cuda *raw_cuda_open(char *why, size_t size);
void raw_cuda_close(struct raw_cuda *r);
const char *raw_cuda_why(const struct raw_cuda *r);

/* The flag of kernels of gate: its address for them, and its value. */
uint64_t raw_cuda_flag(const struct raw_cuda *r);
void raw_cuda_set_flag(struct raw_cuda *r, uint32_t value);

/*
 * ns, or -errno with why: nr kernels that do nothing, to the end, and the calls
 * alone; nr steps, each after the other; the same as a CUDA graph, so many
 * times; nr times a step whose result the host changes.
 */
int64_t raw_cuda_side_by_side(struct raw_cuda *r, unsigned nr);
int64_t raw_cuda_launches(struct raw_cuda *r, unsigned nr);
int64_t raw_cuda_chain(struct raw_cuda *r, unsigned nr);
int64_t raw_cuda_replay(struct raw_cuda *r, unsigned nr, unsigned times);
int64_t raw_cuda_pairs(struct raw_cuda *r, unsigned nr);

/*
 * From the flag that lets a kernel go, which is set so many ns after the
 * launch, until it is known that the kernel has ended: by a word that the
 * stream writes, which is polled; by a thread that sleeps until an event comes.
 */
int64_t raw_cuda_end_word(struct raw_cuda *r, int64_t after_ns);
int64_t raw_cuda_end_event(struct raw_cuda *r, int64_t after_ns);

/*
 * A step at RAW_CUDA_WILD, until a call says that it has faulted; no call of
 * the process succeeds from then on.
 */
#define RAW_CUDA_WILD ((uint64_t)0xdead0000)
int64_t raw_cuda_fault(struct raw_cuda *r);

/* To the card and back; there: CUdeviceptr. */
int64_t raw_cuda_copy(struct raw_cuda *r, void *there, void *host,
		      uint64_t bytes);

/*
 * Blocks of so many bytes go to the card, a kernel of so many ns follows, and
 * they come back, in three streams.
 */
int64_t raw_cuda_overlap(struct raw_cuda *r, void *host, uint64_t bytes,
			 unsigned nr_blocks, uint64_t kernel_ns);

#endif
