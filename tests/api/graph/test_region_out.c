/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a body in a loop may do that takes its task away from the worker, or the
 * worker away from the loop: a wait for an event, a channel or a deadline, a
 * child process, a loop that goes on for ever. Each happens in each task, in a
 * loop that the worker goes through by bits and in one with counters: results,
 * counts and the order of all calls are the same. test_region_values.c has the
 * ways out that need no second party.
 */
#include "tests/api/api.h"

#include <string.h>
#include <sys/wait.h>

#define ROUNDS 40
#define WHEN 13 /* the call in which it happens */
/* CONTROL_TURNS, INBOX_EVERY and OLD_EVERY of the library. */
#define TURNS 64
#define LOOKS 64
#define OLD 16
#define MAX_CALLS 4096

enum what {
	NOTHING,
	HOLDS, /* its end back, until another task signals */
	WAITS, /* with lkdf_then() for what another task signals */
	JOINS, /* a child */
	LEAVES_A_CHILD, /* behind, by lkdf_then() */
	RECEIVES, /* what is sent only later, with LKDF_AGAIN */
	IS_LATE, /* the run's deadline is over when it returns */
	GIVES_UP, /* the same, with -ECANCELED */
	SLEEPS,
	FORKS, /* a process */
	CLOSES, /* the loop: it goes on for ever until a task cancels it */
	NR_WHATS,
};

static const char *const what_name[] = {
	"nothing happens",
	"holds its end back",
	"waits for an event",
	"joins a child",
	"leaves a child behind",
	"is called again",
	"returns when it is late",
	"gives up when it is late",
	"sleeps",
	"forks",
	"goes on for ever",
};

/* head -> choice -> one or other -> join -> latch -> head; after follows. */
enum task {
	HEAD,
	CHOICE,
	ONE,
	OTHER,
	JOIN,
	LATCH,
	AFTER,
	NR,
	HELPER = NR, /* in the list of calls */
	AGAIN, /* the first call of two */
};

/* What can be seen of a run. */
struct outcome {
	int rc, nr_calls, calls[NR + 1];
	uint64_t iterations, unchosen, skipped, cancelled;
	uint8_t call[MAX_CALLS]; /* one after another */
};

static struct {
	struct lkdf *rt;
	struct lkdf_scope *scope;
	struct lkdf_kind *helper, *canceller;
	struct lkdf_channel *channel;
	struct lkdf_event event;
	enum what what;
	int who;
	bool is_serial, is_late;
	struct outcome o;
} at;

static void note_call(int task)
{
	if (at.o.nr_calls < MAX_CALLS)
		at.o.call[at.o.nr_calls] = (uint8_t)task;
	at.o.nr_calls++;
}

/* Signals, sends, or has simply run: whatever somebody waits for. */
static int help(struct lkdf_ctx *c, void *arg)
{
	uint64_t value = 7;

	(void)c;
	(void)arg;
	note_call(HELPER);
	at.o.calls[HELPER]++;
	if (at.what == RECEIVES)
		return lkdf_channel_send(at.channel, &value, 0);
	if (at.what == HOLDS || at.what == WAITS)
		return lkdf_event_signal(at.event, 0);
	return 0;
}

static int cancel_all(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return lkdf_scope_cancel(at.rt, at.scope, -EINTR);
}

static void submit_helper(struct lkdf_kind *k)
{
	must(lkdf_submit(at.rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
}

/* What the task chooses at its nth call. */
static int value_of_call(int task, int n)
{
	if (task == CHOICE)
		return n % 3 == 0;
	if (task == LATCH && n == ROUNDS)
		return at.what == CLOSES ? 0 : 1;
	return 0;
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	int task = *(int *)arg;

	(void)c;
	note_call(task);
	return value_of_call(task, at.o.calls[task]);
}

static int wait_for_event(struct lkdf_ctx *c)
{
	must(lkdf_event_create(at.rt, 1, 0, &at.event));
	submit_helper(at.helper);
	return lkdf_then(c, go_on, at.event);
}

static int fork_process(void)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(0);
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -ECHILD;
}

/* Until the deadline of the run has been seen. */
static void be_late(struct lkdf_ctx *c)
{
	int64_t left = PATIENCE_NS;

	at.is_late = true;
	for (; !lkdf_cancelled(c) && left > 0; left -= SECOND / 10000)
		api_nap_ns(SECOND / 10000);
}

/* value: what the body would return if nothing happened. */
static int do_what(struct lkdf_ctx *c, int value)
{
	switch (at.what) {
	case HOLDS:
		must(lkdf_hold(c, &at.event));
		submit_helper(at.helper);
		return value;
	case WAITS:
		return wait_for_event(c);
	case JOINS:
		must(lkdf_spawn_task(c, ATTR(lkdf_task, .kind = at.helper),
				     NULL));
		must(lkdf_join(c));
		return value;
	case LEAVES_A_CHILD:
		must(lkdf_spawn_task(c, ATTR(lkdf_task, .kind = at.helper),
				     NULL));
		return lkdf_then(c, go_on, LKDF_EVENT_NONE);
	case IS_LATE:
		be_late(c);
		return value;
	case GIVES_UP:
		be_late(c);
		return -ECANCELED;
	case SLEEPS:
		api_nap_ns(SECOND / 1000);
		return value;
	case FORKS:
		must(fork_process());
		return value;
	case CLOSES:
		submit_helper(at.canceller);
		return value;
	default:
		return value;
	}
}

static bool is_time(int task, int n)
{
	int when = task == ONE || task == OTHER ? WHEN / 3
		   : task == AFTER		? 1
						: WHEN;

	return task == at.who && n == when;
}

static int step(struct lkdf_ctx *c, void *arg)
{
	int task = *(int *)arg, n = at.o.calls[task] + 1;
	uint64_t value;

	if (at.what == RECEIVES && is_time(task, n) &&
	    lkdf_recv(c, at.channel, &value) == -EAGAIN) {
		note_call(AGAIN);
		submit_helper(at.helper);
		return LKDF_AGAIN;
	}
	at.o.calls[task] = n;
	note_call(task);
	return is_time(task, n) ? do_what(c, value_of_call(task, n))
				: value_of_call(task, n);
}

/* ---- one way ------------------------------------------------------------- */

static struct lkdf_graph *make_loop(uint32_t flags)
{
	struct lkdf_kind *k = api_kind(at.rt, "step", step, sizeof(int), flags);
	struct lkdf_kind *any =
		api_kind(at.rt, "join", step, sizeof(int), flags | LKDF_ANY);
	struct lkdf_graph *g = api_graph(at.rt, 1);
	int i;

	for (i = 0; i < NR; i++)
		must(lkdf_graph_add(g, i == JOIN ? any : k, &i, NULL, 0));
	must(lkdf_graph_order(g, HEAD, CHOICE));
	must(lkdf_graph_branch(g, CHOICE, 0, ONE));
	must(lkdf_graph_branch(g, CHOICE, 1, OTHER));
	must(lkdf_graph_order(g, ONE, JOIN));
	must(lkdf_graph_order(g, OTHER, JOIN));
	must(lkdf_graph_order(g, JOIN, LATCH));
	must(lkdf_graph_back(g, LATCH, 0, HEAD));
	must(lkdf_graph_branch(g, LATCH, 1, AFTER));
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(k);
	lkdf_kind_put(any);
	return g;
}

static uint64_t counter(const char *name)
{
	uint64_t v = 0;

	must(lkdf_stat(at.rt, name, &v));
	return v;
}

static void run_once(struct lkdf_graph *g, int64_t deadline_ns)
{
	uint64_t iterations = counter("lkdf.iterations"),
		 unchosen = counter("lkdf.unchosen"),
		 skipped = counter("lkdf.skipped"),
		 cancelled = counter("lkdf.cancelled");

	at.is_late = false;
	memset(&at.o, 0, sizeof(at.o));
	must(lkdf_scope_create(at.rt, NULL, &at.scope));
	at.o.rc = api_run(g, at.scope,
			  ATTR(lkdf_run, .deadline_ns = deadline_ns));
	lkdf_scope_wait(at.rt, at.scope, -1);
	must(lkdf_scope_wait(at.rt, NULL, -1));
	lkdf_scope_put(at.scope);
	at.o.iterations = counter("lkdf.iterations") - iterations;
	at.o.unchosen = counter("lkdf.unchosen") - unchosen;
	at.o.skipped = counter("lkdf.skipped") - skipped;
	at.o.cancelled = counter("lkdf.cancelled") - cancelled;
}

/* A deadline is over while the body waits for it, and not before. */
static void run_it(struct lkdf_graph *g)
{
	int64_t deadline_ns = SECOND / 1000;

	if (at.what != IS_LATE && at.what != GIVES_UP) {
		run_once(g, 0);
		return;
	}
	do {
		run_once(g, deadline_ns);
		deadline_ns *= 2;
	} while (!at.is_late);
}

static struct outcome outcomes[2][NR_WHATS][NR];

/*
 * A loop that is over before it is closed does not go on, and beside one that
 * goes on for ever serial mode runs no other task.
 */
static bool happens(int what, int who)
{
	return what != CLOSES || (who < AFTER && !at.is_serial);
}

static void run_way(int way, const char *options, uint32_t flags)
{
	char text[64];
	struct lkdf_graph *g;
	int what, who;

	snprintf(text, sizeof(text), "%s,log=none,loop_regions=%s", options,
		 way ? "no" : "yes");
	at.rt = api_open(text);
	at.helper = api_kind(at.rt, "helper", help, 0, 0);
	at.canceller = api_kind(at.rt, "canceller", cancel_all, 0, 0);
	must(lkdf_channel_create(at.rt,
				 ATTR(lkdf_channel_attr,
				      .value_size = sizeof(uint64_t),
				      .depth = 1),
				 &at.channel));
	g = make_loop(flags);
	for (what = 0; what < NR_WHATS; what++)
		for (who = 0; who < NR; who++) {
			if (!happens(what, who))
				continue;
			at.what = (enum what)what;
			at.who = who;
			run_it(g);
			outcomes[way][what][who] = at.o;
		}
	lkdf_graph_put(g);
	lkdf_channel_put(at.channel);
	lkdf_kind_put(at.helper);
	lkdf_kind_put(at.canceller);
	is(lkdf_close(at.rt), 0, "%s: close", text);
}

/* ---- both ---------------------------------------------------------------- */

/* The calls of a round, over and over. */
static bool is_in_order(const struct outcome *o)
{
	int n, i = 0, bad = 0;

	for (n = 1; n <= ROUNDS; n++) {
		bad += o->call[i++] != HEAD;
		bad += o->call[i++] != CHOICE;
		bad += o->call[i++] != (n % 3 ? ONE : OTHER);
		bad += o->call[i++] != JOIN;
		bad += o->call[i++] != LATCH;
	}
	return !bad && o->call[i] == AFTER && o->nr_calls == i + 1;
}

/*
 * All else has a turn every TURNS tasks, counted from where the worker went
 * into the loop: both ways soon, though not at the same task.
 */
static bool is_cut_soon(const struct outcome *o, int who)
{
	int when = who == ONE || who == OTHER ? WHEN / 3 : WHEN;

	return o->rc == -EINTR && o->calls[who] >= when && !o->calls[AFTER] &&
	       o->calls[HEAD] <= 3 * when + 2 * TURNS * LOOKS * OLD / 5;
}

static bool is_same(int what, int who)
{
	const struct outcome *a = &outcomes[0][what][who];
	const struct outcome *b = &outcomes[1][what][who];

	if (what == CLOSES)
		return is_cut_soon(a, who) && is_cut_soon(b, who);
	return !memcmp(a, b, sizeof(*a));
}

static void compare_them(const char *options)
{
	const struct outcome *a, *b;
	int what, who, bad;

	for (what = 0; what < NR_WHATS; what++) {
		for (bad = 0, who = 0; who < NR; who++) {
			if (!happens(what, who) || is_same(what, who))
				continue;
			a = &outcomes[0][what][who];
			b = &outcomes[1][what][who];
			bad++;
			printf("# task %d: %d, %d; %d and %d calls, %d and %d "
			       "rounds, %llu and %llu not chosen\n",
			       who, a->rc, b->rc, a->nr_calls, b->nr_calls,
			       a->calls[LATCH], b->calls[LATCH],
			       (unsigned long long)a->unchosen,
			       (unsigned long long)b->unchosen);
		}
		is(bad, 0, "%s: each task %s: both ways are the same", options,
		   what_name[what]);
	}
}

static const int want_rc[NR_WHATS] = {
	[IS_LATE] = -ETIME,
	[GIVES_UP] = -ETIME,
	[CLOSES] = -EINTR,
};

/* Helpers that each of them has. */
static const int want_helpers[NR_WHATS] = {
	[HOLDS] = 1,	      [WAITS] = 1,    [JOINS] = 1,
	[LEAVES_A_CHILD] = 1, [RECEIVES] = 1,
};

/* So it has happened. The last task of a run may be late: nobody sees it. */
static void expect_outcome(void)
{
	const struct outcome *o;
	int what, who, bad;

	for (what = 0; what < NR_WHATS; what++) {
		for (bad = 0, who = 0; who < NR; who++) {
			o = &outcomes[0][what][who];
			if (!happens(what, who))
				continue;
			bad += o->calls[HELPER] != want_helpers[what];
			bad += (who != AFTER || what == GIVES_UP) &&
			       o->rc != want_rc[what];
			bad += !want_rc[what] && o->calls[LATCH] != ROUNDS;
		}
		is(bad, 0, "a task that %s: so it ends", what_name[what]);
	}
	ok(is_in_order(&outcomes[0][NOTHING][0]), "calls are in their order");
}

static void run_both(const char *options, uint32_t flags)
{
	at.is_serial = !strcmp(options, "serial=yes");
	run_way(0, options, flags);
	run_way(1, options, flags);
	compare_them(options);
	expect_outcome();
}

int main(void)
{
	tap_start(60);
	run_both("workers=1", 0);
	run_both("workers=1", LKDF_PROFILE);
	run_both("serial=yes", 0);
	return tap_end();
}
