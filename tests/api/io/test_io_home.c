/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What follows a read goes to the node that has its bytes: by preference, so
 * this counts those that were sent, with one worker of two at work, and on the
 * machine itself says where they ran.
 */
#include "tests/api/io.h"

#define SIZE (128 << 10)
#define NR 20

static atomic_int is_held, is_open, nr_at_home, nr_wrong;
static char from[SIZE];

/* On the worker of node 1 until all others are through. */
static int hold(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&is_held, 1);
	api_until(&is_open);
	return 0;
}

struct read {
	struct lkdf_io io;
	int node;
};

static void check_bytes(const struct read *r)
{
	if (memcmp(r->io.buf, from, SIZE))
		atomic_fetch_add(&nr_wrong, 1);
}

/* After the read, in a graph. */
static int follow(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	check_bytes(arg);
	return 0;
}

/* The operation's own function. */
static int take(struct lkdf_ctx *c, void *arg)
{
	const struct read *r = arg;
	int node = -1;

	if (lkdf_io_result(c) != SIZE)
		atomic_fetch_add(&nr_wrong, 1);
	check_bytes(r);
	if (!lkdf_where(c, NULL, &node) && node == r->node)
		atomic_fetch_add(&nr_at_home, 1);
	return 0;
}

static uint64_t homed(struct lkdf *rt)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, "lkdf.io.homed", &nr));
	return nr;
}

/* The buffer of a read, on that node. NULL: there is none. */
static char *buffer_on(struct lkdf_place *p)
{
	void *buf = NULL;

	/* A node may have no memory. */
	return lkdf_alloc(p, LKDF_MEM_OWN, SIZE, 0, NULL, &buf) ? NULL : buf;
}

static void fill_read(struct read *r, int fd, void *buf, int node)
{
	*r = (struct read){ .io = { .size = sizeof(r->io),
				    .op = LKDF_IO_READ,
				    .fd = fd,
				    .buf = buf,
				    .len = SIZE },
			    .node = node };
}

static struct lkdf_graph *graph_of(struct lkdf *rt, struct read *r)
{
	struct lkdf_kind *io = io_kind(rt, NULL, sizeof(*r));
	struct lkdf_kind *k = api_kind(rt, "follow", follow, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int a, b;

	a = must(lkdf_graph_add(g, io, r, NULL, 0));
	b = must(lkdf_graph_add(g, k, r, NULL, 0));
	must(lkdf_graph_order(g, a, b));
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(io);
	lkdf_kind_put(k);
	return g;
}

/*
 * Node 1's worker is held: all is done on node 0, and what follows a read into
 * node 1's bytes is sent there, though node 0 may take it back.
 */
static void sent_home(struct lkdf *rt, int fd, int node, uint64_t want)
{
	struct read r;
	struct lkdf_kind *io = io_kind(rt, take, sizeof(r));
	char *buf = buffer_on(lkdf_place_node(rt, node));
	uint64_t before = homed(rt);
	struct lkdf_graph *g;
	int i;

	fill_read(&r, fd, buf, node);
	g = graph_of(rt, &r);
	for (i = 0; i < NR; i++) {
		must(api_call(rt, io, &r));
		must(api_run(g, NULL, NULL));
	}
	is(homed(rt) - before, want, "node %d: what follows a read is sent",
	   node);
	lkdf_graph_put(g);
	lkdf_kind_put(io);
	lkdf_free(rt, buf);
}

static void on_a_made_up_machine(int fd, const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "hold", hold, 0, 0);
	struct lkdf_event done;

	atomic_store(&is_held, 0);
	atomic_store(&is_open, 0);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k,
			      .place = lkdf_place_node(rt, 1),
			      .flags = LKDF_PINNED),
			 &done));
	api_until(&is_held);
	sent_home(rt, fd, 0, 0);
	sent_home(rt, fd, 1, 2 * NR);
	atomic_store(&is_open, 1);
	must(lkdf_event_wait(done, -1));
	is(atomic_load(&nr_wrong), 0, "%s: with its bytes", options);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "%s: closed", options);
}

static void on_this_machine(int fd)
{
	struct lkdf *rt = api_open("");
	struct read r;
	struct lkdf_kind *io = io_kind(rt, take, sizeof(r));
	struct lkdf_place *p[64];
	int nr = lkdf_places(rt, LKDF_PLACE_NODE, p, 64), i, j;
	uint64_t before;
	char *buf;

	for (i = 0; i < nr && i < 64; i++) {
		atomic_store(&nr_at_home, 0);
		buf = buffer_on(p[i]);
		if (!buf)
			continue;
		before = homed(rt);
		fill_read(&r, fd, buf, lkdf_place_id(p[i]));
		for (j = 0; j < NR; j++)
			must(api_call(rt, io, &r));
		printf("# node %d: %d of %d went on there, %d were sent\n",
		       lkdf_place_id(p[i]), atomic_load(&nr_at_home), NR,
		       (int)(homed(rt) - before));
		lkdf_free(rt, buf);
	}
	is(atomic_load(&nr_wrong), 0, "on %d nodes: with its bytes", nr);
	lkdf_kind_put(io);
	is(lkdf_close(rt), 0, "on this machine: closed");
}

int main(void)
{
	int fd;

	tap_start(60);
	io_begin();
	io_fill(from, SIZE, 3);
	fd = io_file("file", from, SIZE);
	on_a_made_up_machine(fd, "workers=2,topology=numa:2 core:1");
	on_a_made_up_machine(fd, "workers=2,io=threads,topology=numa:2 core:1");
	on_this_machine(fd);
	close(fd);
	unlink(io_path("file"));
	io_end();
	return tap_end();
}
