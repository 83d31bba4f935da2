/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Each system call of a scenario fails once, with each errno of its row in
 * tests/faults/refuse_calls.h: the scenario gives the right result or an error
 * with a text, loses no descriptor and no thread, and then works. See
 * tests/api/refused.h for the words of its command line.
 */
#include "tests/api/refused.h"

#define NR_TASKS 20
#define PAGES_BYTES (3u << 20)

static char file[] = "/tmp/lkdf-refused-XXXXXX";

/* ---- scenarios: 0, an error, or 1 for a wrong value ---------------------- */

static struct lkdf_kind *make_kind(struct lkdf *rt, lkdf_fn fn, int *rc)
{
	struct lkdf_kind *k = NULL;

	if (!*rc)
		*rc = lkdf_kind_create(
			rt, ATTR(lkdf_kind_attr, .name = "count", .fn = fn),
			&k);
	return k;
}

/* Submitted tasks that count; an error of one of them is the scenario's. */
static int submit_some(struct lkdf *rt)
{
	static atomic_int nr;
	int rc = 0, failed, i;
	struct lkdf_kind *k;

	atomic_store(&nr, 0);
	k = make_kind(rt, api_count, &rc);
	for (i = 0; !rc && i < NR_TASKS; i++)
		rc = lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &nr), NULL);
	failed = lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(k);
	if (rc || failed)
		return rc ? rc : failed;
	return atomic_load(&nr) != NR_TASKS;
}

/* The runtime closes, whatever became of what ran in it. */
static int close_after(struct lkdf *rt, int rc)
{
	int closed = lkdf_close(rt);

	return rc ? rc : closed;
}

static int open_and_submit(const char *options)
{
	struct lkdf *rt;
	int rc = lkdf_open(options, &rt);

	return rc ? rc : close_after(rt, submit_some(rt));
}

static int do_open(void)
{
	return open_and_submit("workers=2");
}

static int do_nodes(void)
{
	return open_and_submit("topology=numa:2 core:2,workers=4");
}

static int do_record(void)
{
	char options[128];

	snprintf(options, sizeof(options), "workers=1,trace=%s", file);
	return open_and_submit(options);
}

static int do_blocking(void)
{
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;
	struct lkdf *rt;
	int rc = lkdf_open("workers=1,blocking=2", &rt);

	if (rc)
		return rc;
	rc = lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "blocks",
				   .fn = api_nothing, .flags = LKDF_BLOCKING),
			      &k);
	if (!rc)
		rc = lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	lkdf_kind_put(k);
	return close_after(rt, rc);
}

/* A graph that runs twice. */
static int run_graph(struct lkdf_graph *g, struct lkdf_kind *k)
{
	static atomic_int nr;
	struct lkdf_event done;
	int rc = 0, i;

	atomic_store(&nr, 0);
	for (i = 0; rc >= 0 && i < NR_TASKS; i++)
		rc = lkdf_graph_add(g, k, &nr, NULL, 0);
	if (rc >= 0)
		rc = lkdf_graph_seal(g, NULL);
	for (i = 0; !rc && i < 2; i++) {
		rc = lkdf_graph_run(g, NULL, NULL, &done);
		if (!rc)
			rc = lkdf_event_wait(done, -1);
	}
	return rc ? rc : atomic_load(&nr) != 2 * NR_TASKS;
}

static int do_graph(void)
{
	struct lkdf_graph *g = NULL;
	struct lkdf_kind *k;
	struct lkdf *rt;
	int rc = lkdf_open("workers=2", &rt);

	if (rc)
		return rc;
	k = make_kind(rt, api_count, &rc);
	if (!rc)
		rc = lkdf_graph_create(rt, NULL, &g);
	if (!rc)
		rc = run_graph(g, k);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	return close_after(rt, rc);
}

/* ---- operations ---------------------------------------------------------- */

struct call {
	struct lkdf_io io;
	int64_t *result;
};

static int note(struct lkdf_ctx *c, void *arg)
{
	struct call *call = arg;

	*call->result = lkdf_io_result(c);
	return 0;
}

static int operate(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_io io)
{
	int64_t result = INT64_MIN;
	struct call call = { .io = io, .result = &result };
	struct lkdf_event done;
	int rc = lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &call),
			     &done);

	if (!rc)
		rc = lkdf_event_wait(done, -1);
	if (rc)
		return rc;
	return result < 0 ? (int)result : result != 5;
}

/* Bytes that are written come back. */
static int write_and_read(struct lkdf *rt, int fd)
{
	char bytes[5] = "12345", back[5] = "";
	struct lkdf_io io = { .size = sizeof(io),
			      .op = LKDF_IO_WRITE,
			      .fd = fd,
			      .buf = bytes,
			      .len = sizeof(bytes) };
	struct lkdf_kind *k = NULL;
	int rc = lkdf_kind_create_io(rt,
				     ATTR(lkdf_kind_attr, .name = "io",
					  .fn = note,
					  .arg_size = sizeof(struct call)),
				     &k);

	if (!rc)
		rc = operate(rt, k, io);
	io.op = LKDF_IO_READ;
	io.buf = back;
	if (!rc)
		rc = operate(rt, k, io);
	lkdf_kind_put(k);
	return rc ? rc : memcmp(bytes, back, sizeof(back)) != 0;
}

static int do_io_with(const char *options)
{
	struct lkdf *rt;
	int rc = lkdf_open(options, &rt), fd;

	if (rc)
		return rc;
	fd = open(file, O_RDWR | O_CLOEXEC);
	rc = fd < 0 ? 0 : write_and_read(rt, fd);
	rc = close_after(rt, rc);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int do_ring(void)
{
	return do_io_with("workers=1");
}

static int do_io_threads(void)
{
	return do_io_with("workers=1,io=threads");
}

/* ---- data and memory ----------------------------------------------------- */

static int add_one(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	(*(uint64_t *)lkdf_ptr(c, 0))++;
	return 0;
}

static int add_some(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_data *d)
{
	const struct lkdf_use use = { .data = d, .mode = LKDF_RW };
	int rc = 0, failed, i;

	for (i = 0; !rc && i < NR_TASKS; i++)
		rc = lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .use = &use,
				      .nr_use = 1),
				 NULL);
	failed = lkdf_scope_wait(rt, NULL, -1);
	return rc ? rc : failed;
}

static int use_data(struct lkdf *rt)
{
	static uint64_t value;
	struct lkdf_data *d = NULL;
	struct lkdf_kind *k;
	int rc = 0;

	value = 0;
	k = make_kind(rt, add_one, &rc);
	if (!rc)
		rc = lkdf_data_create(rt,
				      ATTR(lkdf_data_attr, .name = "sum",
					   .bytes = sizeof(value),
					   .wrap = &value),
				      &d);
	if (!rc)
		rc = add_some(rt, k, d);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	return rc ? rc : value != NR_TASKS;
}

static int do_data(void)
{
	struct lkdf *rt;
	int rc = lkdf_open("workers=2", &rt);

	return rc ? rc : close_after(rt, use_data(rt));
}

static int use_memory(struct lkdf *rt)
{
	struct lkdf_place *p = lkdf_place_node(rt, 1);
	void *block = NULL;
	int rc = p ? 0 : 1;

	if (!rc)
		rc = lkdf_alloc(p, LKDF_MEM_OWN, PAGES_BYTES, 0, "pages",
				&block);
	if (!rc)
		memset(block, 1, PAGES_BYTES);
	lkdf_free(rt, block);
	return rc;
}

static int do_memory(void)
{
	struct lkdf *rt;
	int rc = lkdf_open("topology=numa:2 core:1,workers=2", &rt);

	return rc ? rc : close_after(rt, use_memory(rt));
}

/* What waits, and what the runtime is, go to a descriptor. */
static int describe(struct lkdf *rt)
{
	static const char *const what[] = { "stats", "options", "topo" };
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC), rc = 0;
	unsigned i;

	if (fd < 0)
		return 0;
	for (i = 0; !rc && i < sizeof(what) / sizeof(what[0]); i++)
		rc = lkdf_describe(rt, what[i], "json", fd);
	if (!rc)
		rc = lkdf_why(rt, "text", fd);
	close(fd);
	return rc;
}

static int do_describe(void)
{
	struct lkdf *rt;
	int rc = lkdf_open("workers=1,ask=yes", &rt);

	return rc ? rc : close_after(rt, describe(rt));
}

static const struct scenario scenarios[] = {
	{ .name = "open", .run = do_open },
	{ .name = "nodes", .run = do_nodes },
	{ .name = "record", .run = do_record },
	{ .name = "blocking", .run = do_blocking },
	{ .name = "graph", .run = do_graph },
	{ .name = "ring", .run = do_ring },
	{ .name = "io_threads", .run = do_io_threads },
	{ .name = "data", .run = do_data },
	{ .name = "memory", .run = do_memory },
	{ .name = "describe", .run = do_describe },
};

int main(int argc, char **argv)
{
	tap_start(300);
	if (HAS_SANITIZER) {
		printf("1..0 # SKIP a sanitizer has calls of its own\n");
		return 0;
	}
	close(must(mkstemp(file)));
	refused_main(argc, argv, scenarios,
		     (int)(sizeof(scenarios) / sizeof(scenarios[0])));
	unlink(file);
	return tap_end();
}
