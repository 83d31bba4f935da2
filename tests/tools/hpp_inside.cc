// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A library that uses lkdf and does not know who calls it: from the program's
 * threads, bodies in C and in C++, functions of loops, graphs, another runtime.
 * Prints:
 *
 *   in the program: right, on a thread: right
 *   in a body: right, in a body in C that a join runs: 4 of 4
 *   in a loop of the program: 200 of 200, of a body: 200 of 200
 *   in a sum: right, in functions at once: 3 of 3, in a graph: right
 *   tasks that a block starts have ended with the loop: 100 of 100
 *   a child of a block throws: domain_error, its get() does: domain_error
 *   data in a block: 40
 *   the task's own EDEADLK: mine, in a body: mine
 *   another runtime in a body: a task 5 or EDEADLK, a group EDEADLK, sum 4950
 *   a loop of another runtime in a body: 50 of 50 right or EDEADLK
 *   in a callback: no body
 *   a group waits for its own, another thread and a tree of its children start
 *   more: yes yes yes, of the program: yes yes
 *   errors stay with their group: domain_error, of the other: nothing
 *   cancelled: at most 11 of 101, and used again: 1
 *   after a join futures are ready: 100 of 100, and what their events call has
 *   returned: 10 of 10, values: 200
 */
#include <lkdf/lkdf.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

template <class F> static std::string thrown(F f)
{
	try {
		f();
		return "nothing";
	} catch (const std::domain_error &) {
		return "domain_error";
	} catch (const std::system_error &e) {
		std::string text = e.what();

		if (text.rfind("mine", 0) == 0)
			return "mine";
		return e.code().value() == EDEADLK ? "EDEADLK" : text;
	} catch (const std::exception &e) {
		return e.what();
	}
}

// The library: true where each of its ways gives the right sum.
static bool right(lk::runtime &rt)
{
	std::atomic<long> sum{ 0 };
	lk::group g(rt);

	for (long i = 0; i < 10; i++)
		g.run([&sum, i] { sum += i; });
	g.wait();
	auto f = rt.async([](int a, int b) { return a + b; }, 2, 3);
	rt.for_each(0, 10, [&sum](size_t i) { sum += long(i); });
	long more = rt.reduce(0, 10, 0L,
			      [](long s, size_t i) { return s + long(i); });
	return f.get() == 5 && sum == 90 && more == 45;
}

// The same of a function that is not given the runtime.
static bool right_here()
{
	std::atomic<long> sum{ 0 };
	lk::group g;

	for (long i = 0; i < 10; i++)
		g.run([&sum, i] { sum += i; });
	g.wait();
	return sum == 45;
}

static const char *word(bool is_right)
{
	return is_right ? "right" : "wrong";
}

struct library {
	lk::runtime *rt;
	std::atomic<int> nr{ 0 };
};

static int c_body(struct lkdf_ctx *c, void *arg)
{
	auto *l = static_cast<library *>(arg);

	l->nr += lk::context() == c && right(*l->rt) && right_here();
	return 0;
}

static void bodies(lk::runtime &rt)
{
	struct lkdf_kind_attr a = {};
	struct lkdf_kind *k;
	library l{ &rt };
	bool on_thread = false;

	std::thread t([&] { on_thread = right(rt); });
	t.join();
	std::printf("in the program: %s, on a thread: %s\n", word(right(rt)),
		    word(on_thread));
	a.size = sizeof(a);
	a.name = "in C";
	a.fn = c_body;
	a.flags = LKDF_SHARED;
	lk::must(lkdf_kind_create(rt.get(), &a, &k));
	bool is_right =
		rt.async([&] {
			  for (int i = 0; i < 4; i++)
				  lk::must(lkdf_spawn(lk::context(), k, &l));
			  lk::must(lkdf_join(lk::context()));
			  return right(rt) && right_here();
		  }).get();
	std::printf("in a body: %s, in a body in C that a join runs: %d of 4\n",
		    word(is_right), l.nr.load());
	lkdf_kind_put(k);
}

static void loops(lk::runtime &rt)
{
	std::atomic<int> nr{ 0 };
	auto loop = [&] {
		rt.for_each(
			0, 200,
			[&](size_t) { nr += right(rt) && right_here(); },
			lk::grain{ 1 });
		return nr.exchange(0);
	};
	int outside = loop(), inside = rt.async(loop).get();

	std::printf("in a loop of the program: %d of 200, of a body: %d of "
		    "200\n",
		    outside, inside);
	long sum = rt.reduce(0, 40, 0L, [&](long s, size_t) {
		return s + (right(rt) && right_here());
	});
	auto one = [&] { nr += right(rt) && right_here(); };
	rt.invoke(one, one, one);
	lk::graph g(rt);
	bool in_graph = false;
	g.add("body", [&] { in_graph = right(rt) && right_here(); });
	g.seal();
	g.run();
	std::printf("in a sum: %s, in functions at once: %d of 3, in a graph: "
		    "%s\n",
		    word(sum == 40), nr.exchange(0), word(in_graph));

	int missing = 0;
	for (int i = 0; i < 10; i++) {
		rt.for_each(
			0, 10,
			[&](size_t) {
				rt.async([&] {
					std::this_thread::yield();
					nr++;
				});
			},
			lk::grain{ 1 });
		missing += nr.exchange(0) != 10;
	}
	std::printf("tasks that a block starts have ended with the loop: %d of "
		    "100\n",
		    100 - 10 * missing);
}

static void errors(lk::runtime &rt)
{
	auto bad = []() -> int { throw std::domain_error("bad"); };
	std::string group = thrown([&] {
		rt.for_each(0, 10, [&](size_t i) {
			lk::group g;

			if (i == 3)
				g.run(bad);
			g.wait();
		});
	});
	std::string get = thrown([&] {
		rt.for_each(0, 10, [&](size_t i) {
			if (i == 3)
				rt.async(bad).get();
		});
	});
	std::printf("a child of a block throws: %s, its get() does: %s\n",
		    group.c_str(), get.c_str());

	lk::data<long> x(rt, 0);
	rt.for_each(0, 40, [&](size_t) {
		rt.submit([](long &v) { v++; }, lk::update(x));
	});
	std::printf("data in a block: %ld\n", x.read());

	auto mine = [] {
		throw std::system_error(
			std::make_error_code(
				std::errc::resource_deadlock_would_occur),
			"mine");
	};
	std::string own = thrown([&] { rt.async(mine).get(); });
	std::string in_body =
		thrown([&] { rt.async([&] { rt.async(mine).get(); }).get(); });
	std::printf("the task's own EDEADLK: %s, in a body: %s\n", own.c_str(),
		    in_body.c_str());
}

static void others(lk::runtime &rt, lk::runtime &other)
{
	std::string task, group;
	long sum = 0;
	int five = 0;

	rt.async([&] {
		  task = thrown(
			  [&] { five = other.async([] { return 5; }).get(); });
		  group = thrown([&] { lk::group g(other); });
		  sum = other.reduce(0, 100, 0L, [](long s, size_t i) {
			  return s + long(i);
		  });
	  }).get();
	bool is_right = five == 5 ? task == "nothing" : task == "EDEADLK";
	std::printf("another runtime in a body: a task %s, a group %s, sum "
		    "%ld\n",
		    is_right ? "5 or EDEADLK" : task.c_str(), group.c_str(),
		    sum);
	std::atomic<int> nr{ 0 };
	rt.async([&] {
		  other.for_each(
			  0, 50,
			  [&](size_t) {
				  std::string said = thrown([&] {
					  if (!right(other))
						  throw std::domain_error("");
				  });
				  nr += said == "nothing" || said == "EDEADLK";
			  },
			  lk::grain{ 1 });
	  }).get();
	std::printf("a loop of another runtime in a body: %d of 50 right or "
		    "EDEADLK\n",
		    nr.load());
}

struct seen_at_end {
	std::atomic<int> *nr;

	seen_at_end(std::atomic<int> *n) : nr(n)
	{
	}
	seen_at_end(seen_at_end &&o) noexcept : nr(std::exchange(o.nr, nullptr))
	{
	}
	~seen_at_end()
	{
		if (nr)
			*nr = lk::context() ? 1 : 2;
	}
};

// The result of a task goes with the task where nobody has its future. A task
// that another worker has ended before leaves it to the future, in this body.
static void callbacks(lk::runtime &rt)
{
	std::atomic<bool> is_gone{ false }, was_early{ false };
	std::atomic<int> seen{ 0 };

	rt.async([&] {
		  rt.async([&] {
			  was_early = !is_gone;
			  return seen_at_end(&seen);
		  });
		  is_gone = true;
		  lk::must(lkdf_join(lk::context()));
	  }).get();
	std::printf("in a callback: %s\n", seen == 2 || (seen == 1 && was_early)
						   ? "no body"
						   : "a body");
}

static void branch(lk::group &g, std::atomic<int> &nr, int depth)
{
	nr++;
	if (depth)
		for (int i = 0; i < 2; i++)
			g.run([&g, &nr, depth] { branch(g, nr, depth - 1); });
}

static bool by_others(lk::group &g, bool has_threads)
{
	std::atomic<int> nr{ 0 };

	g.run([&] { branch(g, nr, 6); });
	g.wait();
	bool is_right = nr.exchange(0) == 127;
	if (has_threads) {
		std::thread t([&] {
			for (int i = 0; i < 20; i++)
				g.run([&nr] { nr++; });
		});
		t.join();
	}
	g.wait();
	return is_right && nr == (has_threads ? 20 : 0);
}

static void groups(lk::runtime &rt, bool is_serial)
{
	bool own = false, tree = false, big = false;
	std::atomic<bool> goes_on{ false };
	std::string first, second;

	rt.async([&] {
		  lk::group a, b;
		  int one = 0;

		  // In serial mode it would wait for ever.
		  if (!is_serial)
			  b.run([&goes_on] {
				  while (!goes_on)
					  std::this_thread::yield();
			  });
		  // The youngest child is the first that a wait runs.
		  a.run([&one] { one = 1; });
		  a.wait();
		  own = one == 1;
		  goes_on = true;
		  b.wait();
		  tree = by_others(a, true);
		  std::string text(1000, 'x');
		  std::atomic<size_t> sum{ 0 };
		  for (int i = 0; i < 10; i++)
			  a.run([text, &sum] { sum += text.size(); });
		  a.wait();
		  big = sum == 10000;
		  a.run([] { throw std::domain_error("bad"); });
		  b.run([] {});
		  second = thrown([&] { b.wait(); });
		  first = thrown([&] { a.wait(); });
	  }).get();
	lk::group g(rt);
	bool outside = by_others(g, true), in_body = false;
	rt.async([&] { g.run([&in_body] { in_body = true; }); }).get();
	g.wait();
	auto yes = [](bool is) { return is ? "yes" : "no"; };
	std::printf("a group waits for its own, another thread and a tree of "
		    "its children start\nmore: %s %s %s, of the program: %s "
		    "%s\n",
		    yes(own), yes(tree), yes(big), yes(outside), yes(in_body));
	std::printf("errors stay with their group: %s, of the other: %s\n",
		    first.c_str(), second.c_str());
	int nr = 0, again = 0;
	rt.async([&] {
		  lk::group c;
		  std::atomic<int> called{ 0 };

		  c.run([&] {
			  called++;
			  c.cancel();
			  while (!c.is_cancelled())
				  std::this_thread::yield();
		  });
		  c.wait();
		  c.cancel();
		  for (int i = 0; i < 100; i++)
			  c.run([&called] { called++; });
		  c.wait();
		  nr = called.exchange(0);
		  c.run([&called] { called++; });
		  c.wait();
		  again = called;
	  }).get();
	std::printf("cancelled: at most %d of 101, and used again: %d\n",
		    nr <= 11 ? 11 : nr, again);
}

struct slow_call {
	std::atomic<bool> has_begun{ false }, may_end{ false };
	std::atomic<bool> has_returned{ false };
};

// On the thread that ends the child: whoever is told before goes on.
static void return_late(void *u, int)
{
	auto *s = static_cast<slow_call *>(u);

	std::this_thread::sleep_for(std::chrono::milliseconds(2));
	s->has_returned = true;
}

// Of children that another worker has begun, where there is one.
static void futures(lk::runtime &rt)
{
	bool is_alone = lkdf_nr_workers(rt.get()) == 1;
	int nr_ready = 0, nr_calls = 0, nr_values = 0;
	auto begin = [&](slow_call &s) {
		auto f = rt.async([&] {
			s.has_begun = true;
			while (!is_alone && !s.may_end)
				std::this_thread::yield();
			return 1;
		});
		while (!is_alone && !s.has_begun)
			std::this_thread::yield();
		return f;
	};

	rt.async([&] {
		  for (int i = 0; i < 100; i++) {
			  slow_call s, t;
			  auto f = begin(s);

			  if (i < 10)
				  lk::must(lkdf_event_call(f.event(),
							   return_late, &s));
			  s.may_end = true;
			  lk::must(lkdf_join(lk::context()));
			  nr_calls += s.has_returned;
			  nr_ready += f.is_ready();
			  nr_values += f.get();
			  f = begin(t);
			  t.may_end = true;
			  nr_values += f.get();
		  }
	  }).get();
	std::printf("after a join futures are ready: %d of 100, and what their "
		    "events call has\nreturned: %d of 10, values: %d\n",
		    nr_ready, nr_calls, nr_values);
}

int main()
{
	lk::runtime rt("log=none"), other("log=none");
	const char *serial = std::getenv("LKDF_SERIAL");

	bodies(rt);
	loops(rt);
	errors(rt);
	others(rt, other);
	callbacks(rt);
	groups(rt, serial);
	futures(rt);
}
