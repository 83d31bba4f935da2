/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The place where an error is born says why, with values; all others forward
 * the number. The text is this thread's, read by lkdf_errmsg().
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/* Stores the text for this thread; returns its first argument. */
int err(int rc, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* This thread has no text, before a call that may give one. */
void err_clear(void);

/* The text of this thread's last err(), "" if none. */
const char *err_text(void);

#endif
