/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a program leaves in the library that no schedule may change, as a list
 * of facts: the same program in parallel and in serial mode leaves the same
 * list. It is independent of the model except for one question: could more
 * than one error be the first? Then only that there is one is a fact.
 */
#ifndef TESTS_ORACLE_OUTCOME_H
#define TESTS_ORACLE_OUTCOME_H

#include "tests/oracle/world.h"

struct fact {
	const char *what;
	uint32_t call, rep, node;
	uint64_t value;
	char *text; /* of an error, malloc'ed, or NULL */
};

struct outcome {
	struct fact *fact;
	size_t nr, cap;
};

/* After all has ended, before the world is freed. */
void outcome_take(struct world *w, struct outcome *o);

/* Calls wrong() if they differ. True: they are the same. */
bool outcome_same(const struct outcome *parallel, const struct outcome *serial);

/* To be filled again; keeps the memory. */
void outcome_reset(struct outcome *o);
void outcome_free(struct outcome *o);

#endif
