/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The other end of a connection to the thread "lkdf/ask": a tool, or whoever
 * says so. Nothing here waits. The thread only.
 */
#ifndef RT_ASK_PEER_H
#define RT_ASK_PEER_H

#include <stdbool.h>
#include <stdint.h>

struct lkdf;

/*
 * Reads one request and answers it; what is no request, or has not the key, has
 * no answer. True: it records from now on, until peer_stop() is called.
 */
bool peer_answer(struct lkdf *rt, int fd, uint64_t key);

/* It has said something, or is gone, or the runtime closes. */
void peer_stop(struct lkdf *rt, int fd);

#endif
