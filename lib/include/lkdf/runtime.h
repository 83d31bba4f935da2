/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The runtime: workers on their CPUs, and all else hangs off it. There are no
 * globals; several runtimes may live side by side in one process.
 */
#ifndef LKDF_RUNTIME_H
#define LKDF_RUNTIME_H

#include <lkdf/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum lkdf_log_level {
	LKDF_LOG_ERROR,
	LKDF_LOG_INFO,
	LKDF_LOG_DEBUG,
};

/* Present now; "lkdf doctor" says why the others are not. */
enum lkdf_cap {
	LKDF_CAP_PINNED = 1 << 0, /* workers are bound to one CPU each */
	LKDF_CAP_NODES = 1 << 1, /* more than one NUMA node is in use */
	LKDF_CAP_TRACE = 1 << 2, /* counters and events are in a memfd */
	LKDF_CAP_BIND = 1 << 3, /* memory of a node is bound to it */
	LKDF_CAP_URING = 1 << 4, /* operations go through io_uring */
	LKDF_CAP_PAGES = 1 << 5, /* placement sees where pages are */
	LKDF_CAP_KMOD = 1 << 6, /* the kernel module tells when they move */
	LKDF_CAP_PROBE = 1 << 7, /* lkdf probe sees the workers */
};

/* A thread of the runtime that runs bodies. */
struct lkdf_thread {
	uint32_t size;
	int32_t executor; /* as lkdf_worker(): workers have the first numbers */
	int32_t cpu; /* that a worker is bound to; -1: to none alone */
	int32_t node; /* a worker's, by the system's number; -1: any */
	const char *name; /* as the system has it: "lkdf/0.1" */
};

struct lkdf_open_attr {
	uint32_t size, flags;
	const char *options;
	void (*log)(void *u, int level, const char *text);
	void *u; /* of log and thread_begins */
	const char *thread_name; /* NULL: "lkdf"; 7 bytes at most, copied */
	void (*thread_begins)(void *u, const struct lkdf_thread *t); /* or NULL
								      */
};

/* Attributes for one call, in C: LKDF_OPEN(.options = "workers=4"). */
#define LKDF_OPEN(...) LKDF_ATTR(lkdf_open_attr, __VA_ARGS__)

/**
 * lkdf_open() - start a runtime
 * @options: "name=value,name=value", NULL or "" for all defaults; the
 *           environment (LKDF_<NAME>) wins over it unless it says "final";
 *           lkdf_describe(rt, "options", ...) lists names, ranges and values
 * @out:     new runtime, owned by the caller
 *
 * Context: any thread that is not a worker; creates threads.
 * Return: 0; -EINVAL bad option (names the nearest known one) or NULL;
 * -ENOMEM; -EAGAIN no threads to be had; -EPERM topology or hooks in a program
 * with raised rights.
 */
int lkdf_open(const char *options, struct lkdf **out);

/**
 * lkdf_open_with() - start a runtime with callbacks and names of threads
 * @a:   options as lkdf_open(); log is called from any thread and must not
 *       call lkdf; thread_name and thread_begins for threads, see below
 * @out: new runtime, owned by the caller
 *
 * Threads that run bodies have names of thread_name, a slash and their number.
 * Each of them calls thread_begins() once, before its first body: the workers
 * while lkdf_open_with() is under way or after it, the threads of the blocking
 * pool and spare ones when they are needed. The function may set what belongs
 * to the thread, such as its CPUs (option pin=no leaves those alone), its
 * priority or variables of another library; it calls no lkdf. Options cpus and
 * workers_per_node say on which CPUs there are workers. With serial=yes no
 * thread of the runtime runs bodies.
 *
 * Without a log callback, as after lkdf_open(), the library writes errors that
 * no caller has asked for to standard error, one line each. Option log, or
 * LKDF_LOG in the environment, chooses the least important level: "none",
 * "error", "info" or "debug".
 *
 * Return: as lkdf_open(); -EINVAL thread_name is too long.
 */
int lkdf_open_with(const struct lkdf_open_attr *a, struct lkdf **out);

/**
 * lkdf_close() - stop the workers and free everything
 * @rt: runtime, or NULL
 *
 * Errors that no caller has looked at go to the log. In a forked child the
 * call frees memory only.
 *
 * Kinds, graphs, scopes, limits, events and data that the program has not put
 * are named in the log at level info. Those handles, but for events, may still
 * be put afterwards: the library tells that as an error, and does no more.
 *
 * A program may call exit(3) instead: a recording of the option trace gets its
 * last events and its end then. No error is told, and bodies run on until the
 * process has ended.
 *
 * Context: any thread that is not a worker; joins the workers.
 * Return: 0; -EBUSY while tasks or runs live, or while a thread has acquired a
 * data, which lkdf_errmsg() names: nothing has changed then; -EDEADLK in a
 * body.
 */
int lkdf_close(struct lkdf *rt);

/**
 * lkdf_close_now() - cancel what is under way, wait for its end, and close
 * @rt: runtime, or NULL
 *
 * Tasks and runs that live are cancelled with -ECANCELED, which is told as an
 * error in the log. Bodies that have started finish, so that a body that waits
 * for this thread keeps the call waiting.
 *
 * Context: as lkdf_close().
 * Return: as lkdf_close(); -EBUSY while a thread has acquired a data.
 */
int lkdf_close_now(struct lkdf *rt);

/**
 * lkdf_default() - the runtime that all libraries of the process share
 * @out: runtime with one reference more, dropped by lkdf_default_put()
 *
 * The first call opens it as lkdf_open() with @options NULL: the environment
 * alone sets options. A forked child has none until it calls.
 *
 * Context: any thread; the first call waits until the workers have started.
 * Return: 0; -EINVAL; as lkdf_open().
 */
int lkdf_default(struct lkdf **out);

/**
 * lkdf_default_put() - drop a reference to the shared runtime
 * @rt: as lkdf_default() gave it, or NULL; nobody calls lkdf_close() with it
 *
 * The call that drops the last reference waits for all tasks and runs, then
 * closes. At exit(3) the library closes what was not put: it cancels what is
 * under way, and waits two seconds for bodies that have started. In a forked
 * child a put of the parent's runtime does nothing.
 *
 * Context: any thread that is not in a body.
 * Return: 0; -EDEADLK in a body; -EBUSY a thread has acquired a data: the
 * runtime stays open then, and nobody gets it any more.
 */
int lkdf_default_put(struct lkdf *rt);

/**
 * lkdf_caps() - what this runtime has found and uses
 * @rt: runtime
 *
 * Return: LKDF_CAP_* bits.
 */
uint64_t lkdf_caps(const struct lkdf *rt);

/**
 * lkdf_nr_workers() - how many workers the runtime has
 * @rt: runtime
 *
 * Threads of the blocking pool and spare ones are no workers, see
 * lkdf_nr_executors(). With serial=yes the count is 1. It does not change until
 * close: where the CPU quota falls, or workers are in reserve for a higher one
 * (option reserve_workers), fewer of them run. Substitutes (option substitutes)
 * have the last numbers, and run while other workers rest in joins.
 *
 * Context: any thread, does not block.
 * Return: a count >= 1; -EINVAL @rt is NULL.
 */
int lkdf_nr_workers(const struct lkdf *rt);

/**
 * lkdf_nr_executors() - how many numbers lkdf_worker() may give
 * @rt: runtime
 *
 * An array with so many entries has one for each thread that may run a body:
 * the workers have the first numbers, the threads of the blocking pool, which
 * the runtime creates when it needs them, those that follow, then come the
 * threads of devices and the spare threads, which run LKDF_URGENT tasks.
 *
 * Context: any thread, does not block.
 * Return: a count > lkdf_nr_workers(); -EINVAL @rt is NULL.
 */
int lkdf_nr_executors(const struct lkdf *rt);

/**
 * lkdf_describe() - write what the runtime knows of itself to a descriptor
 * @rt:     runtime
 * @what:   "topo", "caps", "options" or "stats"
 * @format: "text" or "json"
 * @fd:     open for writing
 *
 * Return: 0; -EINVAL unknown word; -errno of write(2).
 */
int lkdf_describe(struct lkdf *rt, const char *what, const char *format,
		  int fd);

/**
 * lkdf_why() - write what waits in the runtime, and for what
 * @rt:     runtime
 * @format: "text" or "json"
 * @fd:     open for writing
 *
 * The text has one line for each task, run or thread that was seen to wait: for
 * tokens of a limit, an event, a value of a channel or room in it, data, also
 * bytes of it that come home from a device, an operation, a device's memory,
 * queue or work, or room in a scope; the line names what the task stands
 * below, the limits of which those hold tokens, and how many unresolved tasks
 * stand behind it. A run in which no such task was seen has a line as well. The
 * JSON object of schema "lkdf/why/1" has the lines as array "waits" of {cause,
 * who, waits, behind, next}; a cause is "token", "event", "channel", "data",
 * "io", "device", "room" or "run". Workers that sleep in the seats of a gang
 * have a line, which says where none is left for other tasks; in JSON "seats"
 * is their number.
 *
 * In a runtime with option stall each body that runs has a line as well, with
 * its kind, its executor and for how long it has run; in JSON the array
 * "bodies" of {kind, executor, ns}, which is empty without the option.
 *
 * Where lkdf probe sees the workers, a body whose thread does not run has a
 * line, too: it sleeps in a futex of the program, elsewhere, or waits for a
 * CPU, for how long. For a futex the line has the word, and its holder where
 * the word tells it: words of PI and of robust mutexes do. In JSON the array
 * "sleeps" of {kind, executor, state, ns, word, holder_tid, holder,
 * preempted_by_tid, preempted_by}; a state is "futex", "blocked" or
 * "preempted", holder_tid 0 and holder -1 where they are not known. The last
 * two tell which thread got the CPU of the body's thread, or of the holder's,
 * while that waits for one: its number and name, else 0 and "".
 *
 * The call looks at one place after the other while the workers go on, so the
 * text is no moment's truth: a line may be over before it is written. Tasks
 * that are queued for workers, tasks that wait for the end of another task, and
 * children that wait for data among themselves have no line. There are at most
 * 128 lines, and 8 of one limit, ring, device or side of a channel, and 64 of
 * bodies; the text tells how many more wait.
 *
 * Context: any thread, bodies included; the call waits for no body, and
 * allocates memory that it frees again.
 * Return: 0; -EINVAL @format is unknown; -ENOMEM; -EOWNERDEAD in a forked
 * child; -errno of write(2).
 */
int lkdf_why(struct lkdf *rt, const char *format, int fd);

/**
 * lkdf_stat() - one counter by name
 * @rt:   runtime
 * @name: "lkdf.worker.3.tasks" or "lkdf.tasks" (summed over the workers);
 *        "lkdf.kind.NAME.bodies" with option kinds; lkdf_describe(rt, "stats",
 * ...) lists all
 * @out:  value; read while workers run it may lag behind
 *
 * Return: 0; -ENOENT unknown name.
 */
int lkdf_stat(struct lkdf *rt, const char *name, uint64_t *out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
