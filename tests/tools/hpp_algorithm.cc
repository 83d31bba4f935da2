// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The algorithms of lkdf/algorithm.hpp and lk::local against those of the
 * standard library, with random sizes (SEED=4711 repeats them), and from each
 * place that a thread may be in. Prints:
 *
 *   sorted: 40 of 40, of strings: 20 of 20, by a wrong less: all there
 *   a less that throws: domain_error, all there: 20 of 20
 *   a cancelled sort: all there, 1 error
 *   found: 40 of 40, a predicate that throws: domain_error
 *   scans: 40 of 40, of strings: right, one that throws: domain_error
 *   two dimensions: each once, three: each once, refused: 2 of 2
 *   transformed: right, each element: right
 *   sums of strings: right, of what only moves: right, empty: right
 *   locals: 100000, made: at most one a thread, after clear: 0
 *   on a thread: right, in a body: right, in a loop: 20 of 20, in a
 *   coroutine: right, in a body of another runtime: right
 */
#include <lkdf/algorithm.hpp>
#include <lkdf/local.hpp>

#if __cplusplus >= 202002L
#include <lkdf/co.hpp>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

static unsigned seed;
static bool has_failed; // then the seed is printed

static std::mt19937 &randoms()
{
	static std::mt19937 r([] {
		const char *text = std::getenv("SEED");

		seed = text ? unsigned(std::atoi(text))
			    : std::random_device()();
		return seed;
	}());
	return r;
}

static int all(int good, int of)
{
	has_failed |= good != of;
	return good;
}

static size_t below(size_t n)
{
	return randoms()() % n;
}

template <class F> static std::string thrown(F f)
{
	try {
		f();
		return "nothing";
	} catch (const std::domain_error &) {
		return "domain_error";
	} catch (const std::exception &e) {
		return e.what();
	}
}

static const char *right(bool is)
{
	has_failed |= !is;
	return is ? "right" : "wrong";
}

struct item {
	int key;
	size_t number;
};

static bool by_key(const item &a, const item &b)
{
	return a.key < b.key;
}

static int sort_items(const lk::runtime &rt)
{
	int good = 0;

	for (int i = 0; i < 40; i++) {
		std::vector<item> v(below(i % 4 ? 3000 : 30000));

		for (size_t j = 0; j < v.size(); j++)
			v[j] = { int(below(200)), j };
		auto want = v;
		std::stable_sort(want.begin(), want.end(), by_key);
		lk::sort(rt, v, by_key);
		good += std::equal(v.begin(), v.end(), want.begin(),
				   [](const item &a, const item &b) {
					   return a.number == b.number;
				   });
	}
	return good;
}

static std::vector<std::string> words(size_t nr)
{
	std::vector<std::string> v(nr);

	for (auto &s : v)
		s = "a word that needs memory of its own " +
		    std::to_string(below(5000));
	return v;
}

static bool has_all(std::vector<std::string> a, std::vector<std::string> b)
{
	std::sort(a.begin(), a.end());
	std::sort(b.begin(), b.end());
	return a == b;
}

static void sorts(const lk::runtime &rt)
{
	int good = 0, thrown_well = 0;
	std::string what;

	for (int i = 0; i < 20; i++) {
		auto v = words(below(4000)), want = v;

		std::sort(want.begin(), want.end());
		lk::sort(rt, v.begin(), v.end());
		good += v == want;
	}
	auto v = words(9000), before = v;
	std::atomic<unsigned> nr{ 0 };
	lk::sort(rt, v, [&nr](const auto &, const auto &) {
		return nr++ * 0x9e3779b9u >> 31 != 0;
	});
	std::printf("sorted: %d of 40, of strings: %d of 20, by a wrong less: "
		    "%s\n",
		    sort_items(rt), good,
		    has_all(v, before) ? "all there" : "some lost");
	for (int i = 0; i < 20; i++) {
		std::atomic<size_t> left{ below(60000) };
		auto less = [&left](const auto &a, const auto &b) {
			if (left-- == 0)
				throw std::domain_error("incomparable");
			return a < b;
		};

		v = before;
		what = thrown([&] { lk::sort(rt, v, less); });
		thrown_well += has_all(v, before) && what == "domain_error";
	}
	std::printf("a less that throws: %s, all there: %d of 20\n",
		    what.c_str(), all(thrown_well, 20));
}

// The first comparison cancels the scope that the sort runs in.
static void cancelled_sort(const lk::runtime &rt)
{
	lk::scope s(rt, "sort");
	std::atomic<bool> is_first{ true };
	auto v = words(9000), before = v;
	lk::loop_options o;
	int errors = 0;

	o.scope = s.get();
	try {
		lk::sort(
			rt, v,
			[&](const auto &a, const auto &b) {
				if (is_first.exchange(false))
					s.cancel(-ESTALE);
				return a < b;
			},
			o);
	} catch (const lk::error &) {
		errors++;
	}
	std::printf("a cancelled sort: %s, %d error\n",
		    has_all(v, before) ? "all there" : "some lost", errors);
}

static void finds(const lk::runtime &rt)
{
	int good = 0;

	for (int i = 0; i < 40; i++) {
		std::vector<int> v(1 + below(20000));

		for (size_t j = below(4); j; j--)
			v[below(v.size())] = 1;
		auto is_one = [](int x) { return x == 1; };
		good += lk::find_if(rt, v, is_one) ==
			std::find_if(v.begin(), v.end(), is_one);
	}
	std::vector<int> v(5000);
	std::printf("found: %d of 40, a predicate that throws: %s\n",
		    all(good, 40),
		    thrown([&] {
			    lk::find_if(rt, v, [](int) -> bool {
				    throw std::domain_error("who knows");
			    });
		    }).c_str());
}

static void scans(const lk::runtime &rt)
{
	auto append = [](const std::string &a, const std::string &b) {
		return (a + b).substr(a.size() + b.size() > 20
					      ? a.size() + b.size() - 20
					      : 0);
	};
	int good = 0;

	for (int i = 0; i < 20; i++) {
		std::vector<unsigned> v(below(20000)), want(v.size());

		for (auto &x : v)
			x = randoms()();
		auto out = v;
		std::inclusive_scan(v.begin(), v.end(), want.begin());
		lk::inclusive_scan(rt, v.begin(), v.end(), out.begin());
		good += out == want;
		std::exclusive_scan(v.begin(), v.end(), want.begin(), 5u);
		out = v;
		lk::exclusive_scan(rt, out.begin(), out.end(), out.begin(), 5u,
				   std::plus<>(), lk::grain{ 1 + below(90) });
		good += out == want;
	}
	auto v = words(3000), out = v, want = v;
	std::inclusive_scan(v.begin(), v.end(), want.begin(), append);
	lk::inclusive_scan(rt, v.begin(), v.end(), out.begin(), append);
	auto fail = [](int, int) -> int { throw std::domain_error("no sum"); };
	std::vector<int> n(3000);
	std::printf("scans: %d of 40, of strings: %s, one that throws: %s\n",
		    all(good, 40), right(out == want),
		    thrown([&] {
			    lk::inclusive_scan(rt, n.begin(), n.end(),
					       n.begin(), fail);
		    }).c_str());
}

static bool each_once(const std::vector<std::atomic<int>> &v)
{
	return std::all_of(v.begin(), v.end(), [](auto &x) { return x == 1; });
}

static void dimensions(const lk::runtime &rt)
{
	std::vector<std::atomic<int>> two(37 * 301), three(9 * 17 * 130);
	int refused = 0;

	lk::for_each(rt, lk::range2{ { 3, 40 }, { 1, 302, 10 } },
		     [&](uint64_t i, uint64_t j) {
			     two[(i - 3) * 301 + j - 1]++;
		     });
	lk::for_each(rt, lk::range3{ { 0, 9 }, { 5, 22 }, { 0, 130 } },
		     [&](uint64_t i, uint64_t j, uint64_t k) {
			     three[(i * 17 + j - 5) * 130 + k]++;
		     });
	auto nothing = [](uint64_t, uint64_t) {};
	lk::for_each(rt, lk::range2{ lk::bounds{ 0, 0 }, { 0, 9 } }, nothing);
	try {
		lk::for_each(rt, lk::range2{ { 2, 1 }, { 0, 9 } }, nothing);
	} catch (const lk::error &e) {
		refused += e.code().value() == EINVAL;
	}
	try {
		lk::for_each(rt, lk::range2{ { 0, ~0ull, 1 }, { 0, ~0ull, 1 } },
			     nothing);
	} catch (const lk::error &e) {
		refused += e.code().value() == EOVERFLOW;
	}
	std::printf("two dimensions: %s, three: %s, refused: %d of 2\n",
		    each_once(two) ? "each once" : "wrong",
		    each_once(three) ? "each once" : "wrong", refused);
}

static void elements(const lk::runtime &rt)
{
	std::vector<int> v(5000, 3), out(v.size());
	auto end = lk::transform(rt, v.begin(), v.end(), out.begin(),
				 [](int x) { return x * x; });
	bool good = end == out.end() &&
		    std::count(out.begin(), out.end(), 9) == 5000;

	lk::for_each(rt, v, [](int &x) { x++; });
	lk::for_each(rt, v.begin(), v.end(), [](int &x) { x++; });
	std::printf("transformed: %s, each element: %s\n", right(good),
		    right(std::count(v.begin(), v.end(), 5) == 5000));
}

static void values(const lk::runtime &rt)
{
	using owner = std::unique_ptr<long>;
	std::string want;

	for (int i = 0; i < 3000; i++)
		want += std::to_string(i) + ",";
	auto text = rt.reduce(0, 3000, std::string(),
			      [](std::string s, uint64_t i) {
				      return s + std::to_string(i) + ",";
			      });
	auto last = rt.reduce(
		0, 1000, std::make_unique<long>(7),
		[](owner sum, uint64_t i) {
			return std::make_unique<long>((sum ? *sum : 0) +
						      long(i));
		},
		[](owner a, owner b) {
			return std::make_unique<long>(*a + *b);
		});
	auto none = rt.reduce(5, 5, std::string("none"),
			      [](std::string s, uint64_t) { return s; });
	std::printf("sums of strings: %s, of what only moves: %s, empty: %s\n",
		    right(text == want), right(*last == 499500 + 7),
		    right(none == "none"));
}

static void locals(const lk::runtime &rt)
{
	std::atomic<int> made{ 0 };
	lk::local<long> sum([&made] {
		made++;
		return 0L;
	});
	lk::local<std::vector<int>> parts;
	size_t most = size_t(lkdf_nr_executors(rt.get())) + 1;

	rt.for_each(0, 100000, [&](uint64_t i) {
		sum.here()++;
		parts.here().push_back(int(i));
	});
	size_t nr = 0;
	parts.for_each([&nr](auto &v) { nr += v.size(); });
	long all = sum.combine(0L);
	sum.clear();
	std::printf("locals: %ld, made: %s, after clear: %ld\n",
		    nr == 100000 ? all : -1,
		    size_t(made) <= most ? "at most one a thread" : "too many",
		    sum.combine(0L));
}

// The library: true where each is right, wherever the thread is.
static bool all_of_them(const lk::runtime &rt)
{
	std::vector<int> v(3000), sums(v.size());

	for (size_t i = 0; i < v.size(); i++)
		v[i] = int(i * 7919 % v.size());
	lk::sort(rt, v);
	auto at = lk::find_if(rt, v, [](int x) { return x == 1234; });
	lk::inclusive_scan(rt, v.begin(), v.end(), sums.begin());
	return std::is_sorted(v.begin(), v.end()) && at - v.begin() == 1234 &&
	       sums.back() == 2999 * 3000 / 2;
}

#if __cplusplus >= 202002L
static lk::co<bool> coroutine(const lk::runtime &rt)
{
	co_return all_of_them(rt);
}

static bool in_coroutine(lk::runtime &rt)
{
	return lk::start(rt, coroutine(rt)).get();
}
#else
static bool in_coroutine(lk::runtime &rt)
{
	return rt.async([&rt] { return all_of_them(rt); }).get();
}
#endif

static void everywhere(lk::runtime &rt)
{
	lk::runtime other("workers=2");
	std::atomic<int> good{ 0 };
	auto body = [](const lk::runtime &r) { return all_of_them(r); };

	rt.for_each(0, 20, [&](uint64_t) { good += all_of_them(rt); });
	std::printf("on a thread: %s, in a body: %s, in a loop: %d of 20, in "
		    "a\ncoroutine: %s, in a body of another runtime: %s\n",
		    right(all_of_them(rt)),
		    right(rt.async(body, std::cref(rt)).get()), int(good),
		    right(in_coroutine(rt)),
		    right(rt.async(body, std::cref(other)).get()));
}

int main()
{
	lk::runtime rt;

	sorts(rt);
	cancelled_sort(rt);
	finds(rt);
	scans(rt);
	dimensions(rt);
	elements(rt);
	values(rt);
	locals(rt);
	everywhere(rt);
	if (has_failed)
		std::printf("SEED=%u\n", seed);
}
