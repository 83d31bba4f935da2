/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The size of a block against NVIDIA's own calculator of occupancy, where the
 * CUDA toolkit is: random needs on the limits of eight generations of GPUs. How
 * many blocks are resident is the calculator's word for each size; the rule on
 * top of it, written once more here, gives the same size.
 */
#include "policy/block_size.h"

#include "tests/tap.h"

#ifdef HAVE_CUDA_OCCUPANCY
#include <cuda_occupancy.h>

#define NR_CASES 20000
#define KIB 1024u

/* What differs: capability, blocks, threads and shared memory of a unit. */
struct generation {
	int major, minor;
	uint32_t unit_blocks, unit_threads, unit_shared, block_shared;
	uint32_t shared_grain, shared_reserved;
};

static const struct generation generations[] = {
	{ 7, 0, 32, 2048, 96 * KIB, 96 * KIB, 256, 0 },
	{ 7, 5, 16, 1024, 64 * KIB, 64 * KIB, 256, 0 },
	{ 8, 0, 32, 2048, 164 * KIB, 163 * KIB, 128, KIB },
	{ 8, 6, 16, 1536, 100 * KIB, 99 * KIB, 128, KIB },
	{ 8, 9, 24, 1536, 100 * KIB, 99 * KIB, 128, KIB },
	{ 9, 0, 32, 2048, 228 * KIB, 227 * KIB, 128, KIB },
	{ 10, 0, 32, 2048, 228 * KIB, 227 * KIB, 128, KIB },
	{ 12, 0, 24, 1536, 100 * KIB, 99 * KIB, 128, KIB },
};
#define NR_GENERATIONS (sizeof(generations) / sizeof(*generations))

static uint64_t state;

/* xorshift64* (Vigna 2016). */
static uint32_t below(uint32_t limit)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 0x2545f4914f6cdd1d) >> 33) % limit;
}

static struct block_device ours(const struct generation *g)
{
	return (struct block_device){
		.warp = 32,
		.max_block = 1024,
		.unit_threads = g->unit_threads,
		.unit_blocks = g->unit_blocks,
		.unit_registers = 65536,
		.block_registers = 65536,
		.thread_registers = 256,
		.register_grain = 256,
		.unit_parts = 4,
		.unit_shared = g->unit_shared,
		.block_shared = g->block_shared,
		.shared_grain = g->shared_grain,
		.shared_reserved = g->shared_reserved,
	};
}

static struct cudaOccDeviceProp theirs(const struct generation *g)
{
	return (struct cudaOccDeviceProp){
		.computeMajor = g->major,
		.computeMinor = g->minor,
		.maxThreadsPerBlock = 1024,
		.maxThreadsPerMultiprocessor = (int)g->unit_threads,
		.regsPerBlock = 65536,
		.regsPerMultiprocessor = 65536,
		.warpSize = 32,
		.sharedMemPerBlock = 48 * KIB,
		.sharedMemPerMultiprocessor = g->unit_shared,
		.numSms = 100,
		.sharedMemPerBlockOptin = g->block_shared,
		.reservedSharedMemPerBlock = g->shared_reserved,
	};
}

static struct block_needs draw(void)
{
	static const uint32_t most[] = { 1, 4 * KIB, 48 * KIB, 240 * KIB };
	struct block_needs k = {
		.registers = below(258),
		.shared = below(most[below(4)]),
		.max_block = below(2) ? 0 : 1 + below(1024),
		.bound = below(2) ? 0 : 1 + below(1200),
		.min_blocks = below(2) ? 0 : 1 + below(8),
	};

	if (!below(4))
		k.shared_thread = below(256);
	return k;
}

static uint32_t resident(const struct cudaOccDeviceProp *p,
			 const struct block_needs *k, uint32_t threads)
{
	static const struct cudaOccDeviceState as_it_is = {
		.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT,
	};
	size_t dynamic = (size_t)k->shared_thread * threads;
	struct cudaOccFuncAttributes a = {
		.maxThreadsPerBlock = 1024,
		.numRegs = (int)k->registers,
		.sharedSizeBytes = k->shared,
		.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
		.maxDynamicSharedSizeBytes = p->sharedMemPerBlockOptin,
		.numBlockBarriers = 1,
	};
	struct cudaOccResult r;

	if (k->max_block && threads > k->max_block)
		return 0;
	if (cudaOccMaxActiveBlocksPerMultiprocessor(&r, p, &a, &as_it_is,
						    (int)threads, dynamic))
		return 0;
	return (uint32_t)r.activeBlocksPerMultiprocessor;
}

/* The rule as the seed of this library has it, over their calculator. */
static uint32_t deduce(const struct cudaOccDeviceProp *p,
		       const struct block_needs *k)
{
	int from = k->bound ? (int)k->bound : 1024, size;
	uint32_t best = 0, most = 0, nr;

	if (k->max_block && from > (int)k->max_block)
		from = (int)k->max_block;
	if (from > 1024)
		from = 1024;
	for (size = from; size > 0; size -= 32) {
		nr = resident(p, k, (uint32_t)size);
		if (nr * (uint32_t)size >
		    (uint32_t)p->maxThreadsPerMultiprocessor)
			nr = (uint32_t)(p->maxThreadsPerMultiprocessor / size);
		if (nr < (k->min_blocks ? k->min_blocks : 1))
			continue;
		if (nr * (uint32_t)size > most ||
		    (size >= 128 && nr * (uint32_t)size == most)) {
			best = (uint32_t)size;
			most = nr * best;
		}
	}
	return best;
}

static void say(const char *what, const struct block_needs *k, uint32_t us,
		uint32_t them)
{
	printf("# %s: %u, calculator %u: registers %u shared %u + %u a thread, "
	       "at most %u, bound %u, blocks %u\n",
	       what, us, them, k->registers, k->shared, k->shared_thread,
	       k->max_block, k->bound, k->min_blocks);
}

static void calculators_agree(const struct generation *g)
{
	uint32_t i, us, them, size, other = 0, another = 0, launchable = 0;
	struct cudaOccDeviceProp p = theirs(g);
	struct block_device d = ours(g);
	struct block_needs k;

	for (i = 0; i < NR_CASES; i++) {
		k = draw();
		size = 1 + below(1024);
		us = block_resident(&d, &k, size);
		them = resident(&p, &k, size);
		if (us != them && !other++)
			say("resident", &k, us, them);
		us = block_size(&d, &k);
		them = deduce(&p, &k);
		if (us != them && !another++)
			say("size", &k, us, them);
		launchable += us != 0;
	}
	is(other, 0, "%d.%d: %d random blocks are as often resident", g->major,
	   g->minor, NR_CASES);
	is(another, 0, "%d.%d: and their best sizes are the same", g->major,
	   g->minor);
	ok(launchable > NR_CASES / 4 && launchable < NR_CASES,
	   "%d.%d: some can be launched (%u), some cannot", g->major, g->minor,
	   launchable);
}

int main(void)
{
	size_t i;

	tap_start(120);
	state = (uint64_t)getpid() << 20 | 1;
	printf("# seed %llu\n", (unsigned long long)state);
	for (i = 0; i < NR_GENERATIONS; i++)
		calculators_agree(&generations[i]);
	return tap_end();
}
#else
int main(void)
{
	tap_start(60);
	skip("random blocks are as large as NVIDIA's calculator says",
	     "no CUDA toolkit with cuda_occupancy.h");
	return tap_end();
}
#endif
