// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Algorithms over containers, a picture by tiles, and what each thread has
 * counted for itself. Prints:
 *
 *   7 words, the first: and
 *   the first long one: shepherd
 *   letters up to each: 3 8 14 22 27 32 35
 *   the brightest of 480000 pixels is 1398
 *   91 numbers below 100000 are perfect powers of 3 or more
 */
#include <lkdf/algorithm.hpp>
#include <lkdf/local.hpp>

#include <cstdio>
#include <string>
#include <vector>

static void words(const lk::runtime &rt)
{
	std::vector<std::string> v = { "the",	"shepherd", "and",   "seven",
				       "hills", "sheep",    "meadow" };
	std::vector<size_t> letters(v.size());

	lk::sort(rt, v, [](const auto &a, const auto &b) {
		return a.front() < b.front();
	});
	std::printf("%zu words, the first: %s\n", v.size(), v[0].c_str());
	auto at =
		lk::find_if(rt, v, [](const auto &s) { return s.size() > 6; });
	std::printf("the first long one: %s\n", at->c_str());
	lk::transform(rt, v.begin(), v.end(), letters.begin(),
		      [](const auto &s) { return s.size(); });
	lk::inclusive_scan(rt, letters.begin(), letters.end(), letters.begin());
	std::printf("letters up to each:");
	for (size_t n : letters)
		std::printf(" %zu", n);
	std::printf("\n");
}

static void picture(const lk::runtime &rt)
{
	const size_t rows = 600, columns = 800;
	std::vector<int> pixel(rows * columns);
	lk::local<int> most;

	lk::for_each(rt, lk::range2{ { 0, rows }, { 0, columns } },
		     [&](size_t y, size_t x) {
			     int v = int(x + y);

			     pixel[y * columns + x] = v;
			     most.here() = std::max(most.here(), v);
		     });
	int all = most.combine(0, [](int a, int b) { return std::max(a, b); });
	std::printf("the brightest of %zu pixels is %d\n", pixel.size(), all);
}

static void powers(const lk::runtime &rt)
{
	auto join = [](std::vector<int> a, std::vector<int> b) {
		a.insert(a.end(), b.begin(), b.end());
		return a;
	};
	auto all = rt.reduce(
		2, 47, std::vector<int>(),
		[](std::vector<int> v, size_t base) {
			for (size_t p = base * base * base; p < 100000;
			     p *= base)
				v.push_back(int(p));
			return v;
		},
		join);
	std::printf("%zu numbers below 100000 are perfect powers of 3 or "
		    "more\n",
		    all.size());
}

int main()
{
	lk::runtime rt;

	words(rt);
	picture(rt);
	powers(rt);
}
