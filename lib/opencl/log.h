/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Logs of compilers. Texts have #line directives, by which most compilers name
 * a line as "entry:line". NVIDIA's names the lines of the text as a whole,
 * "<kernel>:line", whatever the directives say.
 */
#ifndef OPENCL_LOG_H
#define OPENCL_LOG_H

#include <stddef.h>

/*
 * Copies the log, as much as fits, with the places that NVIDIA's compiler names
 * as the directives of text name them. size: > 0.
 */
void opencl_map_log(const char *text, const char *log, char *to, size_t size);

#endif
