/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The answers of all runtimes of a process to one question, printed. */
#ifndef TOOLS_STAT_ANSWERS_H
#define TOOLS_STAT_ANSWERS_H

#include "stat/stats.h"

struct question {
	const char *verb;
	const char *schema; /* of the object that holds those of runtimes */
	enum lkdf_ask_word text, json;
	bool tells_calls; /* threads in system calls, too: member "threads" */
};

/*
 * Asks the runtimes of the process, by number or name. An exit code, that of
 * the last runtime that did not answer: it has been said why.
 */
int answers_print(const struct question *q, const char *process, bool is_json);

#endif
