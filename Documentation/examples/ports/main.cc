// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Both engines at work. Single use: a task makes two tasks and the node that
 * adds their results, and so on; a signal starts all who wait for it. Multiple
 * uses: a task with two outputs, of which it writes one, sends even numbers to
 * one node and odd ones to another; square roots by a loop. Prints:
 *
 *   fib(20) = 6765
 *   a signal started 3 tasks
 *   10 numbers: even ones 20, odd ones 25
 *   the root of 2 is 1.41421
 */
#include "multiple_uses.hpp"
#include "single_use.hpp"

#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>

using namespace ports;

// ---- each node once

static void fib(Scheduler &s, int n, single_use::Sender<long> out)
{
	using namespace single_use;

	if (n < 2)
		return out.send(s, n);
	auto [a, left] = port<long>();
	auto [b, right] = port<long>();
	auto start = [](int m) {
		return TaskOnce{ [m](Scheduler &sched, auto, auto to) {
			fib(sched, m, std::move(std::get<0>(to)));
		} };
	};

	node(s, TaskOnce{ StrictTask{ std::plus<long>() } },
	     std::tuple{ std::move(left), std::move(right) },
	     std::tuple{ std::move(out) });
	node(s, start(n - 1), std::tuple{}, std::tuple{ std::move(a) });
	node(s, start(n - 2), std::tuple{}, std::tuple{ std::move(b) });
}

static void once(lk::runtime &rt)
{
	single_use::Engine engine(rt);
	auto [sender, receiver] = single_use::port<long>();
	single_use::Signal go;
	std::atomic<int> nr = 0;

	node(engine, TaskOnce{ StrictTask{ [](long n) {
		     std::printf("fib(20) = %ld\n", n);
	     } } },
	     std::tuple{ std::move(receiver) }, std::tuple{});
	fib(engine, 20, std::move(sender));
	engine.wait();

	for (int i = 0; i < 3; i++)
		go.await(single_use::node(
			engine, TaskOnce{ StrictTask{ [&nr] { nr++; } } },
			std::tuple{}, std::tuple{}, 1));
	engine.wait(); // nobody has started, and nobody is waited for
	if (nr)
		throw std::logic_error("before the signal");
	go.emit(engine);
	engine.wait();
	std::printf("a signal started %d tasks\n", nr.load());
}

// ---- each node again and again

static void route(lk::runtime &rt)
{
	using namespace multiple_uses;
	Engine engine(rt, 4);
	long even = 0, odd = 0;

	auto count = engine.node<Ports<long>, Ports<long, long>>(
		"count", TaskMut{ StrictTask{ [](long last) {
			return std::tuple{ last, last + 1 };
		} } });
	auto choose = engine.node<Ports<long>, Ports<long, long>>(
		"choose", Task{ [](Scheduler &s, auto in, auto out) {
			long n = std::get<0>(in).receive();

			if (n % 2)
				std::get<1>(out).send(s, n);
			else
				std::get<0>(out).send(s, n);
		} });
	auto evens = engine.node<Ports<long>, Ports<>>(
		"even",
		TaskMut{ StrictTask{ [&even](long n) { even += n; } } });
	auto odds = engine.node<Ports<long>, Ports<>>(
		"odd", TaskMut{ StrictTask{ [&odd](long n) { odd += n; } } });

	engine.keep<1>(count, 0L);
	engine.connect(count, choose);
	engine.connect<0>(choose, evens);
	engine.connect<1>(choose, odds);
	engine.seal();
	engine.run(10);
	std::printf("10 numbers: even ones %ld, odd ones %ld\n", even, odd);
}

static void root(lk::runtime &rt)
{
	using namespace multiple_uses;
	Engine engine(rt);

	auto first = engine.node<Ports<>, Ports<double>>(
		"first", TaskMut{ StrictTask{ [] { return 1.0; } } });
	auto step = engine.node<Ports<double>, Ports<double, double>>(
		"step", TaskMut{ [](Scheduler &s, auto in, auto out) {
			double x = std::get<0>(in).receive();
			double next = (x + 2 / x) / 2;

			if (std::fabs(next - x) > 1e-9)
				std::get<0>(out).send(s, next); // once more
			else
				std::get<1>(out).send(s, next);
		} });
	auto tell = engine.node<Ports<double>, Ports<>>(
		"tell", TaskMut{ StrictTask{ [](double x) {
			std::printf("the root of 2 is %g\n", x);
		} } });

	engine.connect_back<0>(step, step);
	engine.connect(first, step);
	engine.connect<1>(step, tell);
	engine.seal();
	engine.run();
}

int main()
{
	lk::runtime rt;

	once(rt);
	route(rt);
	root(rt);
	return 0;
}
