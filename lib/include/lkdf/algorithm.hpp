// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Algorithms for C++17, after those of <algorithm> and <numeric>, whose first
// argument is the runtime. lkdf.hpp does not include this.
//
// Each call waits, and throws the first exception that leaves a callable. It
// may be made on any thread: in a callable of the runtime, a coroutine among
// them, in the function of a loop, and in a body of another runtime. sort(),
// find_if() and the scans wait for their own blocks only, and end with the
// scope of the body that they are called in. for_each() and transform() are
// loops of lk::runtime.
//
//	lk::runtime rt;
//	std::vector<double> v = numbers();
//	lk::sort(rt, v);
//	auto at = lk::find_if(rt, v, [](double x) { return x > 0; });
//
#ifndef LKDF_ALGORITHM_HPP
#define LKDF_ALGORITHM_HPP

#include <lkdf/sort.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

namespace lk
{

// begin .. end - 1 of one dimension, in tiles of so many; 0: chosen.
struct bounds {
	uint64_t begin, end, tile = 0;
};

// Rows and columns; the tiles are those of a loop over memory by rows.
struct range2 {
	bounds rows, columns;
};

struct range3 {
	bounds pages, rows, columns;
};

namespace detail
{
// ---- scans -----------------------------------------------------------------

// The sums of blocks, then of all before each block.
template <class T, class I, class O, class Op> struct scanner {
	struct lkdf *rt;
	I first;
	uint64_t nr;
	O out;
	Op &op;
	const loop_options &o;

	T sum_of(uint64_t i, uint64_t end)
	{
		T sum = first[i];

		while (++i < end)
			sum = op(std::move(sum), first[i]);
		return sum;
	}
	// sum: of all before i; of the first, nothing where there is no init.
	void write(uint64_t i, uint64_t end, std::optional<T> sum,
		   bool is_exclusive)
	{
		for (; i < end; i++) {
			T next = sum ? op(std::as_const(*sum), first[i])
				     : T(first[i]);

			if (is_exclusive)
				out[i] = std::move(*sum);
			else
				out[i] = next;
			sum = std::move(next);
		}
	}
	void run(std::optional<T> init, bool is_exclusive)
	{
		if (!nr)
			return;
		cut c = cut_range(nr, o.grain);
		auto before = std::make_unique<std::optional<T>[]>(c.nr);

		for_parts(
			rt, c.nr - 1,
			[&](uint64_t b) {
				before[b + 1] =
					sum_of(b * c.block, (b + 1) * c.block);
			},
			"lk::scan", o);
		before[0] = std::move(init);
		for (uint64_t b = 1; b < c.nr; b++)
			if (before[b - 1])
				before[b] = op(std::as_const(*before[b - 1]),
					       std::as_const(*before[b]));
		for_parts(
			rt, c.nr,
			[&](uint64_t b) {
				uint64_t end = (b + 1) * c.block;

				write(b * c.block, std::min(end, nr),
				      std::move(before[b]), is_exclusive);
			},
			"lk::scan", o);
	}
};

// ---- tiles -----------------------------------------------------------------

// A dimension in tiles.
struct tiled {
	uint64_t begin, end, tile, nr;

	tiled(const bounds &b, uint64_t chosen)
	    : begin(b.begin), end(b.end), tile(b.tile ? b.tile : chosen), nr(0)
	{
		if (begin > end)
			throw error(-EINVAL, "for_each: a range ends before it "
					     "begins");
		if (begin < end)
			nr = (end - begin - 1) / tile + 1;
	}
	uint64_t first(uint64_t i) const
	{
		return begin + i * tile;
	}
	uint64_t last(uint64_t i) const
	{
		return end - first(i) < tile ? end : first(i) + tile;
	}
};

inline uint64_t nr_tiles(uint64_t a, uint64_t b)
{
	uint64_t nr;

	if (__builtin_mul_overflow(a, b, &nr))
		throw error(-EOVERFLOW, "for_each: more tiles than 64 bits "
					"count: choose larger ones");
	return nr;
}
} // namespace detail

// fn(row, column) for each of the range, tile by tile.
template <class F>
void for_each(const runtime &rt, const range2 &r, F &&fn,
	      const loop_options &o = {})
{
	static_assert(std::is_invocable_v<F &, uint64_t, uint64_t>,
		      "for_each over a range2 calls fn(row, column)");
	const detail::tiled y(r.rows, 16), x(r.columns, 64);

	rt.for_each(
		0, detail::nr_tiles(y.nr, x.nr),
		[&](uint64_t t) {
			uint64_t ty = t / x.nr, tx = t % x.nr;

			for (uint64_t i = y.first(ty); i < y.last(ty); i++)
				for (uint64_t j = x.first(tx); j < x.last(tx);
				     j++)
					fn(i, j);
		},
		o);
}

// fn(page, row, column) for each of the range, tile by tile.
template <class F>
void for_each(const runtime &rt, const range3 &r, F &&fn,
	      const loop_options &o = {})
{
	static_assert(std::is_invocable_v<F &, uint64_t, uint64_t, uint64_t>,
		      "for_each over a range3 calls fn(page, row, column)");
	const detail::tiled z(r.pages, 4);
	range2 rest{ r.rows, r.columns };
	const detail::tiled y(rest.rows, 8), x(rest.columns, 64);
	uint64_t nr = detail::nr_tiles(y.nr, x.nr);

	rt.for_each(
		0, detail::nr_tiles(z.nr, nr),
		[&](uint64_t t) {
			uint64_t tz = t / nr, ty = t % nr / x.nr;
			uint64_t tx = t % x.nr, i, j, k;

			for (i = z.first(tz); i < z.last(tz); i++)
				for (j = y.first(ty); j < y.last(ty); j++)
					for (k = x.first(tx); k < x.last(tx);
					     k++)
						fn(i, j, k);
		},
		o);
}

// fn(element) for each of first .. last - 1.
template <class I, class F, class = detail::if_iterator<I>>
void for_each(const runtime &rt, I first, I last, F &&fn,
	      const loop_options &o = {})
{
	detail::check_iterator<I>();
	rt.for_each(
		0, uint64_t(last - first), [&](uint64_t i) { fn(first[i]); },
		o);
}

template <class R, class F, class = detail::if_range<R>>
void for_each(const runtime &rt, R &&range, F &&fn, const loop_options &o = {})
{
	lk::for_each(rt, std::begin(range), std::end(range), fn, o);
}

// out[i] = fn(first[i]); out may be first. The end of what is written.
template <class I, class O, class F, class = detail::if_iterator<I>>
O transform(const runtime &rt, I first, I last, O out, F &&fn,
	    const loop_options &o = {})
{
	detail::check_iterator<I>();
	detail::check_iterator<O>();
	uint64_t nr = uint64_t(last - first);

	rt.for_each(
		0, nr, [&](uint64_t i) { out[i] = fn(first[i]); }, o);
	return out + nr;
}

// Finds the first element for which fn(element) is true, as std::find_if()
// does. After a hit no block of later elements begins.
template <class I, class F, class = detail::if_iterator<I>>
I find_if(const runtime &rt, I first, I last, F &&fn,
	  const loop_options &o = {})
{
	detail::check_iterator<I>();
	uint64_t hit = 0;
	auto look = [&](uint64_t begin, uint64_t end, uint64_t &at) {
		for (at = begin; at < end; at++)
			if (fn(first[at]))
				return true;
		return false;
	};

	return detail::find_block(rt.get(), uint64_t(last - first), look, hit,
				  "lk::find_if", o)
		       ? first + hit
		       : last;
}

template <class R, class F, class = detail::if_range<R>>
auto find_if(const runtime &rt, R &&range, F &&fn, const loop_options &o = {})
{
	return lk::find_if(rt, std::begin(range), std::end(range), fn, o);
}

// out[i] = first[0] + .. + first[i], as std::inclusive_scan(); out may be
// first. op is associative and need not be commutative. The results are the
// same on any number of workers.
template <class I, class O, class Op = std::plus<>,
	  class = detail::if_iterator<I>>
O inclusive_scan(const runtime &rt, I first, I last, O out, Op op = {},
		 const loop_options &o = {})
{
	using T = typename std::iterator_traits<I>::value_type;

	detail::check_iterator<I>();
	detail::check_iterator<O>();
	detail::scanner<T, I, O, Op>{ rt.get(), first, uint64_t(last - first),
				      out,	op,    o }
		.run(std::nullopt, false);
	return out + (last - first);
}

// out[i] = init + first[0] + .. + first[i - 1], as std::exclusive_scan().
template <class I, class O, class T, class Op = std::plus<>,
	  class = detail::if_iterator<I>>
O exclusive_scan(const runtime &rt, I first, I last, O out, T init, Op op = {},
		 const loop_options &o = {})
{
	detail::check_iterator<I>();
	detail::check_iterator<O>();
	detail::scanner<T, I, O, Op>{ rt.get(), first, uint64_t(last - first),
				      out,	op,    o }
		.run(std::move(init), true);
	return out + (last - first);
}

} // namespace lk

#endif
