/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option order: a seed picks among what is ready, all seeds together come to
 * many orders, each of them legal, and one seed always comes to the same.
 */
#include "tests/api/api.h"

#include <sys/wait.h>

#define SEEDS 100
#define AGAIN 30
#define LOG 64

/* What the bodies of one run have written, one letter each. */
static char text[LOG];
static unsigned nr_text;

static void note(char c)
{
	if (nr_text + 1 < LOG)
		text[nr_text++] = c;
}

static int note_arg(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	note((char)(intptr_t)arg);
	return 0;
}

static int note_char(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	note(*(char *)arg);
	return 0;
}

/* ---- shapes ------------------------------------------------------------- */

/* Six tasks, of which the last one waits for the first. */
static void run_graph(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "note", note_arg, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	intptr_t i;

	for (i = 0; i < 6; i++)
		must(lkdf_graph_add(g, k, (void *)('a' + i), NULL, 0));
	must(lkdf_graph_order(g, 0, 5));
	must(lkdf_graph_seal(g, NULL));
	must(api_run(g, NULL, NULL));
	must(api_run(g, NULL, NULL));
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

static bool graph_is_legal(void)
{
	const char *a, *f;
	int i;

	for (i = 0; i < 2; i++) {
		a = memchr(text + 6 * i, 'a', 6);
		f = memchr(text + 6 * i, 'f', 6);
		if (!a || !f || a > f)
			return false;
	}
	return nr_text == 12;
}

/* The program says m between two submissions, as if it raced with them. */
static void run_submitted(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "note", note_char, 1, 0);
	char i;

	for (i = 'a'; i < 'g'; i++) {
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &i), NULL));
		note('-');
	}
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(k);
}

static bool submitted_is_legal(void)
{
	unsigned i, nr = 0;

	for (i = 0; i < nr_text; i++) {
		nr += text[i] == '-';
		/* Not before it was submitted. */
		if (text[i] != '-' && (unsigned)(text[i] - 'a') > nr)
			return false;
	}
	return nr_text == 12;
}

static struct lkdf_kind *child_kind;

static int spawn_six(struct lkdf_ctx *c, void *arg)
{
	char i;

	(void)arg;
	for (i = 'a'; i < 'g'; i++)
		must(lkdf_spawn(c, child_kind, &i));
	note('-');
	must(lkdf_join(c));
	note('+');
	return 0;
}

static void run_spawned(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "parent", spawn_six, 0, 0);

	child_kind = api_kind(rt, "child", note_char, 1, 0);
	must(api_call(rt, k, NULL));
	lkdf_kind_put(child_kind);
	lkdf_kind_put(k);
}

static bool spawned_is_legal(void)
{
	return nr_text == 8 && text[0] == '-' && text[7] == '+';
}

static int note_block(uint64_t begin, uint64_t end, void *u)
{
	(void)u;
	for (; begin < end; begin++)
		note((char)('a' + begin));
	return 0;
}

static void run_loop(struct lkdf *rt)
{
	must(lkdf_for(rt, (struct lkdf_range){ .end = 20 }, note_block, NULL));
}

static bool loop_is_legal(void)
{
	char c;

	for (c = 'a'; c < 'a' + 20; c++)
		if (!memchr(text, c, nr_text))
			return false;
	return nr_text == 20;
}

/* Two commuting uses of one value, whose order changes what comes out. */
static int doubles(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	*(*(int **)arg) *= 2;
	return 0;
}

static int adds_one(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	*(*(int **)arg) += 1;
	return 0;
}

static void run_commute(struct lkdf *rt)
{
	struct lkdf_kind *k[2] = {
		api_kind(rt, "double", doubles, sizeof(int *), 0),
		api_kind(rt, "add", adds_one, sizeof(int *), 0)
	};
	struct lkdf_data *d;
	int value = 1, *at = &value, i;
	struct lkdf_use use = { .mode = LKDF_COMMUTE };

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .bytes = sizeof(value),
				   .wrap = &value),
			      &d));
	use.data = d;
	for (i = 0; i < 5; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k[i % 2], .arg = &at,
				      .use = &use, .nr_use = 1),
				 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	note((char)('a' + value));
	lkdf_data_put(d);
	lkdf_kind_put(k[0]);
	lkdf_kind_put(k[1]);
}

static bool commute_is_legal(void)
{
	return nr_text == 1;
}

/* ---- seeds -------------------------------------------------------------- */

struct shape {
	const char *name;
	void (*run)(struct lkdf *rt);
	bool (*is_legal)(void);
	int least; /* orders that 100 seeds come to */
};

static const struct shape shapes[] = {
	{ "a graph", run_graph, graph_is_legal, 90 },
	{ "tasks that are submitted", run_submitted, submitted_is_legal, 70 },
	{ "children of a body", run_spawned, spawned_is_legal, 70 },
	{ "a loop", run_loop, loop_is_legal, 20 },
	{ "commuting tasks", run_commute, commute_is_legal, 3 },
};

/* False: the order is none that the program allows. */
static bool run_seed(const struct shape *s, unsigned long seed)
{
	char options[64];
	struct lkdf *rt;

	memset(text, 0, sizeof(text));
	nr_text = 0;
	snprintf(options, sizeof(options), "order=%lu", seed);
	rt = api_open(options);
	s->run(rt);
	must(lkdf_close(rt));
	return s->is_legal();
}

static int count_orders(const struct shape *s, int *nr_legal)
{
	static char seen[SEEDS][LOG];
	int nr = 0, i, j;

	for (i = 0; i < SEEDS; i++) {
		*nr_legal += run_seed(s, (unsigned long)i + 1);
		for (j = 0; j < nr && strcmp(seen[j], text); j++)
			continue;
		if (j == nr)
			memcpy(seen[nr++], text, LOG);
	}
	return nr;
}

static void seeds_give_many_orders_and_one_gives_one(void)
{
	char first[LOG];
	int nr, nr_legal, same, i;
	size_t k;

	for (k = 0; k < sizeof(shapes) / sizeof(*shapes); k++) {
		nr_legal = 0;
		nr = count_orders(&shapes[k], &nr_legal);
		ok(nr >= shapes[k].least, "%s: %d seeds give %d orders",
		   shapes[k].name, SEEDS, nr);
		is(nr_legal, SEEDS, "each of them legal");
		run_seed(&shapes[k], 17);
		memcpy(first, text, LOG);
		for (i = 0, same = 0; i < AGAIN; i++) {
			run_seed(&shapes[k], 17);
			same += !strcmp(first, text);
		}
		is(same, AGAIN, "seed 17 repeats itself");
	}
}

/* ---- time --------------------------------------------------------------- */

static int note_expired(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static void time_goes_on_where_nothing_is_ready(void)
{
	struct lkdf *rt = api_open("order=3");
	struct lkdf_kind *k = api_kind(rt, "late", note_expired, 0, 0);
	struct lkdf_event never, done;

	must(lkdf_event_create(rt, 1, 0, &never));
	is(lkdf_event_wait(never, 3600 * SECOND), 1,
	   "an hour is over at once where nothing is ready");
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .after = &never,
			      .nr_after = 1, .deadline_ns = 3600 * SECOND),
			 &done));
	is(lkdf_event_wait(done, -1), -ETIME, "and so is a deadline");
	must(lkdf_event_signal(never, 0));
	lkdf_event_put(never);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "it closes");
}

/* ---- deadlocks ---------------------------------------------------------- */

static struct lkdf_event nobody;

static int wait_for_child(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	must(lkdf_spawn_task(c,
			     ATTR(lkdf_task, .kind = child_kind, .arg = "x",
				  .after = &nobody, .nr_after = 1),
			     NULL));
	return lkdf_join(c);
}

static void wait_for_ever(struct lkdf *rt)
{
	must(lkdf_event_create(rt, 1, 0, &nobody));
	lkdf_event_wait(nobody, -1);
}

static void join_for_ever(struct lkdf *rt)
{
	child_kind = api_kind(rt, "child", note_char, 1, 0);
	must(lkdf_event_create(rt, 1, 0, &nobody));
	api_call(rt, api_kind(rt, "parent", wait_for_child, 0, 0), NULL);
}

/*
 * The program's status, which runs what(); out holds what it prints. It is
 * a new one: the thread sanitizer starts one thread more in forked children.
 */
static int status_of(const char *options, const char *what, char *out,
		     size_t size)
{
	int fd[2], status;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	must(pipe(fd));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fd[1], 2);
		close(fd[0]);
		close(fd[1]);
		execl("/proc/self/exe", "test_order", options, what, NULL);
		_exit(127);
	}
	close(fd[1]);
	while ((n = read(fd[0], out + used, size - used - 1)) > 0)
		used += (size_t)n;
	out[used] = '\0';
	close(fd[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_deadlock_ends_the_program(void)
{
	static const char *const options[] = { "serial=yes", "order=5" };
	char out[4096];
	int i;

	for (i = 0; i < 2; i++) {
		is(status_of(options[i], "wait", out, sizeof(out)), 70,
		   "%s: a wait for nobody ends the program", options[i]);
		ok(strstr(out, "deadlock: nothing is ready"), "and says why");
		is(status_of(options[i], "join", out, sizeof(out)), 70,
		   "%s: so does a join", options[i]);
		ok(strstr(out, "task \"child\", below \"parent\" waits"),
		   "whose child is named");
	}
}

/* ---- bodies that wait for others ---------------------------------------- */

static int pauses(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	for (;;)
		pause();
	return 0;
}

static void pause_for_ever(struct lkdf *rt)
{
	api_call(rt, api_kind(rt, "pauses", pauses, 0, 0), NULL);
}

static void stall_ends_the_program(void)
{
	char out[4096];

	is(status_of("order=5,stall=1", "pause", out, sizeof(out)), 71,
	   "order and stall: a body that waits for ever ends the program");
	ok(strstr(out, "stall: nothing has ended for 1 s"), "and says when");
	ok(strstr(out, "cannot be checked"), "and why");
	is(status_of("order=5,stall=60", "wait", out, sizeof(out)), 70,
	   "a deadlock is seen at once, with stall, too");
	setenv("LKDF_STALL", "1", 1);
	setenv("LKDF_ORDER", "5", 1);
	is(status_of("workers=2,final", "pause", out, sizeof(out)), 71,
	   "with LKDF_ORDER a program with final obeys LKDF_STALL");
	unsetenv("LKDF_ORDER");
	unsetenv("LKDF_STALL");
}

/* The program of status_of(). */
static int run_what(const char *options, const char *what)
{
	struct lkdf *rt;

	watchdog_set(60);
	rt = api_open(options);
	if (!strcmp(what, "wait"))
		wait_for_ever(rt);
	else if (!strcmp(what, "join"))
		join_for_ever(rt);
	else
		pause_for_ever(rt);
	return 0;
}

/* ---- options ------------------------------------------------------------ */

static void the_variable_wins(void)
{
	struct lkdf *rt;
	int before = api_nr_threads();

	setenv("LKDF_ORDER", "9", 1);
	rt = api_open("serial=no,workers=2,final");
	is(api_nr_threads(), before, "LKDF_ORDER makes any program serial");
	unsetenv("LKDF_ORDER");
	is(lkdf_close(rt), 0, "it closes");
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return run_what(argv[1], argv[2]);
	tap_start(120);
	the_variable_wins();
	a_deadlock_ends_the_program();
	stall_ends_the_program();
	time_goes_on_where_nothing_is_ready();
	seeds_give_many_orders_and_one_gives_one();
	return tap_end();
}
