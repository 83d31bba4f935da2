// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// A body that throws, where its first argument says: test_thrown.sh.
#include <lkdf/lkdf.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

static lkdf_kind *thrower;

static int throws(lkdf_ctx *, void *)
{
	throw std::runtime_error("thrown");
}

static int catches(lkdf_ctx *, void *)
{
	try {
		throw std::runtime_error("caught");
	} catch (const std::exception &) {
		return -5;
	}
}

// Its handler is not for what its children throw.
static int joins(lkdf_ctx *c, void *)
{
	try {
		lkdf_spawn(c, thrower, nullptr);
		return lkdf_join(c);
	} catch (const std::exception &) {
		std::puts("the handler of a join");
		return 0;
	}
}

static lkdf_kind *make(lkdf *rt, const char *name, lkdf_fn fn, uint32_t flags)
{
	lkdf_kind_attr a = {};
	lkdf_kind *k = nullptr;

	a.size = sizeof(a);
	a.name = name;
	a.fn = fn;
	a.flags = flags;
	if (lkdf_kind_create(rt, &a, &k))
		std::exit(2);
	return k;
}

static int submit(lkdf *rt, lkdf_kind *k)
{
	lkdf_task t = {};

	t.size = sizeof(t);
	t.kind = k;
	try {
		lkdf_submit(rt, nullptr, &t, nullptr);
	} catch (const std::exception &) {
		std::puts("the handler of a submit");
	}
	return lkdf_scope_wait(rt, nullptr, -1);
}

// Task "first" and then one of the kind.
static int run_graph(lkdf *rt, lkdf_kind *k, lkdf_kind *before)
{
	lkdf_graph *g = nullptr;

	if (lkdf_graph_create(rt, nullptr, &g))
		std::exit(2);
	lkdf_graph_add(g, before, nullptr, nullptr, 0);
	lkdf_graph_add(g, k, nullptr, nullptr, 0);
	lkdf_graph_label(g, 1, "second");
	lkdf_graph_order(g, 0, 1);
	if (lkdf_graph_seal(g, nullptr))
		std::exit(2);
	for (int i = 0; i < 20; i++)
		lkdf_graph_run(g, nullptr, nullptr, nullptr);
	return lkdf_scope_wait(rt, nullptr, -1);
}

static int nothing(lkdf_ctx *, void *)
{
	return 0;
}

// The first block on the caller's thread, or one on a worker's.
static uint64_t throws_at;

static int loops(uint64_t begin, uint64_t end, void *)
{
	if (begin <= throws_at && throws_at < end)
		throw std::runtime_error("thrown");
	return 0;
}

static int loop(lkdf *rt, uint64_t at)
{
	lkdf_range r = {};

	r.end = 1000000;
	throws_at = at;
	try {
		return lkdf_for(rt, r, loops, nullptr);
	} catch (const std::exception &) {
		std::puts("the handler of a loop");
		return 0;
	}
}

int main(int argc, char **argv)
{
	lkdf *rt = nullptr;

	if (argc < 3 || lkdf_open(argv[1], &rt))
		return 2;
	thrower = make(rt, "thrower", throws, 0);
	if (!std::strcmp(argv[2], "submit"))
		return submit(rt, thrower);
	if (!std::strcmp(argv[2], "blocking"))
		return submit(rt, make(rt, "blocker", throws, LKDF_BLOCKING));
	if (!std::strcmp(argv[2], "join"))
		return submit(rt, make(rt, "joiner", joins, 0));
	if (!std::strcmp(argv[2], "graph"))
		return run_graph(rt, thrower, make(rt, "first", nothing, 0));
	if (!std::strcmp(argv[2], "first block"))
		return loop(rt, 0);
	if (!std::strcmp(argv[2], "last block"))
		return loop(rt, 999999);
	if (!std::strcmp(argv[2], "caught"))
		return submit(rt, make(rt, "catcher", catches, 0)) == -5 ? 0
									 : 1;
	return 2;
}
