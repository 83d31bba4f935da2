/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * C++: what the graph contestants share. The program gives a template
 *
 *	template <class Body> struct contest {
 *		contest(int workers, const struct shape &s);
 *		void run();
 *	};
 *
 * whose constructor builds the graph and whose tasks call Body()(number), and
 * calls answer_graphs<contest>(), which answers:
 * graph SHAPE NR WORKERS TIMES [UNITS]   ns of TIMES runs of one built graph
 * build SHAPE NR WORKERS                 ns of one build
 * cycle SHAPE NR WORKERS                 ns of build, run and destroy
 * and by answer_open<runtime>(), with a class made of a number of workers:
 * open WORKERS                           CPU ns until the first one, and the
 *                                        second one, is there
 */
#ifndef TESTS_BENCH_PEER_GRAPH_H
#define TESTS_BENCH_PEER_GRAPH_H

#include "tests/bench/peer_loop.h"
#include "tests/bench/shapes.h"
#include "tests/bench/work.h"

#include <memory>
#include <string>

struct job {
	struct shape shape;
	std::unique_ptr<uint32_t[]> count;
	uint32_t units, nr_runs;
	int is_bad;
};

static job the_job;

struct plain_body {
	void operator()(uint32_t task) const
	{
		the_job.count[task]++;
	}
};

struct order_body {
	void operator()(uint32_t task) const
	{
		if (!shape_in_order(&the_job.shape, the_job.count.get(), task))
			the_job.is_bad = 1;
		the_job.count[task]++;
	}
};

struct work_body {
	void operator()(uint32_t task) const
	{
		work_for(the_job.units);
		the_job.count[task]++;
	}
};

static bool take_shape(struct question *q)
{
	static std::string now;
	std::string asked;

	if (q->nr < 4)
		return false;
	asked = std::string(q->word[1]) + " " + q->word[2];
	if (asked == now)
		return true;
	now = "";
	shape_fini(&the_job.shape);
	if (shape_init(&the_job.shape, q->word[1], peer_number(q, 2)))
		return false;
	now = asked;
	the_job.count.reset(new uint32_t[the_job.shape.nr_tasks]());
	the_job.nr_runs = 0;
	return true;
}

static bool is_right()
{
	return !the_job.is_bad &&
	       shape_all_ran(&the_job.shape, the_job.count.get(),
			     the_job.nr_runs);
}

template <class C> static double timed_runs(C &c, uint32_t times)
{
	int64_t start = peer_now_ns();

	for (uint32_t i = 0; i < times; i++)
		c.run();
	the_job.nr_runs += times;
	return (double)(peer_now_ns() - start);
}

/* The last graph stays built for the next question. */
template <template <class> class C> static int answer_graph(struct question *q)
{
	static std::unique_ptr<C<plain_body>> plain;
	static std::unique_ptr<C<work_body>> work;
	static std::string built;
	int workers = (int)peer_number(q, 3);
	uint32_t times = peer_number(q, 4);
	std::string asked =
		std::string(q->word[1]) + " " + q->word[2] + " " + q->word[3];

	if (asked != built) {
		work.reset();
		plain.reset();
		C<order_body> order(workers, the_job.shape);
		timed_runs(order, 3);
		plain.reset(new C<plain_body>(workers, the_job.shape));
		work.reset(new C<work_body>(workers, the_job.shape));
		timed_runs(*plain, 1);
		built = asked;
	}
	the_job.units = peer_number(q, 5);
	q->out[0] = the_job.units ? timed_runs(*work, times)
				  : timed_runs(*plain, times);
	return is_right() ? 1 : peer_refuse(q, "wrong result");
}

template <template <class> class C> static int answer_build(struct question *q)
{
	int64_t start = peer_now_ns();
	C<plain_body> c((int)peer_number(q, 3), the_job.shape);

	q->out[0] = (double)(peer_now_ns() - start);
	return 1;
}

template <template <class> class C> static int answer_cycle(struct question *q)
{
	int64_t start = peer_now_ns();

	{
		C<plain_body> c((int)peer_number(q, 3), the_job.shape);

		c.run();
		the_job.nr_runs++;
	}
	q->out[0] = (double)(peer_now_ns() - start);
	return is_right() ? 1 : peer_refuse(q, "wrong result");
}

template <class Runtime> static double timed_open(int workers)
{
	int64_t start = peer_cpu_ns();
	Runtime runtime(workers);

	return (double)(peer_cpu_ns() - start);
}

template <class Runtime> static int answer_open(struct question *q)
{
	int i;

	for (i = 0; i < 2; i++)
		q->out[i] = timed_open<Runtime>((int)peer_number(q, 1));
	return i;
}

template <template <class> class C> static int answer_graphs(struct question *q)
{
	if (!peer_is(q, "graph") && !peer_is(q, "build") &&
	    !peer_is(q, "cycle"))
		return peer_refuse(q, "unknown question");
	if (!take_shape(q))
		return peer_refuse(q, "no such shape");
	if (peer_is(q, "graph"))
		return answer_graph<C>(q);
	return peer_is(q, "build") ? answer_build<C>(q) : answer_cycle<C>(q);
}

#endif
