/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * liblkdf-mpi: requests of MPI are events of a runtime. A program of several
 * ranks links it beside liblkdf and MPI; MPI is initialised by the program with
 * MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED or MPI_THREAD_FUNNELED.
 *
 * The runtime asks MPI for the requests, by lkdf_poll_add(): no thread waits in
 * MPI_Wait() while workers have work. With MPI_THREAD_SERIALIZED the program
 * makes its own calls of MPI by lkdf_mpi_post() while requests are under way.
 * With MPI_THREAD_FUNNELED the main thread does all that, while it is in
 * lkdf_mpi_wait().
 */
#ifndef LKDF_MPI_H
#define LKDF_MPI_H

#include <lkdf/event.h>
#include <lkdf/task.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct lkdf_mpi;

/* This rank goes on when another one dies. */
#define LKDF_MPI_OUTLIVE 1u

struct lkdf_mpi_attr {
	uint32_t size;
	uint32_t flags; /* 0 or LKDF_MPI_OUTLIVE */
};

/**
 * lkdf_mpi_options() - this rank's share of its machine, as options
 * @comm: communicator of the ranks that divide their machines
 * @text: receives options for lkdf_open(): workers= and cpus=
 * @size: bytes of @text, 8,192 are enough
 *
 * The ranks of @comm that are on one machine and may use the same CPUs divide
 * them evenly, in the order of their numbers and by nodes of memory. A rank
 * that mpirun has bound to CPUs of its own has all of these. Where there are
 * more ranks than CPUs each has one worker, which is not bound.
 *
 * Context: collective over @comm.
 * Return: 0; -ENOSPC @size is too small; -EINVAL; -EIO MPI has failed.
 */
int lkdf_mpi_options(MPI_Comm comm, char *text, size_t size);

/**
 * lkdf_mpi_open() - let a runtime wait for requests
 * @rt:   runtime, borrowed; must outlive @out
 * @comm: communicator, which is duplicated; its errors return from now on
 *        (MPI_ERRORS_RETURN)
 * @attr: NULL, or size set by the caller
 * @out:  handle, untouched on failure
 *
 * While a rank of @comm records, the recording of each rank has its number and
 * the distance of its clock from that of rank 0, for lkdf report of all ranks.
 *
 * A rank whose process ends before lkdf_mpi_close() ends the other ranks of its
 * machine: a thread of theirs, "lkdf/mpi", writes "rank 3 is gone" to standard
 * error and calls _exit(1), after which the launcher ends those of other
 * machines. With LKDF_MPI_OUTLIVE this rank goes on.
 *
 * Where workers of this runtime are bound to a CPU that workers of another rank
 * are bound to, the rank with the lower number says so in a line on standard
 * error.
 *
 * Context: collective over @comm, one thread that is not in a body; with
 * MPI_THREAD_FUNNELED the main thread.
 * Return: 0; -ENOTSUP MPI was initialised for one thread, or not at all, or
 * this is not the main thread with MPI_THREAD_FUNNELED; -EINVAL; -ENOMEM; -EIO
 * MPI has failed.
 */
int lkdf_mpi_open(struct lkdf *rt, MPI_Comm comm,
		  const struct lkdf_mpi_attr *attr, struct lkdf_mpi **out);

/**
 * lkdf_mpi_close() - the end of a handle
 * @m: handle, or NULL
 *
 * Waits until all ranks are here; the process of each may end afterwards.
 *
 * Context: collective over the communicator, one thread that is not in a body,
 * before MPI_Finalize().
 * Return: 0; -EBUSY requests or functions are under way: nothing has changed;
 * -EIO MPI has failed, and the handle has ended.
 */
int lkdf_mpi_close(struct lkdf_mpi *m);

/**
 * lkdf_mpi_rank() - this process's number in the communicator
 * @m: handle
 *
 * Return: 0 .. lkdf_mpi_size() - 1.
 */
int lkdf_mpi_rank(const struct lkdf_mpi *m);

/**
 * lkdf_mpi_size() - the number of ranks
 * @m: handle
 *
 * Return: 1 or more.
 */
int lkdf_mpi_size(const struct lkdf_mpi *m);

/**
 * lkdf_mpi_from() - say from whom a request receives
 * @m:       handle
 * @request: request, which is handed over next, by lkdf_mpi_event(),
 *           lkdf_mpi_events() or lkdf_mpi_hold()
 * @peer:    rank, or MPI_ANY_SOURCE
 * @tag:     tag, or MPI_ANY_TAG
 *
 * MPI does not tell to whom a request belongs. lkdf_why() names peer and tag
 * with the task that waits, and lkdf report has the peer in the row of this
 * rank. The library forgets both at the hand-over; of a request that is never
 * handed over, with lkdf_mpi_close() or the next call for the same handle.
 *
 * Context: any thread, bodies included; makes no call of MPI and does not wait.
 * Return: 0; -EINVAL; -ENOMEM.
 */
int lkdf_mpi_from(struct lkdf_mpi *m, MPI_Request request, int peer, int tag);

/**
 * lkdf_mpi_to() - say to whom a request sends
 * @m:       handle
 * @request: as for lkdf_mpi_from()
 * @peer:    rank
 * @tag:     tag
 *
 * Context: as lkdf_mpi_from().
 * Return: as lkdf_mpi_from().
 */
int lkdf_mpi_to(struct lkdf_mpi *m, MPI_Request request, int peer, int tag);

/**
 * lkdf_mpi_event() - an event that fires when a request is complete
 * @m:       handle
 * @request: request of MPI, which the library takes over: MPI_REQUEST_NULL
 *           afterwards. A persistent one stays the program's, which keeps a
 *           copy
 * @status:  written before the event fires; or MPI_STATUS_IGNORE
 * @out:     event with one reference, dropped by lkdf_event_wait() or
 *           lkdf_event_put(); untouched on failure
 *
 * MPI_REQUEST_NULL, and a persistent request that is not started, are complete:
 * a halo at the border may list what it has no neighbour for.
 *
 * A request that fails makes the event's error: -EMSGSIZE for a message longer
 * than its buffer, -EIO else. MPI_Error_string() of @status tells the text.
 *
 * Context: any thread, bodies included; makes no call of MPI and does not wait.
 * Return: 0; -EAGAIN all slots of events are in use; -EINVAL; -ENOMEM. The
 * request stays the caller's on failure.
 */
int lkdf_mpi_event(struct lkdf_mpi *m, MPI_Request *request, MPI_Status *status,
		   struct lkdf_event *out);

/**
 * lkdf_mpi_events() - an event that fires when all of several are complete
 * @m:        handle
 * @nr:       1 .. 2^20 - 1
 * @requests: nr requests, as those of lkdf_mpi_event()
 * @statuses: nr; or MPI_STATUSES_IGNORE
 * @out:      event with one reference, with the first error
 *
 * Context: as lkdf_mpi_event().
 * Return: as lkdf_mpi_event(); all requests stay the caller's on failure.
 */
int lkdf_mpi_events(struct lkdf_mpi *m, unsigned nr, MPI_Request *requests,
		    MPI_Status *statuses, struct lkdf_event *out);

/**
 * lkdf_mpi_hold() - a task ends when its body has returned and a request is
 * complete
 * @c:       context of the body
 * @m:       handle
 * @request: request, as that of lkdf_mpi_event()
 * @status:  written before the task ends; or MPI_STATUS_IGNORE
 *
 * An error of the request is the task's. The buffer of the request lives until
 * then: kinds of such tasks are ALWAYS, see lkdf_hold().
 *
 * Return: as lkdf_mpi_event() and lkdf_hold().
 */
int lkdf_mpi_hold(struct lkdf_ctx *c, struct lkdf_mpi *m, MPI_Request *request,
		  MPI_Status *status);

/**
 * lkdf_mpi_post() - call a function with calls of MPI in it
 * @m:   handle
 * @fn:  called once; returns 0 or a negative errno, the event's error
 * @u:   the caller's; lives until the event has fired
 * @out: event with one reference, or NULL
 *
 * Such functions run one after another, in their order, and never beside the
 * library's own calls of MPI: MPI_THREAD_SERIALIZED is enough for them. They do
 * not wait: MPI_Isend() and lkdf_mpi_event(), not MPI_Send().
 *
 * Context: any thread, bodies and such functions included, does not wait.
 * Return: 0; -EAGAIN all slots of events are in use; -EINVAL; -ENOMEM.
 */
int lkdf_mpi_post(struct lkdf_mpi *m, int (*fn)(void *u), void *u,
		  struct lkdf_event *out);

/**
 * lkdf_mpi_wait() - wait for an event, and make progress with MPI meanwhile
 * @m:          handle
 * @e:          event, of this library or any other of the runtime
 * @timeout_ns: >= 0, or -1 for ever
 *
 * With MPI_THREAD_FUNNELED only the main thread may call MPI. In this call it
 * polls the requests of @m and runs the functions of lkdf_mpi_post(). While the
 * main thread waits in another call, or computes, no request of @m becomes
 * complete and no such function runs. Between two polls the call sleeps for at
 * most 0.2 ms if requests are in progress, and for at most 1 ms otherwise.
 *
 * With other levels of MPI the call is lkdf_event_wait().
 *
 * Context: any thread that is not in a body; with MPI_THREAD_FUNNELED the main
 * thread.
 * Return: as lkdf_event_wait(); -EINVAL no handle; -EPERM with
 * MPI_THREAD_FUNNELED this is not the main thread, and the caller keeps the
 * reference.
 */
int lkdf_mpi_wait(struct lkdf_mpi *m, struct lkdf_event e, int64_t timeout_ns);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
