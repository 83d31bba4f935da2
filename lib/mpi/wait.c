/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mpi/mpi.h"

#include <errno.h>

/* So many looks without a pause; then each eight pauses are twice as long. */
#define NR_EAGER 32
#define FIRST_NS 2000
#define BUSY_NS 200000 /* requests are in progress */
#define QUIET_NS 1000000

/* How long to sleep after so many looks that have found nothing. */
static int64_t pause_ns(const struct lkdf_mpi *m, unsigned nr_looks)
{
	int64_t most_ns = m->nr ? BUSY_NS : QUIET_NS, ns = FIRST_NS;

	if (nr_looks < NR_EAGER)
		return 0;
	for (nr_looks -= NR_EAGER; nr_looks >= 8 && ns < most_ns; nr_looks -= 8)
		ns *= 2;
	return ns < most_ns ? ns : most_ns;
}

/* seen: pulses before the wait; NULL: e is not a PULSE event. */
static int wait_once(struct lkdf_event e, const uint64_t *seen, int64_t ns)
{
	return seen ? lkdf_event_next(e, *seen, ns) : lkdf_event_wait(e, ns);
}

static int poll_until(struct lkdf_mpi *m, struct lkdf_event e,
		      int64_t timeout_ns)
{
	int64_t end_ns = mpi_clock_ns() + timeout_ns, ns = 0, left_ns;
	uint64_t pulses, *seen = &pulses;
	unsigned nr_looks = 0;
	int rc;

	/* A pulse that comes between two waits counts, too. */
	if (lkdf_event_pulses(e, seen))
		seen = NULL;
	while ((rc = wait_once(e, seen, ns)) == 1) {
		nr_looks = mpi_poll(m) > 0 ? 0 : nr_looks + 1;
		ns = pause_ns(m, nr_looks);
		if (timeout_ns < 0)
			continue;
		left_ns = end_ns - mpi_clock_ns();
		if (left_ns <= 0)
			return wait_once(e, seen, 0);
		ns = ns < left_ns ? ns : left_ns;
	}
	return rc;
}

int lkdf_mpi_wait(struct lkdf_mpi *m, struct lkdf_event e, int64_t timeout_ns)
{
	int is_main = 0;

	if (!m)
		return -EINVAL;
	if (!m->is_funneled || timeout_ns < -1)
		return lkdf_event_wait(e, timeout_ns);
	MPI_Is_thread_main(&is_main);
	if (!is_main)
		return -EPERM;
	return poll_until(m, e, timeout_ns);
}
