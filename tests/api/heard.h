/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A runtime whose log is kept, and what tests of memory share. */
#ifndef TESTS_API_HEARD_H
#define TESTS_API_HEARD_H

#include "tests/api/api.h"

#include <pthread.h>

/* What the runtime says. */
static struct {
	pthread_mutex_t lock;
	char text[64][512];
	int level[64], nr;
} said = { .lock = PTHREAD_MUTEX_INITIALIZER };

__attribute__((unused)) static void listen(void *u, int level, const char *text)
{
	(void)u;
	pthread_mutex_lock(&said.lock);
	if (said.nr < 64) {
		said.level[said.nr] = level;
		snprintf(said.text[said.nr++], 512, "%s", text);
	}
	pthread_mutex_unlock(&said.lock);
}

__attribute__((unused)) static struct lkdf *open_heard(const char *options)
{
	struct lkdf *rt;

	said.nr = 0;
	must(lkdf_open_with(
		ATTR(lkdf_open_attr, .options = options, .log = listen), &rt));
	said.nr = 0;
	return rt;
}

/* The next line, in order; "" if there is none. */
__attribute__((unused)) static const char *line(int i)
{
	return i < said.nr ? said.text[i] : "";
}

__attribute__((unused)) static uint64_t stat_of(struct lkdf *rt,
						const char *name)
{
	uint64_t v = UINT64_MAX;

	if (lkdf_stat(rt, name, &v))
		printf("# %s: %s\n", name, lkdf_errmsg());
	return v;
}

__attribute__((unused)) static void *alloc(struct lkdf_place *p, uint64_t bytes,
					   const char *label)
{
	void *block;

	must(lkdf_alloc(p, LKDF_MEM_OWN, bytes, 0, label, &block));
	return block;
}

#endif
