/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * First touch: every byte once, by workers of one node in each part. On a
 * made-up machine pages cannot tell, so each thread tells what it wrote.
 */
#include "tests/api/api.h"

#include <pthread.h>
#include <sys/mman.h>

#define PAGE 4096ull
#define MAX_PIECES 8192

struct piece {
	uint64_t begin, bytes;
	pthread_t thread;
};

struct notes {
	char *at;
	atomic_int nr;
	struct piece piece[MAX_PIECES];
};

static struct notes notes;

static int note(void *at, uint64_t bytes, void *u)
{
	struct notes *n = u;
	int i = atomic_fetch_add(&n->nr, 1);
	uint64_t b;

	if (i < MAX_PIECES)
		n->piece[i] = (struct piece){ (uint64_t)((char *)at - n->at),
					      bytes, pthread_self() };
	for (b = 0; b < bytes; b++)
		((char *)at)[b]++;
	return 0;
}

static char *map(uint64_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

/* Bytes that do not hold 1. */
static uint64_t wrong_bytes(const char *p, uint64_t bytes)
{
	uint64_t i, nr = 0;

	for (i = 0; i < bytes; i++)
		nr += p[i] != 1;
	return nr;
}

/* Is a thread at work on both sides of the border? */
static bool is_border(const struct notes *n, uint64_t border)
{
	int i, j, nr = atomic_load(&n->nr);
	const struct piece *a, *b;

	for (i = 0; i < nr; i++) {
		a = &n->piece[i];
		if (a->begin < border && a->begin + a->bytes > border)
			return false;
		for (j = 0; a->begin < border && j < nr; j++) {
			b = &n->piece[j];
			if (b->begin >= border &&
			    pthread_equal(a->thread, b->thread))
				return false;
		}
	}
	return true;
}

/* Parts end after so many sixths of the array. */
static void parts_are_of_nodes(const char *options, const int *sixths, int nr)
{
	struct lkdf *rt = api_open(options);
	uint64_t bytes = 6 * 512 * PAGE;
	int i;

	atomic_store(&notes.nr, 0);
	notes.at = map(bytes);
	is(lkdf_first_touch(rt, notes.at, bytes, 0, note, &notes), 0, "%s",
	   options);
	is(wrong_bytes(notes.at, bytes), 0, "each byte is written once");
	for (i = 0; i < nr; i++)
		ok(is_border(&notes, bytes / 6 * (uint64_t)sixths[i]),
		   "a part ends at %d/6", sixths[i]);
	munmap(notes.at, bytes);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void no_element_is_split(uint64_t grain, uint64_t bytes)
{
	struct lkdf *rt = api_open("topology=numa:4 core:1");
	int i, bad = 0;

	atomic_store(&notes.nr, 0);
	notes.at = map(bytes + PAGE);
	is(lkdf_first_touch(rt, notes.at + 8, bytes, grain, note, &notes), 0,
	   "%llu bytes in elements of %llu", (unsigned long long)bytes,
	   (unsigned long long)grain);
	is(wrong_bytes(notes.at + 8, bytes), 0, "each byte is written once");
	ok(!notes.at[7] && !notes.at[bytes + 8], "and none beside them");
	for (i = 0; i < notes.nr; i++)
		bad += (notes.piece[i].begin - 8) % grain != 0;
	is(bad, 0, "no piece begins inside an element");
	munmap(notes.at, bytes + PAGE);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void zero_is_the_default(const char *options)
{
	struct lkdf *rt = api_open(options);
	uint64_t bytes = 3000000, i, nr = 0;
	char *p = malloc(bytes + 2);

	memset(p, 1, bytes + 2);
	is(lkdf_first_touch(rt, p + 1, bytes, 0, NULL, NULL), 0, "%s", options);
	for (i = 1; i <= bytes; i++)
		nr += p[i] != 0;
	is(nr, 0, "all is zeroed");
	ok(p[0] == 1 && p[bytes + 1] == 1, "nothing beside it");
	free(p);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static int fail_at_once(void *at, uint64_t bytes, void *u)
{
	(void)at;
	(void)bytes;
	atomic_fetch_add((atomic_int *)u, 1);
	return -EIO;
}

static int in_a_body(struct lkdf_ctx *c, void *arg)
{
	return lkdf_first_touch(lkdf_runtime(c), arg, 1, 0, NULL, NULL);
}

static void errors_are_told(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *k = api_kind(rt, "body", in_a_body, 0, 0);
	uint64_t bytes = 1 << 20;
	char *p = map(bytes);
	atomic_int nr = 0;

	is(lkdf_first_touch(rt, p, bytes, 0, fail_at_once, &nr), -EIO,
	   "what fn says is forwarded");
	is(nr, 1, "the other pieces are left out");
	is(lkdf_first_touch(rt, p, bytes, 0, NULL, NULL), 0,
	   "it works afterwards");
	is(lkdf_first_touch(rt, NULL, 0, 0, fail_at_once, &nr), 0,
	   "nothing is to be done for nothing");
	is(nr, 1, "fn is not called for it");
	is(lkdf_first_touch(rt, NULL, 1, 0, NULL, NULL), -EINVAL, "NULL");
	is(lkdf_first_touch(rt, p, UINT64_MAX, 0, NULL, NULL), -EINVAL,
	   "too much");
	has(lkdf_errmsg(), "2^47", "says how much may be");
	is(lkdf_first_touch(rt, p, bytes, UINT64_MAX, NULL, NULL), -EINVAL,
	   "too large elements");
	is(lkdf_first_touch(NULL, p, bytes, 0, NULL, NULL), -EINVAL,
	   "no runtime");
	is(api_call(rt, k, p), -EDEADLK, "a body cannot wait for it");
	lkdf_kind_put(k);
	munmap(p, bytes);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	tap_start(60);
	parts_are_of_nodes("topology=numa:3 core:1,workers=3",
			   (const int[]){ 2, 4 }, 2);
	parts_are_of_nodes("topology=numa:2 core:3,workers=6",
			   (const int[]){ 3 }, 1);
	parts_are_of_nodes("topology=numa:2 core:2,workers=3",
			   (const int[]){ 4 }, 1);
	no_element_is_split(24, 10 << 20);
	no_element_is_split(40, 100);
	no_element_is_split(3 << 20, 20 << 20);
	no_element_is_split(1000, 999);
	zero_is_the_default("topology=numa:4 core:2");
	zero_is_the_default("serial=yes");
	zero_is_the_default("workers=2");
	errors_are_told();
	return tap_end();
}
