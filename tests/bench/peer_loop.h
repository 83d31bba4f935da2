/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The frame of a peer program: reads questions, splits them into words and
 * prints the answers. The program defines peer_answer().
 */
#ifndef TESTS_BENCH_PEER_LOOP_H
#define TESTS_BENCH_PEER_LOOP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PEER_MAX_WORDS 8

struct question {
	int nr;
	char *word[PEER_MAX_WORDS];
	const char *why; /* set on refusal */
	double out[PEER_MAX_WORDS];
};

/* How many numbers are in out, or -1 and why. */
static int peer_answer(struct question *q);

static inline int64_t peer_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Of the whole process. */
static inline int64_t peer_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The i'th word as a number, 0 if there is none. */
static inline uint32_t peer_number(const struct question *q, int i)
{
	return i < q->nr ? (uint32_t)strtoul(q->word[i], NULL, 10) : 0;
}

static inline int peer_is(const struct question *q, const char *what)
{
	return !strcmp(q->word[0], what);
}

static inline int peer_refuse(struct question *q, const char *why)
{
	q->why = why;
	return -1;
}

static int peer_loop(void)
{
	struct question q;
	char line[512], *save;
	int i, nr;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		memset(&q, 0, sizeof(q));
		line[strcspn(line, "\n")] = '\0';
		q.word[0] = strtok_r(line, " ", &save);
		while (q.nr < PEER_MAX_WORDS - 1 && q.word[q.nr])
			q.word[++q.nr] = strtok_r(NULL, " ", &save);
		if (!q.nr || peer_is(&q, "hello")) {
			printf("ok\n");
			continue;
		}
		nr = peer_answer(&q);
		if (nr < 0) {
			printf("error %s\n", q.why);
			continue;
		}
		printf("ok");
		for (i = 0; i < nr; i++)
			printf(" %.3f", q.out[i]);
		printf("\n");
	}
	return 0;
}

#endif
