/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Questions that tools ask a runtime while its program runs, and in particular
 * when it hangs: no worker has a part in it. A thread "lkdf/ask" sleeps in
 * poll(), and is not woken unless somebody asks. It listens at an abstract
 * socket, whose name stands in the header of the memfd "lkdf:stats"; what is
 * said there: Documentation/internals/trace-format.rst.
 *
 * Only those whom rights_trust() names get an answer, and of these only who has
 * the key: 64 random bits in that memfd. A tool opens the memfd by
 * /proc/PID/fd, which the kernel allows to whom it allows to trace the process;
 * so namespaces, capabilities and security modules count as the kernel counts
 * them, and user numbers only keep strangers from taking the thread's time.
 * Those who are answered can neither make the thread wait nor grow: requests
 * are of one size, no answer waits for room, so many may talk at a time and
 * each for so long.
 */
#ifndef RT_ASK_H
#define RT_ASK_H

struct lkdf;

/*
 * Where there is no thread or socket to be had nobody answers, and the log
 * tells. The runtime is open.
 */
void ask_open(struct lkdf *rt);

/* The thread has ended, and looks at nothing any more. */
void ask_close(struct lkdf *rt);

/* In a forked child, which has no such thread. */
void ask_abandon(struct lkdf *rt);

#endif
