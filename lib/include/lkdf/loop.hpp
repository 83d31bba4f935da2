// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Loops, sums and several functions at once for C++17, which the members of
// lk::runtime call; lkdf.hpp includes this.
#ifndef LKDF_LOOP_HPP
#define LKDF_LOOP_HPP

#include <lkdf/body.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>

namespace lk
{

// Iterations of a block; 0: as many as take some microseconds.
struct grain {
	uint64_t nr;
};

// What a loop may say besides its range, as struct lkdf_for_attr.
struct loop_options {
	uint64_t grain = 0;
	enum lkdf_schedule schedule = LKDF_SCHEDULE_NODES;
	struct lkdf_data *data = nullptr;
	struct lkdf_scope *scope = nullptr;
	const char *name = nullptr;

	loop_options() = default;
	loop_options(lk::grain g) : grain(g.nr)
	{
	}
};

namespace detail
{
template <class F> struct loop_call {
	F &fn;
	first_thrown thrown;

	static int run(uint64_t begin, uint64_t end, void *u) noexcept
	{
		auto *l = static_cast<loop_call *>(u);

		try {
			l->fn(begin, end);
			return 0;
		} catch (...) {
			l->thrown.keep();
			return -ECANCELED;
		}
	}
};

// In a body of the runtime its blocks are children of that body.
template <class F>
void for_blocks(struct lkdf *rt, uint64_t begin, uint64_t end, F &fn,
		const loop_options &o)
{
	loop_call<F> call{ fn, {} };
	struct lkdf_for_attr a = {};

	a.size = sizeof(a);
	a.schedule = o.schedule;
	a.range = { begin, end, o.grain };
	a.fn = loop_call<F>::run;
	a.u = &call;
	a.data = o.data;
	a.scope = o.scope;
	a.name = o.name;
	struct lkdf_ctx *c = context_in(rt);

	call.thrown.rethrow(c ? lkdf_for_in(c, &a) : lkdf_for_with(rt, &a));
}

template <class T, class F, class J> struct reduce_call {
	F &fn;
	J &join;
	first_thrown thrown;

	static int add(uint64_t begin, uint64_t end, void *acc,
		       void *u) noexcept
	{
		auto *r = static_cast<reduce_call *>(u);
		T &sum = *static_cast<T *>(acc);

		try {
			T x = sum;

			for (uint64_t i = begin; i < end; i++)
				x = r->fn(x, i);
			sum = x;
			return 0;
		} catch (...) {
			r->thrown.keep();
			return -ECANCELED;
		}
	}
	static int combine(void *acc, const void *x, void *u) noexcept
	{
		auto *r = static_cast<reduce_call *>(u);
		T &sum = *static_cast<T *>(acc);

		try {
			sum = r->join(sum, *static_cast<const T *>(x));
			return 0;
		} catch (...) {
			r->thrown.keep();
			return -ECANCELED;
		}
	}
};

// A range in blocks, as lkdf_reduce() cuts it: the same on each machine.
struct cut {
	uint64_t block, nr; // iterations of one; how many
};

inline cut cut_range(uint64_t nr, uint64_t grain)
{
	uint64_t most = nr / 64 < 64 ? 64 : nr / 64 < 1024 ? nr / 64 : 1024;
	uint64_t block = (nr - 1) / (grain ? 4096 : most) + 1;

	if (block < grain)
		block = grain;
	return { block, (nr - 1) / block + 1 };
}

// Values that are no plain bytes: each block has one of its own. Values that
// can be copied begin as neutral; others begin as T(), and neutral comes first.
template <class T, class C>
T reduce_values(struct lkdf *rt, const struct lkdf_range &range, T neutral,
		C &call, const loop_options &o)
{
	constexpr bool copies = std::is_copy_constructible_v<T>;

	static_assert(copies || std::is_default_constructible_v<T>,
		      "each block of a reduction begins with a value of its "
		      "own: give T a copy constructor or a default one");
	if (range.begin > range.end)
		throw error(-EINVAL, "reduce: the range ends before it begins");
	if (range.begin == range.end)
		return neutral;
	cut c = cut_range(range.end - range.begin, range.grain);
	auto part = std::make_unique<std::optional<T>[]>(c.nr);
	auto start = [&]() -> T {
		if constexpr (copies)
			return neutral;
		else
			return T();
	};
	auto add = [&](uint64_t b, uint64_t end) {
		for (; b < end; b++) {
			uint64_t i = range.begin + b * c.block;
			uint64_t to = range.end - i < c.block ? range.end
							      : i + c.block;
			T sum = start();

			for (; i < to; i++)
				sum = call.fn(std::move(sum), i);
			part[b].emplace(std::move(sum));
		}
	};
	loop_options blocks = o;

	blocks.grain = 0;
	for_blocks(rt, 0, c.nr, add, blocks);
	auto first = [&]() -> T {
		if constexpr (copies)
			return std::move(*part[0]);
		else
			return call.join(std::move(neutral),
					 std::move(*part[0]));
	};
	T sum = first();
	for (uint64_t b = 1; b < c.nr; b++)
		sum = call.join(std::move(sum), std::move(*part[b]));
	return sum;
}

// Numbers that lose what the function returns, such as 22.5 in an int.
template <class T, class R>
constexpr bool narrows =
	std::is_arithmetic_v<T> &&std::is_arithmetic_v<R> &&
	!std::is_same_v<T, bool> &&
	(std::is_floating_point_v<R>
		 ? !std::is_floating_point_v<T>
		 : !std::is_floating_point_v<T> && sizeof(R) > sizeof(T));

template <class T, class C>
T reduce_bytes(struct lkdf *rt, const struct lkdf_range &range, T neutral,
	       C &call, const loop_options &o)
{
	struct lkdf_reduce_attr a = {};

	a.size = sizeof(a);
	a.range = range;
	a.fn = C::add;
	a.join = C::combine;
	a.u = &call;
	a.acc = &neutral;
	a.acc_bytes = sizeof(T);
	a.scope = o.scope;
	a.name = o.name;
	struct lkdf_ctx *c = context_in(rt);

	call.thrown.rethrow(c ? lkdf_reduce_in(c, &a) : lkdf_reduce(rt, &a));
	return neutral;
}

// C: a reduce_call.
template <class T, class C>
T reduce(struct lkdf *rt, const struct lkdf_range &range, T neutral, C call,
	 const loop_options &o)
{
	static_assert(std::is_invocable_r_v<T, decltype(call.fn), T, uint64_t>,
		      "reduce: the function is called as "
		      "T fn(T sum, uint64_t i)");
	static_assert(std::is_invocable_r_v<T, decltype(call.join), T, T>,
		      "reduce: join is called as T join(T earlier, T later)");
	static_assert(
		!narrows<T,
			 std::invoke_result_t<decltype(call.fn), T, uint64_t>>,
		"reduce: the neutral value has a smaller type than the "
		"function returns, and the result would lose a part: "
		"write 0.0 or 0L in place of 0, or convert in the "
		"function");
	if constexpr (!std::is_trivially_copyable_v<T>) {
		return reduce_values(rt, range, std::move(neutral), call, o);
	} else {
		return reduce_bytes(rt, range, neutral, call, o);
	}
}

template <class F> struct invoke_call {
	F &fn;
	first_thrown &thrown;

	static int run(void *u) noexcept
	{
		auto *i = static_cast<invoke_call *>(u);

		try {
			i->fn();
			return 0;
		} catch (...) {
			i->thrown.keep();
			return -ECANCELED;
		}
	}
};

template <class... F> void invoke(struct lkdf *rt, F &...fn)
{
	first_thrown thrown;
	std::tuple<invoke_call<F>...> call{ invoke_call<F>{ fn, thrown }... };

	std::apply(
		[&](auto &...c) {
			const struct lkdf_call v[] = {
				{ std::decay_t<decltype(c)>::run, &c }...
			};

			struct lkdf_ctx *ctx = context_in(rt);

			thrown.rethrow(
				ctx ? lkdf_invoke_in(ctx, v, sizeof...(F))
				    : lkdf_invoke(rt, v, sizeof...(F)));
		},
		call);
}
} // namespace detail

} // namespace lk

#endif
