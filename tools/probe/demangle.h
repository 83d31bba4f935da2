/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Names of C++ as their source has them: by the demangler of libstdc++.so.6 or
 * of libc++abi.so.1, which is loaded when the first such name comes; where
 * there is neither, names stay as they are.
 */
#ifndef TOOLS_PROBE_DEMANGLE_H
#define TOOLS_PROBE_DEMANGLE_H

#include <stddef.h>

/* name of at most size bytes, in place; one that is too long is cut. */
void demangle(char *name, size_t size);

#endif
