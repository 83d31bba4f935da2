/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Names, kinds, graphs and lanes of a recording, which records speak of. */
#ifndef TRACE_WORDS_H
#define TRACE_WORDS_H

#include "trace/file.h"

struct trace;

/* The thread that writes the recording only. */
struct words {
	struct trace *t;
	struct trace_file *file;
	uint32_t nr_names; /* in the file */
	uint8_t lanes[LKDF_MAX_LANES / 8]; /* of devices: a bit for each told */
};

/* Those that are new: they come before the slices that speak of them. */
void words_write(struct words *w);

#endif
