/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The user's callback, or silence: the library prints nothing. Lines read
 * "module: fact value unit". Never on task paths.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

/* Levels are enum lkdf_log_level. */
struct log {
	/* Set at open, constant afterwards. */
	void (*fn)(void *u, int level, const char *text);
	void *u;
	int level;
};

void log_text(const struct log *log, int level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
