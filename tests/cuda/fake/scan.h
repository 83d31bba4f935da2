/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What of a text of CUDA C no macro can say for the CPU's compiler. */
#ifndef FAKE_SCAN_H
#define FAKE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SCAN_KERNELS 64

/* Its name and what stands in __launch_bounds__(). */
struct scan_kernel {
	char *name, *bounds;
};

struct scan {
	struct scan_kernel kernels[SCAN_KERNELS];
	size_t nr_kernels;
	bool has_barriers;
};

/*
 * A preprocessed text goes to the file: variables of a block become those of a
 * thread of the CPU, for it runs one block at a time. Templates are no kernels.
 */
void scan_text(struct scan *s, const char *text, FILE *to);
void scan_free(struct scan *s);

#endif
