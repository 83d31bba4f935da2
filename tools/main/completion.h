/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf completion: values that are more than a word of a table. */
#ifndef TOOLS_MAIN_COMPLETION_H
#define TOOLS_MAIN_COMPLETION_H

/* A line of the answer. */
void completion_offer(const char *word, const char *help);

/*
 * Names of the runtime's options, or the values of one: typed is all of
 * "name=value,..." so far, of which the shell has the end, token, as a word.
 */
void completion_options(const char *typed, const char *token);

/* CPUs that are online, all and by node. */
void completion_cpus(void);

#endif
