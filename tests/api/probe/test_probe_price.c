/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The price of lkdf probe for programs with tiny tasks: instructions between
 * the bodies of two tasks that follow each other, with a probe and without. A
 * child runs the tasks; its parent lets the worker go on instruction by
 * instruction, so that the numbers are the same on an idle machine and a busy
 * one. Time of the kernel's programs is no part of it.
 */
#include "tests/api/api.h"
#include "tests/api/probe.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

/* The bar, in instructions a task. */
#define MAX_MORE 12

#define NR_TASKS 256 /* of a graph, or of a body's children at a time */
#define NR_BEFORE 8192 /* bodies that run before they are counted */
#define NR_GAPS 31 /* between bodies, of which the middle one counts */
#define MAX_STEPS 200000

#if defined(__x86_64__)
#define PC_OF(r) ((r).rip)
#elif defined(__aarch64__)
#define PC_OF(r) ((r).pc)
#else
#error "where does this machine keep the program counter?"
#endif

/* ---- the child ----------------------------------------------------------- */

static int to_parent[2], to_child[2];
static int nr_left = NR_BEFORE;
static struct lkdf_kind *leaf_kind;

/* Tells the parent which thread it is, and waits until that steps it. */
static __attribute__((noinline)) void be_stepped(void)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	char go;

	if (write(to_parent[1], &tid, sizeof(tid)) != sizeof(tid) ||
	    read(to_child[0], &go, 1) != 1)
		_exit(1);
}

static __attribute__((noinline)) int leaf(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	if (!--nr_left)
		be_stepped();
	return 0;
}

static int spawn_leaves(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < NR_TASKS; i++)
		must(lkdf_spawn(c, leaf_kind, NULL));
	return lkdf_join(c);
}

static struct lkdf_graph *seal_chain(struct lkdf *rt)
{
	struct lkdf_graph *g;
	int i, id, last = 0;

	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < NR_TASKS; i++) {
		id = must(lkdf_graph_add(g, leaf_kind, NULL, NULL, 0));
		if (i)
			must(lkdf_graph_order(g, last, id));
		last = id;
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void run_sealed(struct lkdf *rt)
{
	struct lkdf_graph *g = seal_chain(rt);
	struct lkdf_event done;

	for (;;) {
		must(lkdf_graph_run(g, NULL, NULL, &done));
		must(lkdf_event_wait(done, -1));
	}
}

static void run_spawned(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "tree", spawn_leaves, 0, 0);

	for (;;) {
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
		must(lkdf_scope_wait(rt, NULL, -1));
	}
}

/* Some at a time, so that the worker has the next one when one ends. */
static void run_submitted(struct lkdf *rt)
{
	int i;

	for (;;) {
		for (i = 0; i < NR_TASKS; i++)
			must(lkdf_submit(rt, NULL,
					 ATTR(lkdf_task, .kind = leaf_kind),
					 NULL));
		must(lkdf_scope_wait(rt, NULL, -1));
	}
}

static const struct arm {
	const char *name, *options;
	void (*run)(struct lkdf *rt);
} arms[] = {
	{ "sealed, in a static order", "", run_sealed },
	{ "sealed, as they get ready", ",static_runs=0", run_sealed },
	{ "spawned and joined", "", run_spawned },
	{ "submitted", "", run_submitted },
};
#define NR_ARMS (sizeof(arms) / sizeof(arms[0]))

static _Noreturn void be_child(const struct arm *a, bool has_probe)
{
	char options[160];
	struct lkdf *rt;

	snprintf(options, sizeof(options), "workers=1,probe=%s%s%s",
		 has_probe ? probe_dir : "", has_probe ? "/bpf" : "",
		 a->options);
	rt = api_open(options);
	/* No mistake here makes both arms of the comparison the same one. */
	if (!(lkdf_caps(rt) & LKDF_CAP_PROBE) == has_probe)
		_exit(1);
	leaf_kind = api_kind(rt, "leaf", leaf, 0, 0);
	a->run(rt);
	_exit(1);
}

/* ---- the parent ---------------------------------------------------------- */

/* One instruction on. Its program counter; 0: the thread has ended. */
static uintptr_t step_on(pid_t tid)
{
	struct user_regs_struct r;
	struct iovec v = { &r, sizeof(r) };
	int status;

	if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) ||
	    waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &v))
		return 0;
	return (uintptr_t)PC_OF(r);
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The middle one of the instructions from body to body; -1: they ended. */
static int count_steps(pid_t tid)
{
	int gap[NR_GAPS + 1], nr = -1, last = 0, i;
	uintptr_t pc;

	for (i = 0; i < MAX_STEPS && nr <= NR_GAPS; i++) {
		pc = step_on(tid);
		if (!pc)
			return -1;
		if (pc != (uintptr_t)leaf)
			continue;
		if (nr >= 0 && nr <= NR_GAPS)
			gap[nr] = i - last;
		nr++;
		last = i;
	}
	if (nr < NR_GAPS)
		return -1;
	qsort(gap, NR_GAPS, sizeof(gap[0]), by_value);
	return gap[NR_GAPS / 2];
}

static int follow_child(pid_t child)
{
	int status, nr = -1;
	pid_t tid;

	if (read(to_parent[0], &tid, sizeof(tid)) != sizeof(tid))
		return -1;
	if (!ptrace(PTRACE_SEIZE, tid, NULL, NULL) &&
	    !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) &&
	    waitpid(tid, &status, __WALL) == tid &&
	    write(to_child[1], "g", 1) == 1)
		nr = count_steps(tid);
	/* The child is not over before its thread has been waited for. */
	kill(child, SIGKILL);
	while (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status))
		;
	return nr;
}

/* Instructions from one task's body to the next one's; -1: not counted. */
static int price_of(const struct arm *a, bool has_probe)
{
	pid_t child;
	int nr;

	if (pipe(to_parent) || pipe(to_child))
		return -1;
	child = fork();
	if (!child)
		be_child(a, has_probe);
	close(to_parent[1]);
	close(to_child[0]);
	nr = follow_child(child);
	waitpid(child, NULL, 0);
	close(to_parent[0]);
	close(to_child[1]);
	return nr;
}

__attribute__((unused)) static void tiny_tasks_pay_little(void)
{
	int with, without;
	size_t i;

	for (i = 0; i < NR_ARMS; i++) {
		without = price_of(&arms[i], false);
		with = price_of(&arms[i], true);
		ok(without > 0 && with > 0 && with - without <= MAX_MORE,
		   "%s: %d instructions a task, %d with a probe", arms[i].name,
		   without, with);
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	tap_start(60);
#ifdef LKDF_DEBUG
	skip("tiny tasks pay little for a probe", "built with checks");
#else
	if (HAS_SANITIZER)
		skip("tiny tasks pay little for a probe", "a sanitizer");
	else if (probe_start(argv[0], "--hz 10 --slots 64"))
		tiny_tasks_pay_little();
	else
		probe_absent("tiny tasks pay little for a probe");
	probe_end();
#endif
	return tap_end();
}
