/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Ends a recording whose program was killed before it could. */
#ifndef TOOLS_TRACE_FINISH_H
#define TOOLS_TRACE_FINISH_H

#include <stdint.h>

/*
 * Cuts what is behind the last whole chunk and writes the chunk END. begun:
 * bodies and spans that the runtime has stored or lost, by its memfd; those
 * that are not in the file are told as lost. Where the disk has no room for
 * that chunk the last ones before it go. 1: ended; 0: it had an end already;
 * -errno; -EBADMSG: it is no recording.
 */
int trace_finish(const char *path, uint64_t begun);

#endif
