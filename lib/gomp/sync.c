/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Locks, and the blocks that one thread at a time is in. */
#include "gomp/calls.h"
#include "gomp/gomp.h"

#include "base/lock.h"

#include <stdlib.h>

static struct lock critical, atomic;

void GOMP_critical_start(void)
{
	lock_take(&critical);
}

void GOMP_critical_end(void)
{
	lock_give(&critical);
}

/* The name's pointer, zero at first, is the lock. */
void GOMP_critical_name_start(void **name)
{
	lock_take((struct lock *)name);
}

void GOMP_critical_name_end(void **name)
{
	lock_give((struct lock *)name);
}

void GOMP_atomic_start(void)
{
	lock_take(&atomic);
}

void GOMP_atomic_end(void)
{
	lock_give(&atomic);
}

/* ---- locks of the program ----------------------------------------------- */

/*
 * Each call has a default version, OpenMP 3.0's, and one for programs of gcc
 * before 4.4. Fortran's names end in _: a simple lock is passed as in C. A
 * nestable one is a variable of 8 bytes there, too few for it: init puts a
 * pointer to a lock of the heap there, and destroy frees that.
 */
#define VERSIONS(name)                                      \
	__asm__(".symver " #name "30, " #name "@@OMP_3.0"); \
	__asm__(".symver " #name "25, " #name "@OMP_1.0")

/* A function under its name in C or in Fortran. */
#define VERSION(type, name, arg, of) \
	type name(arg);              \
	type name(arg)               \
	{                            \
		return of;           \
	}

/* Both versions are one function. */
#define SIMPLE(type, name, call)                          \
	VERSION(type, name##30, struct lock *l, call(l))  \
	VERSION(type, name##25, struct lock *l, call(l))  \
	VERSION(type, name##_30, struct lock *l, call(l)) \
	VERSION(type, name##_25, struct lock *l, call(l)) \
	VERSIONS(name);                                   \
	VERSIONS(name##_);

#define NESTED(type, name, call, far, old)                  \
	VERSION(type, name##30, struct nest *n, call(n))    \
	VERSION(type, name##25, struct nest_25 *n, old(n))  \
	VERSION(type, name##_30, struct nest **n, far)      \
	VERSION(type, name##_25, struct nest_25 *n, old(n)) \
	VERSIONS(name);                                     \
	VERSIONS(name##_);

static void simple_init(struct lock *l)
{
	a_store(&l->word, 0, relaxed);
}

static void simple_destroy(struct lock *l)
{
	(void)l;
}

static void simple_set(struct lock *l)
{
	lock_take(l);
}

static void simple_unset(struct lock *l)
{
	lock_give(l);
}

static int simple_test(struct lock *l)
{
	uint32_t open = 0;

	/* [gomp.try] as lock_take(); pairs with [lock.give]. */
	return a_cas(&l->word, &open, lock_owner(), acquire, relaxed);
}

SIMPLE(void, omp_init_lock, simple_init)
SIMPLE(void, omp_destroy_lock, simple_destroy)
SIMPLE(void, omp_set_lock, simple_set)
SIMPLE(void, omp_unset_lock, simple_unset)
SIMPLE(int, omp_test_lock, simple_test)

/*
 * The owner alone writes count and owner; another task that reads the owner
 * finds another than itself. A task owns it, not a thread.
 */
struct nest {
	struct lock lock;
	int32_t count;
	_Atomic(const void *) owner;
};

/* The word of the lock has the thread that owns it. */
struct nest_25 {
	struct lock lock;
	int32_t count;
};

_Static_assert(sizeof(struct nest) == 16, "as libgomp has it");
_Static_assert(sizeof(struct nest_25) == 8, "as libgomp had it");

static const void *nest_self(void)
{
	return gomp_self.task ? gomp_self.task : &gomp_self;
}

static bool nest_has(struct nest *n)
{
	return a_load(&n->owner, relaxed) == nest_self();
}

static int nest_enter(struct nest *n)
{
	a_store(&n->owner, nest_self(), relaxed);
	return ++n->count;
}

static void nest_init(struct nest *n)
{
	*n = (struct nest){ .count = 0 };
}

static void nest_destroy(struct nest *n)
{
	(void)n;
}

static void nest_set(struct nest *n)
{
	if (!nest_has(n))
		lock_take(&n->lock);
	nest_enter(n);
}

static int nest_test(struct nest *n)
{
	return nest_has(n) || simple_test(&n->lock) ? nest_enter(n) : 0;
}

static void nest_unset(struct nest *n)
{
	if (--n->count)
		return;
	a_store(&n->owner, NULL, relaxed);
	lock_give(&n->lock);
}

/* Fortran's. */
static void far_init(struct nest **n)
{
	*n = malloc(sizeof(**n));
	if (!*n)
		gomp_die("no memory for a lock");
	nest_init(*n);
}

static void far_destroy(struct nest **n)
{
	free(*n);
	*n = NULL;
}

static bool old_has(struct nest_25 *n)
{
	return (a_load(&n->lock.word, relaxed) & FUTEX_TID_MASK) ==
	       lock_owner();
}

static void old_init(struct nest_25 *n)
{
	*n = (struct nest_25){ .count = 0 };
}

static void old_destroy(struct nest_25 *n)
{
	(void)n;
}

static void old_set(struct nest_25 *n)
{
	if (!old_has(n))
		lock_take(&n->lock);
	n->count++;
}

static int old_test(struct nest_25 *n)
{
	return old_has(n) || simple_test(&n->lock) ? ++n->count : 0;
}

static void old_unset(struct nest_25 *n)
{
	if (!--n->count)
		lock_give(&n->lock);
}

NESTED(void, omp_init_nest_lock, nest_init, far_init(n), old_init)
NESTED(void, omp_destroy_nest_lock, nest_destroy, far_destroy(n), old_destroy)
NESTED(void, omp_set_nest_lock, nest_set, nest_set(*n), old_set)
NESTED(void, omp_unset_nest_lock, nest_unset, nest_unset(*n), old_unset)
NESTED(int, omp_test_nest_lock, nest_test, nest_test(*n), old_test)
