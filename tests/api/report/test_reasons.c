/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Why each body waited: the first task is in its body while others are
 * submitted behind it, so that nothing depends on the speed of the machine.
 */
#include "tests/api/api.h"
#include "tests/api/probe.h"

#include <sys/mman.h>

static char file[] = "/tmp/lkdf-reasons-XXXXXX";

struct door {
	_Atomic(bool) is_in, goes;
};

static int pass_door(struct lkdf_ctx *c, void *arg)
{
	struct door *g = *(struct door **)arg;

	(void)c;
	g->is_in = true;
	while (!g->goes)
		usleep(100);
	return 0;
}

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static int make_child(struct lkdf_ctx *c, void *arg)
{
	must(lkdf_spawn(c, *(struct lkdf_kind **)arg, NULL));
	return 0;
}

static int take_value(struct lkdf_ctx *c, void *arg)
{
	int value, rc = lkdf_recv(c, *(struct lkdf_channel **)arg, &value);

	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

struct program {
	struct lkdf *rt;
	struct lkdf_data *sum, *config;
	struct lkdf_channel *pipe;
	struct door door;
	struct lkdf_event first;
};

static void submit_kind(struct program *p, const char *name, lkdf_fn fn,
			size_t size, struct lkdf_task *t,
			struct lkdf_event *done)
{
	struct lkdf_kind *k = api_kind(p->rt, name, fn, (uint32_t)size, 0);

	t->size = sizeof(*t);
	t->kind = k;
	must(lkdf_submit(p->rt, NULL, t, done));
	lkdf_kind_put(k);
}

/* It has the token of one data and writes the other until the door opens. */
static void submit_first(struct program *p)
{
	const struct lkdf_use use[] = {
		{ .data = p->sum, .mode = LKDF_COMMUTE },
		{ .data = p->config, .mode = LKDF_RW },
	};
	struct door *g = &p->door;

	submit_kind(p, "first", pass_door, sizeof(g),
		    &(struct lkdf_task){ .arg = &g, .use = use, .nr_use = 2 },
		    &p->first);
	while (!g->is_in)
		usleep(100);
}

static void submit_user(struct program *p, const char *name,
			struct lkdf_data *d, uint32_t mode)
{
	const struct lkdf_use use = { .data = d, .mode = mode };

	submit_kind(p, name, nothing, 0,
		    &(struct lkdf_task){ .use = &use, .nr_use = 1 }, NULL);
}

static void submit_behind(struct program *p, const char *name)
{
	submit_kind(p, name, nothing, 0,
		    &(struct lkdf_task){ .after = &p->first, .nr_after = 1 },
		    NULL);
}

/* What is behind the first, and behind nothing. */
static void submit_all(struct program *p)
{
	struct lkdf_kind *child = api_kind(p->rt, "child", nothing, 0, 0);

	submit_first(p);
	submit_user(p, "commuting", p->sum, LKDF_COMMUTE);
	submit_user(p, "reading", p->config, LKDF_READ);
	submit_behind(p, "behind");
	submit_kind(p, "parent", make_child, sizeof(child),
		    &(struct lkdf_task){ .arg = &child }, NULL);
	p->door.goes = true;
	must(lkdf_scope_wait(p->rt, NULL, PATIENCE_NS));
	submit_user(p, "alone", p->sum, LKDF_COMMUTE);
	submit_behind(p, "late");
	lkdf_kind_put(child);
}

static bool why_has(struct lkdf *rt, const char *word)
{
	int fd = memfd_create("why", 0);
	char text[8192];
	ssize_t n;

	must(fd);
	lkdf_why(rt, "text", fd);
	n = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return strstr(text, word) != NULL;
}

/* Waits at the channel until it has left, and goes on by the value. */
static void submit_waiter(struct program *p)
{
	int value = 7;

	submit_kind(p, "taker", take_value, sizeof(p->pipe),
		    &(struct lkdf_task){ .arg = &p->pipe }, NULL);
	while (!why_has(p->rt, "\"pipe\""))
		usleep(1000);
	must(lkdf_channel_send(p->pipe, &value, 0));
	must(lkdf_scope_wait(p->rt, NULL, PATIENCE_NS));
}

static void run_program(void)
{
	static const char zero[64];
	struct program p = { .rt = NULL };
	char text[128];

	unlink(file);
	snprintf(text, sizeof(text), "workers=2,pin=no,trace=%s", file);
	p.rt = api_open(text);
	must(lkdf_data_create(p.rt,
			      ATTR(lkdf_data_attr, .bytes = 64, .init = zero,
				   .name = "sum"),
			      &p.sum));
	must(lkdf_data_create(p.rt,
			      ATTR(lkdf_data_attr, .bytes = 64, .init = zero,
				   .name = "config"),
			      &p.config));
	must(lkdf_channel_create(p.rt,
				 ATTR(lkdf_channel_attr, .name = "pipe",
				      .value_size = sizeof(int), .depth = 2),
				 &p.pipe));
	submit_all(&p);
	submit_waiter(&p);
	lkdf_event_put(p.first);
	lkdf_channel_put(p.pipe);
	lkdf_data_put(p.sum);
	lkdf_data_put(p.config);
	must(lkdf_close(p.rt));
}

static char report[1 << 20];

static void read_report(void)
{
	char line[3 * PATH_MAX];
	size_t n = 0;
	FILE *f;

	snprintf(line, sizeof(line), "'%s' report --json '%s'", probe_tool,
		 file);
	f = popen(line, "r");
	if (f)
		n = fread(report, 1, sizeof(report) - 1, f);
	report[n] = '\0';
	ok(f && pclose(f) == 0, "lkdf report reads the recording");
}

/* The row of that kind and reason is in the report. */
static void waited_for(const char *kind, const char *reason, const char *what)
{
	char row[256];

	snprintf(row, sizeof(row),
		 "{\"kind\": \"%s\", \"reason\": \"%s\", \"for\": \"%s\"", kind,
		 reason, what);
	has(report, row, "%s: %s", kind, what);
}

int main(int argc, char **argv)
{
	int fd;

	tap_start(120);
	(void)argc;
	probe_find(argv[0]);
	if (access(probe_tool, X_OK)) {
		printf("1..0 # SKIP there is no tool\n");
		return 0;
	}
	fd = mkstemp(file);
	must(fd);
	close(fd);
	run_program();
	read_report();
	waited_for("first", "program", "the program submitted it");
	waited_for("commuting", "token", "COMMUTE on sum");
	waited_for("alone", "program", "the program submitted it");
	waited_for("reading", "data", "READ on config");
	waited_for("behind", "event", "events (.after)");
	waited_for("late", "program", "the program submitted it");
	waited_for("parent", "program", "the program submitted it");
	waited_for("child", "body", "a body made it");
	waited_for("taker", "program", "the program submitted it");
	waited_for("taker", "away", "values of channel \\\"pipe\\\"");
	unlink(file);
	return tap_end();
}
