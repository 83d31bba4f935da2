/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Functions of the oracle in streams of CUDA: the stream copies the bytes of a
 * task to pinned memory, calls the function there, and copies them back.
 */
#include "tests/oracle/data_kernel.h"

#include "tests/cuda/load.h"

#include <pthread.h>

/* Of one task in a stream. Free again when the stream has passed it, and kept
 * until the program ends. */
struct stage {
	struct stage *next;
	const void *arg;
	const struct d_run *run;
	uint64_t *word; /* D_USES times D_WORDS, pinned */
	struct d_bytes b;
};

static struct cu cu;
static struct stage *free_stages; /* under lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool d_cuda_open(void)
{
	char why[256];

	if (cu.cuInit)
		return true;
	if (!cu_load(cuda_driver(), &cu, why, sizeof(why)))
		return true;
	printf("# %s\n", why);
	return false;
}

static void put_stage(void *u)
{
	struct stage *s = u;

	pthread_mutex_lock(&lock);
	s->next = free_stages;
	free_stages = s;
	pthread_mutex_unlock(&lock);
}

static struct stage *get_stage(void)
{
	struct stage *s;
	void *word;

	pthread_mutex_lock(&lock);
	s = free_stages;
	if (s)
		free_stages = s->next;
	pthread_mutex_unlock(&lock);
	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s || cu.cuMemHostAlloc(&word, D_USES * D_WORDS * sizeof(uint64_t),
				    CU_HOST_PORTABLE))
		abort();
	s->word = word;
	return s;
}

static void run_stage(void *u)
{
	struct stage *s = u;
	struct d_bytes b = s->b; /* which the launcher reads meanwhile */
	struct d_kernel k;

	d_find_kernel(&k, s->arg, s->run);
	d_run_kernel(&k, &b);
}

static size_t bytes_of(const struct d_kernel *k, uint32_t i)
{
	const struct d_use *u = &k->t->use[i];

	return d_nr_words(&k->w->p->var[u->var], u->part) * sizeof(uint64_t);
}

/* The use whose bytes hold those of use i, which may be part of its data. */
static uint32_t holder_of(const struct d_kernel *k, void *const *mem,
			  uint32_t i)
{
	const char *at = mem[i], *from;
	uint32_t j, best = i;

	for (j = 0; j < k->t->nr_uses; j++) {
		from = mem[j];
		if (from <= at &&
		    at + bytes_of(k, i) <= from + bytes_of(k, j) &&
		    (bytes_of(k, j) > bytes_of(k, best) ||
		     (bytes_of(k, j) == bytes_of(k, best) && j < best)))
			best = j;
	}
	return best;
}

static void set_words(const struct d_kernel *k, struct stage *s,
		      void *const *mem)
{
	uint32_t i, holder;

	for (i = 0; i < k->t->nr_uses; i++) {
		holder = holder_of(k, mem, i);
		s->b.word[i] = s->word + holder * D_WORDS +
			       ((char *)mem[i] - (char *)mem[holder]) /
				       (long)sizeof(uint64_t);
	}
}

static int copy_there(const struct d_kernel *k, struct stage *s,
		      cu_stream queue, void *const *mem)
{
	cu_result r = 0;
	uint32_t i;

	for (i = 0; i < k->t->nr_uses && !r; i++)
		if (holder_of(k, mem, i) == i)
			r = cu.cuMemcpyDtoHAsync(s->b.word[i],
						 (cu_ptr)(uintptr_t)mem[i],
						 bytes_of(k, i), queue);
	return (int)r;
}

/* What is only read has other readers meanwhile: no bytes go there. */
static int copy_back(const struct d_kernel *k, struct stage *s, cu_stream queue,
		     void *const *mem)
{
	const uint32_t writes = LKDF_WRITE | LKDF_COMMUTE | LKDF_REDUCE;
	cu_result r = 0;
	uint32_t i;

	for (i = 0; i < k->t->nr_uses && !r; i++)
		if (k->t->use[i].mode & writes)
			r = cu.cuMemcpyHtoDAsync((cu_ptr)(uintptr_t)mem[i],
						 s->b.word[i], bytes_of(k, i),
						 queue);
	return (int)r;
}

int d_cuda_enqueue(const struct d_kernel *k, const void *arg,
		   const struct d_run *run, void *queue, void *const *mem)
{
	struct stage *s = get_stage();
	int error;

	s->arg = arg;
	s->run = run;
	set_words(k, s, mem);
	error = copy_there(k, s, queue, mem);
	if (!error)
		error = (int)cu.cuLaunchHostFunc(queue, run_stage, s);
	if (!error)
		error = copy_back(k, s, queue, mem);
	if (!error)
		error = (int)cu.cuLaunchHostFunc(queue, put_stage, s);
	return error;
}
