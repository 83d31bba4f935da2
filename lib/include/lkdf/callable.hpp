// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Callables of C++17 as bodies: what they take and return, and what they throw;
// lkdf.hpp includes this.
#ifndef LKDF_CALLABLE_HPP
#define LKDF_CALLABLE_HPP

#include <lkdf/lkdf.h>

#include <array>
#include <cstdint>
#include <exception>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>

namespace lk
{

// A callable may return this beside or instead of values: see lkdf_fn.
struct branch {
	int value;
};
inline constexpr branch no_branch{ LKDF_NO_BRANCH };
inline constexpr branch end{ LKDF_END };

namespace detail
{
// Parameters, result, and whether calls of one object may overlap: of a
// function, or an operator() that is neither a template nor overloaded.
template <class R, bool Const, class... A> struct signature_of {
	using result = R;
	using args = std::tuple<std::decay_t<A>...>;
	static constexpr bool is_const = Const;
};
template <class M> struct member;
template <class C, class R, class... A>
struct member<R (C::*)(A...)> : signature_of<R, false, A...> {
};
template <class C, class R, class... A>
struct member<R (C::*)(A...) const> : signature_of<R, true, A...> {
};
template <class C, class R, class... A>
struct member<R (C::*)(A...) noexcept> : signature_of<R, false, A...> {
};
template <class C, class R, class... A>
struct member<R (C::*)(A...) const noexcept> : signature_of<R, true, A...> {
};
template <class F, class = void> struct signature {
	static constexpr bool is_known = false;
};
template <class F>
struct signature<F, std::void_t<decltype(&F::operator())>>
    : member<decltype(&F::operator())> {
	static constexpr bool is_known = true;
};
template <class R, class... A>
struct signature<R (*)(A...), void> : signature_of<R, true, A...> {
	static constexpr bool is_known = true;
};
template <class R, class... A>
struct signature<R (*)(A...) noexcept, void> : signature_of<R, true, A...> {
	static constexpr bool is_known = true;
};

// Out ports of a result, and whether it chooses a branch.
template <class R> struct outs {
	using type = std::tuple<R>;
	static constexpr bool chooses = false;
};
template <> struct outs<void> {
	using type = std::tuple<>;
	static constexpr bool chooses = false;
};
template <> struct outs<branch> {
	using type = std::tuple<>;
	static constexpr bool chooses = true;
};
template <class... T> struct outs<std::tuple<T...>> {
	using type = std::tuple<T...>;
	static constexpr bool chooses = false;
};
template <class... T> struct outs<std::pair<branch, std::tuple<T...>>> {
	using type = std::tuple<T...>;
	static constexpr bool chooses = true;
};
template <class T> struct outs<std::pair<branch, T>> {
	using type = std::tuple<T>;
	static constexpr bool chooses = true;
};

template <class T> struct sizes;
template <class... T> struct sizes<std::tuple<T...>> {
	static_assert((std::is_trivially_copyable_v<T> && ...),
		      "a value travels as bytes: pass a pointer, or use data");
	static_assert(((sizeof(T) <= LKDF_MAX_VALUE) && ...),
		      "a value has at most LKDF_MAX_VALUE bytes");
	static_assert(((alignof(T) <= 64) && ...),
		      "a value is aligned to 64 bytes at most");
	static constexpr std::array<uint32_t, sizeof...(T) + 1> v{
		uint32_t{ sizeof(T) }..., 0
	};
};

// Exceptions that left callables of a graph. A run that a thread waits for has
// an entry there, whose address is the run's argument; others keep nothing.
// Callables may outlive the graph's object.
class thrown
{
      public:
	struct entry {
		std::exception_ptr first;
		entry *next;
	};

	void begin(entry *e)
	{
		std::lock_guard<std::mutex> hold(lock_);

		e->next = list_;
		list_ = e;
	}
	// In a handler: the first exception of a run counts.
	void keep(const void *run)
	{
		std::lock_guard<std::mutex> hold(lock_);

		for (entry *e = list_; e; e = e->next)
			if (e == run && !e->first)
				e->first = std::current_exception();
	}
	void end(const entry *e)
	{
		std::lock_guard<std::mutex> hold(lock_);
		entry **at = &list_;

		while (*at != e)
			at = &(*at)->next;
		*at = e->next;
	}

      private:
	std::mutex lock_;
	entry *list_ = nullptr;
};
} // namespace detail

} // namespace lk

#endif
