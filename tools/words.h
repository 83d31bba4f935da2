/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Numbers as people read them: three digits and a unit. page.js has the same
 * rules, so that the page and the text say the same.
 */
#ifndef TOOLS_WORDS_H
#define TOOLS_WORDS_H

#include <stdint.h>

/* Room for any of them, by value so that calls can stand in a list. */
struct words {
	char text[32];
};

struct words words_time(uint64_t ns); /* "1.06 s" */
struct words words_share(double share); /* 0 .. 1: "7.5 %" */
struct words words_count(uint64_t n); /* "7 040" */
struct words words_bytes(uint64_t n); /* "219 MiB" */

#endif
