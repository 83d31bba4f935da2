// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Loops, sums, tasks, futures, groups and data in C++, and what goes wrong in
 * them. Prints:
 *
 *   loop: 499500, blocks 1000, in a body 1000, static 1000, in a loop 2500
 *   sum: 499500, the same twice: yes, the largest 999
 *   at once: 1 2 3
 *   async: 7, text of 3, moved 5, a reference 9
 *   then: 14, of nothing 1, after wait 8
 *   groups: fib 610, of threads 100, in a body 55
 *   scope: 10 of 10, then cancelled
 *   limit: 1 at a time
 *   blocking: 3
 *   data: 104, read 104, variable 100, graph 18
 *   thrown in a loop: 7
 *   in a sum: domain_error
 *   at once: domain_error
 *   by a task: domain_error, by the one before: domain_error
 *   in a group: 3, then none, 1 of 2 others at least
 *   by data: domain_error, who reads it is told: yes
 *   copied argument that throws: domain_error
 *   got twice: refused; a body that waits for another's task: EDEADLK
 *   captures end with their call: yes, of what never runs: yes
 */
#include <lkdf/lkdf.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static long as_long(std::atomic<long> &n)
{
	return n.exchange(0);
}

static void loops(lk::runtime &rt)
{
	std::vector<long> v(1000);
	std::atomic<long> nr{ 0 };

	rt.for_each(0, v.size(), [&](size_t i) { v[i] = long(i); });
	long sum = 0;
	for (long x : v)
		sum += x;
	rt.for_blocks(0, 1000, [&](size_t b, size_t e) { nr += long(e - b); });
	long blocks = as_long(nr);
	rt.async([&] { rt.for_each(0, 1000, [&](size_t) { nr++; }); }).get();
	long inside = as_long(nr);
	lk::loop_options o = lk::grain{ 10 };
	o.schedule = LKDF_SCHEDULE_STATIC;
	rt.for_each(
		0, 1000, [&](size_t) { nr++; }, o);
	long fixed = as_long(nr);
	rt.async([&] {
		  rt.for_each(0, 50, [&](size_t) {
			  rt.for_each(0, 50, [&](size_t) { nr++; });
		  });
	  }).get();
	std::printf("loop: %ld, blocks %ld, in a body %ld, static %ld, in a "
		    "loop %ld\n",
		    sum, blocks, inside, fixed, as_long(nr));

	auto add = [&](double s, size_t i) { return s + 0.1 * double(v[i]); };
	double a = rt.reduce(0, 1000, 0.0, add);
	double b = rt.reduce(0, 1000, 0.0, add);
	long most = rt.reduce(
		0, 1000, 0L,
		[&](long m, size_t i) { return std::max(m, v[i]); },
		[](long m, long n) { return std::max(m, n); });
	std::printf("sum: %ld, the same twice: %s, the largest %ld\n",
		    rt.reduce(0, 1000, 0L,
			      [&](long s, size_t i) { return s + v[i]; }),
		    a == b ? "yes" : "no", most);
	int x = 0, y = 0, z = 0;
	rt.invoke([&] { x = 1; }, [&] { y = 2; }, [&] { z = 3; });
	std::printf("at once: %d %d %d\n", x, y, z);
}

static void tasks(lk::runtime &rt)
{
	int n = 0;
	auto seven = rt.async([] { return 7; });
	auto text = rt.async([](std::string s) { return s.size(); }, "abc");
	auto moved = rt.async([](std::unique_ptr<int> p) { return p; },
			      std::make_unique<int>(5));
	rt.async([](int &at) { at = 9; }, std::ref(n)).get();
	std::printf("async: %d, text of %zu, moved %d, a reference %d\n",
		    seven.get(), text.get(), *moved.get(), n);

	auto twice =
		rt.async([] { return 7; }).then([](int v) { return 2 * v; });
	auto nothing = rt.async([] {}).then([] { return 1; });
	auto waited = rt.async(lk::with("early"), [] { return 7; });
	waited.wait();
	auto after = waited.then([](int v) { return v + 1; });
	int fourteen = twice.get(), one = nothing.get(), eight = after.get();
	std::printf("then: %d, of nothing %d, after wait %d\n", fourteen, one,
		    eight);
}

static long fib(int n)
{
	long a = 0, b;

	if (n < 2)
		return n;
	lk::group g;
	g.run([&a, n] { a = fib(n - 1); });
	b = fib(n - 2);
	g.wait();
	return a + b;
}

static void groups(lk::runtime &rt)
{
	std::atomic<long> nr{ 0 };

	{
		lk::group g(rt);

		for (int i = 0; i < 100; i++)
			g.run([&nr, p = std::make_unique<int>(1)] {
				nr += *p;
			});
		g.wait();
	}
	long of_threads = as_long(nr);
	rt.async([&] {
		  lk::group g(rt);

		  for (int i = 1; i <= 10; i++)
			  g.run([&nr, i] { nr += i; });
	  }).get();
	long fifteen = rt.async(fib, 15).get();
	std::printf("groups: fib %ld, of threads %ld, in a body %ld\n", fifteen,
		    of_threads, as_long(nr));
}

static void scopes(lk::runtime &rt)
{
	std::atomic<int> nr{ 0 }, now{ 0 }, most{ 0 };
	lk::scope s(rt, "ten");

	for (int i = 0; i < 10; i++)
		rt.async(lk::with("one").in(s).label("x"), [&] { nr++; });
	s.wait();
	std::printf("scope: %d of 10", nr.load());
	s.cancel();
	try {
		rt.async(lk::with().in(s), [] {}).get();
		std::printf(", then none\n");
	} catch (const lk::error &e) {
		std::printf(", then %s\n", e.code().value() == ECANCELED
						   ? "cancelled"
						   : e.what());
	}
	lk::limit one(rt, 1, "one");
	lk::group g(rt);
	std::vector<lk::future<void>> all;
	for (int i = 0; i < 20; i++)
		all.push_back(rt.async(lk::with("held").limit(one), [&] {
			most = std::max(most.load(), ++now);
			now--;
		}));
	for (auto &f : all)
		f.get();
	std::printf("limit: %d at a time\n", most.load());
	std::printf("blocking: %d\n",
		    rt.async(lk::with("blocks").blocking(), [] {
			      return 3;
		      }).get());
}

static void variables(lk::runtime &rt)
{
	lk::data<double> x(rt, 2.0), y(rt, "y");
	long n = 0;
	auto z = lk::data<long>::wrap(rt, n);

	rt.submit([](const double &a, double &b) { b = a * a; }, lk::read(x),
		  lk::write(y));
	for (int i = 0; i < 100; i++) {
		rt.submit([](double &b) { b += 1; }, lk::update(y));
		rt.submit(
			lk::with("add").prio(LKDF_HIGH), [](long &v) { v++; },
			lk::commute(z));
	}
	double seen = y.read();
	int got = rt.submit([](const double &a) { return int(a); }, lk::read(y))
			  .get();
	rt.wait();
	long hundred = n;
	lk::graph g(rt);
	x.write(1);
	g.add(
		"double", [](double &v) { v *= 2; }, lk::update(x));
	g.add(
		"copy", [](const double &v, double &w) { w = v + 1; },
		lk::read(x), lk::write(y));
	g.add(
		"square", [](double &w) { w *= 2; }, lk::update(y));
	g.seal();
	g.run(3);
	std::printf("data: %g, read %d, variable %ld, graph %g\n", seen, got,
		    hundred, y.read());
}

template <class F> static const char *thrown(F f)
{
	try {
		f();
	} catch (const std::domain_error &) {
		return "domain_error";
	} catch (const lk::error &e) {
		return e.code().value() == EDEADLK ? "EDEADLK" : "error";
	} catch (const std::logic_error &) {
		return "refused";
	}
	return "nothing";
}

struct breaks {
	breaks() = default;
	breaks(const breaks &)
	{
		throw std::domain_error("copy");
	}
	void operator()() const
	{
	}
};

static void exceptions(lk::runtime &rt)
{
	auto no = [](auto...) -> int { throw std::domain_error("no"); };

	try {
		rt.for_each(0, 1000, [](size_t i) {
			if (i == 500)
				throw 7;
		});
	} catch (int i) {
		std::printf("thrown in a loop: %d\n", i);
	}
	std::printf("in a sum: %s\n",
		    thrown([&] { rt.reduce(0, 1000, 0, no); }));
	std::printf("at once: %s\n", thrown([&] { rt.invoke(no, [] {}); }));
	auto second = rt.async(no).then([](int) { return 1; });
	std::printf("by a task: %s, by the one before: %s\n",
		    thrown([&] { rt.async(no).get(); }),
		    thrown([&] { second.get(); }));

	std::atomic<int> others{ 0 };
	int got = 0;
	lk::group g(rt);
	g.run([&] { others++; });
	g.run([] { throw 3; });
	g.run([&] { others++; });
	try {
		g.wait();
	} catch (int i) {
		got = i;
	}
	std::printf("in a group: %d, then %s, %d of 2 others at least\n", got,
		    thrown([&] { g.wait(); }) == std::string("nothing")
			    ? "none"
			    : "again",
		    others > 0);

	lk::data<int> d(rt, 1);
	lk::data<std::uint64_t> zero(rt, 0), named(rt, 0, "zero");
	auto bad = rt.submit([](int &) { throw std::domain_error("d"); },
			     lk::update(d));
	auto late = rt.submit([](const int &v) { return v; }, lk::read(d));
	std::printf("by data: %s, who reads it is told: %s\n",
		    thrown([&] { bad.get(); }),
		    thrown([&] { late.get(); }) == std::string("error") ? "yes"
									: "no");
	static const breaks b;
	std::printf("copied argument that throws: %s\n",
		    thrown([&] { rt.async(b).get(); }));
}

static void trouble(lk::runtime &rt)
{
	auto f = rt.async([] { return 1; });
	lk::limit one(rt, 1);
	lk::scope aside(rt, "aside");
	const char *waits = "";

	f.get();
	// It cannot begin before the body that waits for it has ended.
	rt.async(lk::with("holds").limit(one), [&] {
		  auto other = rt.async(lk::with("wants").limit(one).in(aside),
					[] {});

		  waits = thrown([&] { other.get(); });
	  }).get();
	std::printf("got twice: %s; a body that waits for another's task: %s\n",
		    thrown([&] { f.get(); }), waits);

	auto kept = std::make_shared<int>(1);
	std::weak_ptr<int> seen = kept;
	rt.async([kept = std::move(kept)] { (void)kept; }).get();
	bool ends = seen.expired();
	auto never = std::make_shared<int>(1);
	std::weak_ptr<int> of_never = never;
	lk::scope s(rt, "gone");
	auto stays = rt.async(lk::with("held back")
				      .in(s)
				      .deadline(std::chrono::nanoseconds(1)),
			      [never = std::move(never)] { (void)never; });
	(void)thrown([&] { stays.get(); });
	(void)thrown([&] { s.wait(); });
	std::printf("captures end with their call: %s, of what never runs: "
		    "%s\n",
		    ends ? "yes" : "no", of_never.expired() ? "yes" : "no");
}

int main()
{
	lk::runtime rt("log=none");

	loops(rt);
	tasks(rt);
	groups(rt);
	scopes(rt);
	variables(rt);
	exceptions(rt);
	trouble(rt);
}
