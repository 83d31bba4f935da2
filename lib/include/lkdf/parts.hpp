// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Iterators, and loops whose blocks are taken in order, for the algorithms of
// lkdf; algorithm.hpp includes this.
#ifndef LKDF_PARTS_HPP
#define LKDF_PARTS_HPP

#include <lkdf/runtime.hpp>

#include <iterator>
#include <type_traits>

namespace lk
{

namespace detail
{
template <class I>
using category_of = typename std::iterator_traits<I>::iterator_category;

template <class I, class = void> struct is_iterator : std::false_type {
};
template <class I>
struct is_iterator<I, std::void_t<category_of<I>>> : std::true_type {
};

template <class R> using begin_of = decltype(std::begin(std::declval<R &>()));
template <class R, class = void> struct is_range : std::false_type {
};
template <class R>
struct is_range<R, std::void_t<begin_of<R>>> : std::true_type {
};

template <class I> using if_iterator = std::enable_if_t<is_iterator<I>::value>;
template <class R> using if_range = std::enable_if_t<is_range<R>::value>;

template <class I> constexpr void check_iterator()
{
	static_assert(std::is_base_of_v<std::random_access_iterator_tag,
					category_of<I>>,
		      "the algorithms of lkdf take iterators of random access, "
		      "such as those of std::vector, std::array and pointers: "
		      "copy a std::list or std::set into a std::vector first");
}

// ---- loops whose blocks are taken in order ---------------------------------

template <class F> struct parts_call {
	F &fn;
	first_thrown thrown;

	static int run(uint64_t begin, uint64_t end, uint64_t *at,
		       void *u) noexcept
	{
		auto *p = static_cast<parts_call *>(u);

		try {
			return p->fn(begin, end, *at) ? 1 : 0;
		} catch (...) {
			p->thrown.keep();
			return -ECANCELED;
		}
	}
};

// True where fn(begin, end, at), for blocks of the range, has been true: at is
// the first. Throws as fn does before that.
template <class F>
bool find_block(struct lkdf *rt, uint64_t nr, F &&fn, uint64_t &at,
		const char *name, const loop_options &o)
{
	parts_call<std::remove_reference_t<F>> call{ fn, {} };
	struct lkdf_find_attr a = {};

	a.size = sizeof(a);
	a.range = { 0, nr, o.grain };
	a.fn = call.run;
	a.u = &call;
	a.scope = o.scope;
	a.name = o.name ? o.name : name;
	int rc = lkdf_find(rt, &a, &at);

	if (rc < 0)
		call.thrown.rethrow(rc);
	return rc > 0;
}

// fn(i) for each part i < nr.
template <class F>
void for_parts(struct lkdf *rt, uint64_t nr, F &&fn, const char *name,
	       loop_options o)
{
	uint64_t at;

	o.grain = 1;
	find_block(
		rt, nr,
		[&fn](uint64_t begin, uint64_t end, uint64_t &) {
			for (; begin < end; begin++)
				fn(begin);
			return false;
		},
		at, name, o);
}
} // namespace detail

} // namespace lk

#endif
