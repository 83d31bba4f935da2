/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Asks a runtime of a running process, at the socket that its memfd names. Its
 * answer is hostile; it may also be stopped and answer nothing.
 */
#ifndef TOOLS_STAT_ASK_H
#define TOOLS_STAT_ASK_H

#include "stat/stats.h"

/* The bytes of one answer's text. */
#define ASK_MAX_TEXT (1u << 22)

/*
 * A connection to the runtime of a process. Where that has another network
 * namespace, and it is permitted, this process goes there. -EOPNOTSUPP: it
 * answers nobody; -ENONET: it is in that namespace; -ESRCH: it has closed;
 * -errno.
 */
int ask_connect(const struct stats *s, int pid);

/* After ask_connect(), with a descriptor, or -1. 0 or -errno. */
int ask_send(const struct stats *s, int fd, enum lkdf_ask_word word, int give);

/*
 * The answer, and the descriptor that came with it, the caller's, or -1.
 * -ETIMEDOUT; -ECONNRESET: hung up; -EBADMSG: it is no answer; else as the
 * answer's error, whose text is fit to be shown.
 */
int ask_receive(int fd, struct lkdf_answer *a, int *given);

/* Says why a runtime was not asked, or refused. An exit code. */
int ask_fail(const char *verb, int pid, int rc, const struct lkdf_answer *a);

/*
 * The text that answers the word, in memory that the caller frees. 0, or as
 * above; a is for ask_fail() only.
 */
int ask_text(const struct stats *s, int pid, enum lkdf_ask_word word,
	     char **text, struct lkdf_answer *a);

#endif
