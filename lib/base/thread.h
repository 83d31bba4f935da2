/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One record per thread behind exactly one 8-byte initial-exec TLS pointer, so
 * that a dlopen'ed library works too. It holds the error text and who this
 * thread is to a runtime. It is released through one pthread key; a static
 * record stands in when memory is out.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#define ERRMSG_SIZE 256

struct thread {
	/* This thread only. */
	char errmsg[ERRMSG_SIZE];

	/* This thread only: the executor it is, NULL outside the runtime. */
	void *executor;
};

/* Never NULL. */
struct thread *thread_self(void);

/*
 * A thread of ours brings its record along, so that it never shares the
 * stand-in; first thing it does. The storage outlives the thread.
 */
void thread_adopt(struct thread *record);

#endif
