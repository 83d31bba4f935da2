/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Notes of the runtimes of a program, which lkdf check asks for by the option
 * check_log; see lib/check/notes.h for the lines. NULL: there are none.
 */
#ifndef TOOLS_CHECK_NOTED_H
#define TOOLS_CHECK_NOTED_H

#include <stdbool.h>

/* Says what could not be checked; false: nothing was. */
bool notes_runtime(const char *notes, const char *program, bool has_tsan);

/* Says which wishes serial mode has not fulfilled. */
void notes_wishes(const char *notes);

/* The byte is in the copy of a reduction, which stands for one of each body. */
bool notes_have_copy(const char *notes, unsigned long address);

#endif
