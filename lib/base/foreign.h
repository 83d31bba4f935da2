/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How many threads OpenMP and OpenBLAS make when the calling thread asks them
 * to work. Their functions are looked up by name, so nothing is linked; those
 * that are not in the program are left alone.
 *
 * OpenBLAS that is built on OpenMP asks that. Where it makes threads itself it
 * has one number for the whole program, which becomes 1.
 */
#ifndef BASE_FOREIGN_H
#define BASE_FOREIGN_H

struct foreign {
	void (*omp)(int nr); /* of the calling thread; NULL: there is none */
};

/* In what the program has loaded up to now. */
void foreign_find(struct foreign *f);

void foreign_threads(const struct foreign *f, int nr);

#endif
