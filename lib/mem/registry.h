/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All heaps of the process: the one list that fork() and the end of a thread
 * need. fork() takes every lock of every heap first, so the child finds each
 * of them whole; then it empties the caches of the threads it does not have.
 */
#ifndef MEM_REGISTRY_H
#define MEM_REGISTRY_H

struct cache;
struct heap;

/* Gives the heap its id. */
void registry_add(struct heap *h);
void registry_del(struct heap *h);

/* The thread ends, and with it its cache, if that heap still is. */
void registry_cache_end(unsigned long id, struct cache *c);

#endif
