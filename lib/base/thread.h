/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Each thread has a record behind one 8-byte initial-exec TLS pointer,
 * so that a dlopen'ed library works too. It holds the error text and who this
 * thread is to a runtime. It is released through one pthread key. The first
 * threads at a time have static ones, so that no call of theirs allocates it;
 * one that is shared stands in when memory is out.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ERRMSG_SIZE 256
#define THREAD_MEMORIES 4
#define THREAD_STOCKS 8
#define THREAD_USES 4

struct thread {
	/*
	 * This thread only: what it keeps of heaps, by their id; the newest
	 * first. memory_end gives it back when the thread ends; NULL: nothing.
	 */
	struct {
		uint64_t id;
		void *cache;
	} memory[THREAD_MEMORIES];
	void (*memory_end)(struct thread *t);
	bool keeps_first; /* of memory: it stays until the thread ends */

	/* Stocks of free tasks and events of runtimes, by their id. */
	struct {
		uint64_t id;
		void *stock;
	} stock[THREAD_STOCKS];
	void (*stock_end)(struct thread *t);

	/* This thread only. */
	char errmsg[ERRMSG_SIZE];

	/* This thread only: the executor it is, NULL outside the runtime. */
	void *executor;

	/* This thread only: data that its last task uses, to guess the next;
	 * addresses, which may be gone. */
	uintptr_t used[THREAD_USES];

	/* This thread only: the loop whose function it is in, and the task of
	 * that piece of it; NULL: in none. */
	void *loop, *loop_task;

	/* This thread only: the fiber of lkdf check on which it runs a body,
	 * see check/fiber.c; NULL: none. */
	void *fiber;

	/* This thread only, where it is no executor: the context of the loop's
	 * block that it is in; NULL: in none. See sched/current.h. */
	void *current;
};

/* This thread's; NULL: none yet. */
extern __thread struct thread *thread_record
	__attribute__((tls_model("initial-exec")));

struct thread *thread_record_create(void);

/* This thread's record, made by its first call; never NULL. */
static inline struct thread *thread_self(void)
{
	return __builtin_expect(thread_record != NULL, 1)
		       ? thread_record
		       : thread_record_create();
}

/*
 * A thread of ours brings its record along, so that it never shares the
 * stand-in; first thing it does. The storage outlives the thread.
 */
void thread_adopt(struct thread *record);

/* A thread of ours is about to end: gives back what it keeps. */
void thread_retire(void);

/*
 * In a forked child, on the thread that forked: it may have been one of ours,
 * whose record lies in memory of the runtime. It gets one of its own, with the
 * same memory and stocks, and is in no body and no loop.
 */
void thread_forked(void);

/* The stand-in, which several threads may have at once. */
bool thread_is_shared(const struct thread *t);

#endif
