// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Coroutines as children: forked one by one, and several at once. Prints:
 *
 *   fib(20) = 6765
 *   5 words, 3 lines
 *   this one fails: no such text
 */
#include <lkdf/co.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

static lk::co<long> fib(int n)
{
	if (n < 2)
		co_return n;
	auto a = co_await lk::fork(fib(n - 1));
	long b = co_await fib(n - 2);

	co_await lk::join;
	co_return a.get() + b;
}

static lk::co<int> count(std::string text, char what)
{
	int nr = 0;

	if (text.empty())
		throw std::invalid_argument("no such text");
	for (char c : text)
		nr += c == what;
	co_return nr + 1;
}

static lk::co<> both(std::string text)
{
	auto [words, lines] =
		co_await lk::all(count(text, ' '), count(text, '\n'));

	std::printf("%d words, %d lines\n", words, lines);
}

int main()
{
	lk::runtime rt;

	std::printf("fib(20) = %ld\n", lk::start(rt, fib(20)).get());
	lk::start(rt, both("one two\nthree four\nfive six seven")).get();
	try {
		lk::start(rt, both("")).get();
	} catch (const std::invalid_argument &e) {
		std::printf("this one fails: %s\n", e.what());
	}
}
