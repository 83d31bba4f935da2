// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// A runtime for C++17: loops, sums, tasks; lkdf.hpp includes this.
#ifndef LKDF_RUNTIME_HPP
#define LKDF_RUNTIME_HPP

#include <lkdf/group.hpp>
#include <lkdf/loop.hpp>
#include <lkdf/scope.hpp>
#include <lkdf/task.hpp>

#include <memory>

namespace lk
{

struct operation;
template <class T, bool Const> struct use;

// Owns a struct lkdf. The destructor cancels work in progress, waits for it and
// logs that, because bodies may refer to variables that are destroyed next.
class runtime
{
	// It stays as long as bodies may run.
	std::unique_ptr<detail::home> home_ = std::make_unique<detail::home>();

      public:
	// options as lkdf_open(); throws.
	explicit runtime(const char *options = nullptr)
	{
		must(lkdf_open(options, &home_->rt));
		detail::homes.add(home_.get());
	}
	// The same, with a log and what the threads are to be; see runtime.h.
	explicit runtime(const struct lkdf_open_attr &a)
	{
		must(lkdf_open_with(&a, &home_->rt));
		detail::homes.add(home_.get());
	}
	// Refused, with what to write; a long may be NULL.
	template <class N, class = std::enable_if_t<std::is_arithmetic_v<N> &&
						    !std::is_same_v<N, long>>>
	explicit runtime(N)
	{
		static_assert(!std::is_arithmetic_v<N>,
			      "lk::runtime takes options as a text: "
			      "lk::runtime rt(\"workers=4\")");
	}
	runtime(runtime &&) = default;
	runtime(const runtime &) = delete;
	~runtime()
	{
		if (!home_)
			return;
		home_->kinds.close();
		lkdf_close_now(home_->rt);
		detail::homes.remove(home_.get());
	}
	struct lkdf *get() const
	{
		return home_->rt;
	}
	// For all there is; throws the first error that no call has returned.
	void wait() const
	{
		must(lkdf_scope_wait(get(), nullptr, -1));
	}

	// fn(i) for each i of begin .. stop - 1, on all workers; waits. Throws
	// the first exception that leaves fn; what has not begun is left out
	// then. In a callable that runs as a body the blocks are its children,
	// and other children end before the loop does. fn may begin loops.
	template <class F>
	void for_each(uint64_t begin, uint64_t stop, F &&fn,
		      const loop_options &o = {}) const
	{
		auto block = [&fn](uint64_t i, uint64_t to) {
			for (; i < to; i++)
				fn(i);
		};

		detail::for_blocks(get(), begin, stop, block, o);
	}
	// As for_each(); fn(b, e) for blocks b .. e - 1 of the range.
	template <class F>
	void for_blocks(uint64_t begin, uint64_t stop, F &&fn,
			const loop_options &o = {}) const
	{
		detail::for_blocks(get(), begin, stop, fn, o);
	}
	// The sum of a range: sum = fn(sum, i) for each i of a block, which
	// begins with neutral; join(earlier, later) of the blocks in order. The
	// result is the same on any number of workers. If T cannot be copied,
	// each block begins with T(), and neutral comes before all.
	template <class T, class F, class J = std::plus<>>
	T reduce(uint64_t begin, uint64_t stop, T neutral, F &&fn,
		 J &&join = {}, const loop_options &o = {}) const
	{
		using C = detail::reduce_call<T, std::remove_reference_t<F>,
					      std::remove_reference_t<J>>;

		return detail::reduce(get(), { begin, stop, o.grain },
				      std::move(neutral), C{ fn, join, {} }, o);
	}
	// Calls the functions at once; waits, and throws as for_each().
	template <class... F> void invoke(F &&...fn) const
	{
		static_assert(sizeof...(F) > 0, "invoke: no function is given");
		detail::invoke(get(), fn...);
	}

	// A task that calls fn(args...), which it takes by value: std::ref()
	// for a reference. In a callable that runs as a body it is a child.
	template <class F, class... A,
		  class = std::enable_if_t<std::is_invocable_v<
			  std::decay_t<F>, std::decay_t<A>...>>>
	auto async(F &&fn, A &&...args)
	{
		return detail::async(home_.get(), with(), std::forward<F>(fn),
				     std::forward<A>(args)...);
	}
	// The same with a name, a scope, a priority, ...
	template <class F, class... A,
		  class = std::enable_if_t<std::is_invocable_v<
			  std::decay_t<F>, std::decay_t<A>...>>>
	auto async(const with &w, F &&fn, A &&...args)
	{
		return detail::async(home_.get(), w, std::forward<F>(fn),
				     std::forward<A>(args)...);
	}

	// Refused, with what to write.
	template <
		class F, class... A,
		std::enable_if_t<
			!std::is_same_v<std::decay_t<F>, with> &&
				!std::is_convertible_v<F, const operation &> &&
				!std::is_invocable_v<std::decay_t<F>,
						     std::decay_t<A>...>,
			int> = 0>
	void async(F &&, A &&...)
	{
		static_assert(std::is_same_v<F, with>,
			      "async: the callable cannot be called with "
			      "these arguments, which the task has copies of: "
			      "write std::ref(x) for a parameter T &, and "
			      "give as many arguments as it has parameters");
	}
	template <class F, class... A,
		  std::enable_if_t<
			  !std::is_convertible_v<F, const operation &> &&
				  !std::is_invocable_v<std::decay_t<F>,
						       std::decay_t<A>...>,
			  int> = 0>
	void async(const with &, F &&, A &&...)
	{
		static_assert(std::is_same_v<F, with>,
			      "async: the callable cannot be called with "
			      "these arguments, which the task has copies of: "
			      "write std::ref(x) for a parameter T &, and "
			      "give as many arguments as it has parameters");
	}

	// An operation of the system, such as lk::read(fd, bytes); see io.hpp.
	future<int64_t> async(const operation &o);
	future<int64_t> async(const with &w, const operation &o);

	// A task that calls f with references to the data, after the uses of
	// tasks submitted before it; see data.hpp.
	template <class F, class... T, bool... Const>
	auto submit(F f, use<T, Const>... u);
	template <class F, class... T, bool... Const>
	auto submit(const with &w, F f, use<T, Const>... u);

	detail::home *home() const
	{
		return home_.get();
	}
};

} // namespace lk

#endif
