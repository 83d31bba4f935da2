/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * liblkdf-malloc.so: the node allocator under the malloc interface, for
 * LD_PRELOAD. A thread gets memory of the node it runs on; freed blocks go
 * home wherever they are freed. Where glibc ends the process, this does, too,
 * with a line on stderr.
 *
 * LKDF_MALLOC is a list of words: "stats" prints a line per node at exit,
 * "strict" refuses memory of other nodes, "huge" asks for huge pages; another
 * word is told on stderr, once.
 */
#ifndef MALLOC_MALLOC_H
#define MALLOC_MALLOC_H

/* The thread ends; cache is its struct cache. */
void malloc_thread_end(void *cache);

#endif
