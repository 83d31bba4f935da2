/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All that lkdf check knows of a runtime: fibers of the sanitizer, on which
 * bodies run one after another on one thread, and tokens, addresses by which
 * one fiber tells another that it comes after. Between two bodies there is no
 * other order.
 *
 * A fiber has a stack of its own, for the locals of two bodies at one address
 * would be a race. It begins with the clock of its creator, so a mother, who
 * does nothing, makes all of them. A body whose predecessor was the last on a
 * fiber goes on there, which is true and saves a fiber. At most CHECK_FIBERS
 * exist beside those whose bodies wait in joins: clang's runtime forgets a body
 * 255 fibers back. Beyond that bodies share the idle fiber that the seed picks,
 * and a race of two that share one is not seen.
 *
 * A token is never used twice: what the sanitizer knows of an address it
 * forgets when the memory is freed. Memory that is asked for
 * again is new.
 */
#ifndef CHECK_FIBER_H
#define CHECK_FIBER_H

#include "check/order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHECK_FIBERS 240
#define CHECK_NAME 320 /* of a body, with its end */
/*
 * Suspended bodies: gcc's runtime has 8128 slots, and each takes some of the
 * mappings that a process may have (vm.max_map_count).
 */
#define CHECK_DEEPEST 4000

struct check;
struct fiber;

/* The last body on a fiber, for one that comes after it. */
struct check_place {
	struct fiber *fiber; /* NULL: nowhere */
	uint64_t body;
};

struct check_call {
	/* On the fiber: acquires, calls, releases. */
	void (*run)(struct check_call *call);
	const char *name; /* in reports */
	bool stays; /* where after is the last, though others are left */

	/* Set before run. */
	void *stack;
	size_t stack_size;
	struct check_place place;
};

/* -ENOSYS: the program has no sanitizer, or it cannot be used; err() has it. */
int check_open(struct order *order, bool hears_atomics, struct check **out);
void check_close(struct check *ch);

/* The library sees the program's sanitizer. */
bool check_is_linked(void);

/* Bodies so far, and those that shared a fiber. */
void check_count(const struct check *ch, uint64_t *bodies, uint64_t *shared);

/*
 * Runs it on the fiber of after, if that body is still the last one there, else
 * on another one. -EOVERFLOW: too many bodies wait.
 */
int fiber_run(struct check *ch, struct check_call *call,
	      struct check_place after);

/* Around the program's function: its locks and atomics give no order there. */
void check_enter(struct check *ch);

/* In it: from here to its end they do, for threads that lkdf knows nothing of.
 */
void check_confide(struct check *ch);
void check_leave(struct check *ch);

/* Memory for nr tokens, zeroed; NULL: none is left. */
uint64_t *check_tokens(size_t nr);
void check_forget(uint64_t *tokens);

/* The fiber tells, or hears, all that has been told. NULL: nothing. */
void check_release(struct check *ch, uint64_t *token);
void check_acquire(struct check *ch, uint64_t *token);

/* The fiber has what one has at a time: not an order, but reports name it. */
void check_hold(struct check *ch, uint64_t *token);
void check_drop(struct check *ch, uint64_t *token);

/* The token of a life of an event; NULL: no memory. */
uint64_t *event_token(struct check *ch, const void *slot, uint32_t gen);

/* An access of the library to memory of the program, for a body. */
void check_reads(struct check *ch, const void *p, size_t size);
void check_writes(struct check *ch, void *p, size_t size);

/* See check/device.h. */
struct check_devices {
	uint64_t token[3];
	struct check_place stepped; /* the last step of a launcher */
};

struct check_devices *check_devices(struct check *ch);

/* A fiber that hears to comes after all that from was told. */
void check_pass(struct check *ch, uint64_t *from, uint64_t *to);

/* Bytes for the body that runs, until it ends; NULL: no memory. */
void *check_scratch(struct check *ch, size_t size);

/* A block that nobody has touched, of the sanitizer's allocator; NULL. */
void *check_alloc(size_t align, size_t size);
void check_free(void *p);

#endif
