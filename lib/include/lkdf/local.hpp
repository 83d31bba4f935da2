// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// An object for each thread, for C++17; lkdf.hpp does not include this.
//
//	lk::local<std::vector<int>> found;
//	rt.for_each(0, nr, [&](size_t i) {
//		if (is_wanted(i))
//			found.here().push_back(int(i));
//	});
//	found.for_each([&](auto &v) { all.insert(all.end(), ..); });
//
#ifndef LKDF_LOCAL_HPP
#define LKDF_LOCAL_HPP

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <pthread.h>

namespace lk
{

// Threads that ask have an object each, workers and threads of the program
// alike, made when they ask first. No lock; as many objects as threads, not as
// tasks.
//
// A thread may run other bodies wherever its body waits: in a join, a loop, a
// group, at a co_await, after which a coroutine may be on another thread. A
// reference that here() has given is used before that, and not across.
template <class T> class local
{
	static constexpr size_t nr_lists = 64;

	// Alone in its cache lines: its thread writes all the time.
	struct alignas(64) node {
		T value;
		pthread_t of;
		node *next;

		template <class F>
		node(F &make, pthread_t thread, node *after)
		    : value(make()), of(thread), next(after)
		{
		}
	};
	std::function<T()> make_;
	std::atomic<node *> list_[nr_lists] = {};

	std::atomic<node *> &list_of(pthread_t thread)
	{
		auto x = uint64_t(thread) * 0x9e3779b97f4a7c15u;

		return list_[x >> 58];
	}
	// Nobody else looks for this thread's: it is added once.
	__attribute__((noinline)) node *add(std::atomic<node *> &list,
					    pthread_t thread)
	{
		auto n = std::make_unique<node>(make_, thread, nullptr);

		n->next = list.load(std::memory_order_relaxed);
		while (!list.compare_exchange_weak(n->next, n.get(),
						   std::memory_order_release,
						   std::memory_order_relaxed))
			;
		return n.release();
	}

      public:
	// Each begins as T().
	local() : make_([] { return T(); })
	{
	}
	// Each begins as what make() returns, on the thread that asks.
	template <class F,
		  class = std::enable_if_t<std::is_invocable_r_v<T, F &>>>
	explicit local(F make) : make_(std::move(make))
	{
	}
	local(const local &) = delete;
	~local()
	{
		clear();
	}
	// This thread's object.
	T &here()
	{
		pthread_t thread = pthread_self();
		auto &list = list_of(thread);
		node *n = list.load(std::memory_order_acquire);

		while (n && n->of != thread)
			n = n->next;
		return (n ? n : add(list, thread))->value;
	}
	// fn(object) for each, in any order. While no thread uses its own.
	template <class F> void for_each(F &&fn)
	{
		for (auto &list : list_)
			for (node *n = list.load(std::memory_order_acquire); n;
			     n = n->next)
				fn(n->value);
	}
	// first, and all objects joined to it one by one, as first =
	// join(first, object), in any order. While no thread uses its own.
	template <class J = std::plus<>>
	[[nodiscard]] T combine(T first, J &&join = {})
	{
		for_each([&](T &x) {
			first = join(std::move(first), std::as_const(x));
		});
		return first;
	}
	// Nobody has one any more. While no thread uses its own.
	void clear() noexcept
	{
		for (auto &list : list_) {
			node *n = list.exchange(nullptr);

			while (n)
				delete std::exchange(n, n->next);
		}
	}
};

} // namespace lk

#endif
