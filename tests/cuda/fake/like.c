/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Drivers and cards other than the one that golden.txt was recorded on:
 * FAKE_CUDA_LIKE=WORD,WORD,... makes the library behave like them. A word that
 * is none ends the program.
 */
#include "tests/cuda/fake/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[NR_LIKES] = {
	[LIKE_CURRENT] = "current",   [LIKE_NO_POOLS] = "no_pools",
	[LIKE_NO_WORDS] = "no_words", [LIKE_PROHIBITED] = "prohibited",
	[LIKE_OLD] = "old",	      [LIKE_SM_100] = "sm_100",
	[LIKE_AT_ONCE] = "at_once",
};

static bool is_like[NR_LIKES];

bool like(enum like what)
{
	return is_like[what];
}

int driver_version(void)
{
	return like(LIKE_OLD) ? 12020 : 13000;
}

static void add_word(const char *word, size_t size)
{
	unsigned i;

	for (i = 0; i < NR_LIKES; i++)
		if (strlen(words[i]) == size && !memcmp(words[i], word, size)) {
			is_like[i] = true;
			return;
		}
	fprintf(stderr, "FAKE_CUDA_LIKE: no %.*s\n", (int)size, word);
	abort();
}

__attribute__((constructor)) static void read_words(void)
{
	const char *s = getenv("FAKE_CUDA_LIKE");
	size_t size;

	for (; s && *s; s += size + (s[size] == ',')) {
		size = strcspn(s, ",");
		add_word(s, size);
	}
}
