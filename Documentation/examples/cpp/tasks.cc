// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Tasks that return a value, and one that begins when another has ended.
 * Prints:
 *
 *   2 and 3 make 5
 *   this one fails: no such word
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

int main()
{
	lk::runtime rt;
	auto two = rt.async([](std::string s) { return s.size(); }, "ab");
	auto three =
		rt.async([] { return 1; }).then([](int v) { return v + 2; });
	size_t a = two.get();
	int b = three.get();

	std::printf("%zu and %d make %zu\n", a, b, a + size_t(b));
	auto bad = rt.async(
		[]() -> int { throw std::out_of_range("no such word"); });
	try {
		bad.get();
	} catch (const std::out_of_range &e) {
		std::printf("this one fails: %s\n", e.what());
	}
}
