/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The user's callback, or standard error, where each text is one line:
 * "lkdf: error: module: fact value unit". Never on task paths.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

/* Levels are enum lkdf_log_level; below all of them. */
#define LOG_NONE (-1)

struct told_errors;

struct log {
	/* Set at open, constant afterwards. */
	void (*fn)(void *u, int level, const char *text); /* NULL: stderr */
	void *u;
	int level; /* the least important that is told */
	struct told_errors *errors; /* see core/failure.h; NULL: none */
};

void log_text(const struct log *log, int level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
