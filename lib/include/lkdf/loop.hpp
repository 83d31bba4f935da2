// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Loops, sums and several functions at once for C++17, which the members of
// lk::runtime call; lkdf.hpp includes this.
#ifndef LKDF_LOOP_HPP
#define LKDF_LOOP_HPP

#include <lkdf/body.hpp>

#include <cstdint>
#include <functional>
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

/* C: a reduce_call. */
template <class T, class C>
T reduce(struct lkdf *rt, const struct lkdf_range &range, T neutral, C call,
	 const loop_options &o)
{
	static_assert(std::is_trivially_copyable_v<T>,
		      "partial results travel as bytes: reduce to numbers, "
		      "plain structs or pointers");
	static_assert(std::is_invocable_r_v<T, decltype(call.fn), T, uint64_t>,
		      "the function of a reduction is called as "
		      "T fn(T sum, uint64_t i)");
	static_assert(std::is_invocable_r_v<T, decltype(call.join), T, T>,
		      "join is called as T join(T earlier, T later)");
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
