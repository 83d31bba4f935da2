/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A rank that dies. A thread sleeps in poll() on the processes of the other
 * ranks of this machine. A process that ends before lkdf_mpi_close() ends this
 * rank, too, which the launcher sees on all machines. The thread makes no call
 * of MPI: another thread may hang in one for what the dead rank owes.
 *
 * lkdf_mpi_close() says by an eventfd that it begins, waits for all ranks in a
 * barrier, and says that it has passed. A rank that ends before this one has
 * begun is dead. A rank that ends between the two has passed the barrier or is
 * dead: in the first case this rank passes, too, and soon.
 */
#include "mpi/mpi.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * This rank has so long to pass the barrier. In slices: whoever was stopped, by
 * a debugger, loses one of them.
 */
#define NR_SLICES 40
#define SLICE_MS 100
/* Other ranks see who was the first to die, before they see this one end. */
#define LAST_MS 100

/* For a rank: a number of a process means something in its namespace only. */
struct process {
	int rank, pid;
	uint64_t namespace;
};

/* For lkdf_mpi_close(): what was written to the eventfd, or more. */
enum stage {
	STAGE_OPEN,
	STAGE_BEGUN,
	STAGE_PASSED,
};

struct watch {
	/* Constant while the thread runs. */
	pthread_t thread;
	int self;
	int closing; /* the eventfd, which is fds[nr].fd */
	unsigned nr;
	int *ranks; /* nr, of those whose pidfd is at the same place */
	struct pollfd *fds; /* nr + 1 */

	/* The thread's own. */
	uint64_t stage;
};

/* ---- the thread --------------------------------------------------------- */

static enum stage read_stage(struct watch *w)
{
	eventfd_t more;

	if (!eventfd_read(w->closing, &more))
		w->stage += more;
	return w->stage >= STAGE_PASSED ? STAGE_PASSED : (enum stage)w->stage;
}

/* No handler of exit() runs: it may wait for a thread that hangs in MPI. */
__attribute__((noreturn)) static void end_this_rank(struct watch *w, int rank)
{
	dprintf(STDERR_FILENO,
		"lkdf: mpi: rank %d is gone: its process has ended before "
		"lkdf_mpi_close(), and rank %d ends, too\n",
		rank, w->self);
	poll(NULL, 0, LAST_MS);
	_exit(EXIT_FAILURE);
}

static bool has_passed(struct watch *w)
{
	int i;

	for (i = 0; i < NR_SLICES; i++) {
		poll(&w->fds[w->nr], 1, SLICE_MS);
		if (read_stage(w) == STAGE_PASSED)
			return true;
	}
	return false;
}

static int find_dead(const struct watch *w)
{
	unsigned i;

	for (i = 0; i < w->nr; i++)
		if (w->fds[i].revents)
			return w->ranks[i];
	return -1;
}

static void *watch_main(void *arg)
{
	struct watch *w = arg;
	enum stage stage;
	int dead;

	do {
		poll(w->fds, w->nr + 1, -1);
		dead = find_dead(w);
		/* After the look: who has passed the barrier saw us begin. */
		stage = read_stage(w);
		if (dead >= 0 && (stage == STAGE_OPEN ||
				  (stage == STAGE_BEGUN && !has_passed(w))))
			end_this_rank(w, dead);
	} while (dead < 0 && stage != STAGE_PASSED);
	return NULL;
}

/* ---- its life ----------------------------------------------------------- */

static struct process own_process(int rank)
{
	struct process p = { .rank = rank, .pid = getpid() };
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st))
		p.namespace = st.st_ino;
	return p;
}

/* free_watch() closes them, after a failure, too. */
static int open_processes(struct watch *w, const struct machine *machine)
{
	const struct process *all = machine->all;
	struct process own = all[machine->rank];
	int i, fd;

	for (i = 0; i < machine->size; i++) {
		if (i == machine->rank || all[i].namespace != own.namespace)
			continue;
		fd = (int)syscall(SYS_pidfd_open, all[i].pid, 0);
		if (fd < 0 && errno == ESRCH)
			end_this_rank(w, all[i].rank);
		if (fd < 0)
			return -errno;
		w->fds[w->nr] = (struct pollfd){ .fd = fd, .events = POLLIN };
		w->ranks[w->nr++] = all[i].rank;
	}
	w->closing = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->fds[w->nr] = (struct pollfd){ .fd = w->closing, .events = POLLIN };
	return w->closing < 0 ? -errno : 0;
}

static int start_thread(struct watch *w)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&w->thread, NULL, watch_main, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!rc)
		pthread_setname_np(w->thread, "lkdf/mpi");
	return -rc;
}

static void free_watch(struct watch *w)
{
	unsigned i;

	for (i = 0; i < w->nr; i++)
		close(w->fds[i].fd);
	if (w->closing >= 0)
		close(w->closing);
	free(w->fds);
	free(w->ranks);
	free(w);
}

static int start_watch(struct lkdf_mpi *m, const struct machine *machine)
{
	struct watch *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return -ENOMEM;
	w->self = m->rank;
	w->closing = -1;
	w->fds = calloc((size_t)machine->size + 1, sizeof(*w->fds));
	w->ranks = calloc((size_t)machine->size, sizeof(*w->ranks));
	rc = w->fds && w->ranks ? open_processes(w, machine) : -ENOMEM;
	if (!rc && w->nr)
		rc = start_thread(w);
	if (!rc && w->nr)
		m->watch = w;
	else
		free_watch(w);
	return rc;
}

int mpi_watch(struct lkdf_mpi *m, bool outlives)
{
	struct process own = own_process(m->rank);
	struct machine machine;
	int rc = mpi_gather(m->comm, &own, sizeof(own), &machine);

	if (rc)
		return rc;
	if (!outlives)
		rc = start_watch(m, &machine);
	free(machine.all);
	/* Other ranks have opened: this one goes on as they do. */
	if (rc)
		fprintf(stderr,
			"lkdf: mpi: rank %d does not see whether another one "
			"dies: %s\n",
			m->rank, strerror(-rc));
	return 0;
}

int mpi_leave(struct lkdf_mpi *m)
{
	if (m->watch)
		eventfd_write(m->watch->closing, STAGE_BEGUN);
	/* MPICH itself may find a rank that is gone. */
	return MPI_Barrier(m->comm) ? -EIO : 0;
}

void mpi_unwatch(struct lkdf_mpi *m)
{
	struct watch *w = m->watch;

	if (!w)
		return;
	eventfd_write(w->closing, STAGE_PASSED);
	pthread_join(w->thread, NULL);
	free_watch(w);
	m->watch = NULL;
}
