/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "signal/src_self.h"

#include "base/clock.h"
#include "signal/workers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

int src_self_open(struct workers *b)
{
	int i;

	for (i = 0; i < b->nr; i++)
		b->of[i].schedstat = OWN_FD_NONE;
	b->has_self = true;
	return 0;
}

void src_self_close(struct workers *b)
{
	int i;

	for (i = 0; b->has_self && i < b->nr; i++)
		own_fd_close(&b->of[i].schedstat);
	b->has_self = false;
}

void src_self_enter(struct workers *b, int executor,
		    const struct workers_own *own)
{
	struct worker_facts *f = &b->of[executor];

	(void)own;
	/* The file is the thread's, and another may have been it before. */
	own_fd_close(&f->schedstat);
	f->schedstat = own_fd_of(
		open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
}

/* "run wait slices": the second. False: this kernel does not say. */
static bool read_delay(int fd, uint64_t *ns)
{
	char text[96], *at;
	ssize_t n = -1;

	if (fd >= 0)
		n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = '\0';
	strtoull(text, &at, 10);
	if (*at != ' ')
		return false;
	*ns = strtoull(at, NULL, 10);
	return true;
}

void src_self_look(struct workers *b, int executor)
{
	struct worker_facts *f = &b->of[executor];
	struct rusage u;
	uint64_t delay;

	if (getrusage(RUSAGE_THREAD, &u))
		return;
	a_store(&f->user_ns, ns_of(&u.ru_utime), relaxed);
	a_store(&f->system_ns, ns_of(&u.ru_stime), relaxed);
	a_store(&f->nr_slept, (uint64_t)u.ru_nvcsw, relaxed);
	a_store(&f->nr_forced, (uint64_t)u.ru_nivcsw, relaxed);
	if (read_delay(f->schedstat.fd, &delay)) {
		a_store(&f->run_delay_ns, delay, relaxed);
		a_store(&f->has_delay, true, relaxed);
	}
	a_store(&f->at_ns, clock_now_ns(), relaxed);
}

void src_self_mark(struct workers_mark *m)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u))
		return;
	m->user_ns = ns_of(&u.ru_utime);
	m->system_ns = ns_of(&u.ru_stime);
	m->nr_faults = (uint64_t)u.ru_minflt;
}
