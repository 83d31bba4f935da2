// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Groups of children for C++17; lkdf.hpp includes this.
#ifndef LKDF_GROUP_HPP
#define LKDF_GROUP_HPP

#include <lkdf/body.hpp>

#include <stdexcept>
#include <type_traits>
#include <utility>

namespace lk
{

namespace detail
{
struct group_end;
}

// Children of the body that this thread is in, apart from its other children;
// outside of bodies tasks of a scope of their own. run() starts one, wait()
// waits for all of the group and throws what the first has thrown; the end of
// the group waits as well. Where it was made it ends.
class group
{
	friend struct detail::group_end;
	detail::home *of_;
	struct lkdf_group *in_ = nullptr; // of a body
	struct lkdf_scope *scope_ = nullptr; // where there is no body
	detail::first_thrown thrown_;
	std::atomic<bool> is_cancelled_{ false };

	template <class F> struct child {
		F f;
		group *of;

		static int run(struct lkdf_ctx *c, void *arg) noexcept
		{
			auto *k = static_cast<child *>(arg);
			group *g = k->of;

			if (g->is_cancelled())
				return 0;
			try {
				k->f();
				return 0;
			} catch (...) {
				g->thrown_.keep();
				return detail::fail_with_current(c);
			}
		}
		static void drop(void *arg)
		{
			delete static_cast<child *>(arg);
		}
	};
	// The library copies small plain callables into the task.
	template <class F>
	static constexpr bool
		is_small = std::is_trivially_copyable_v<F> &&
				   std::is_trivially_destructible_v<F> &&
			   sizeof(child<F>) <= 256 && alignof(child<F>) <= 16;

	// With the first one of the type.
	template <class F>
	__attribute__((noinline)) struct lkdf_kind *make_kind()
	{
		using C = child<F>;
		struct lkdf_kind_attr a = {};

		a.size = sizeof(a);
		a.name = "group";
		a.fn = C::run;
		a.arg_size = is_small<F> ? sizeof(C) : 0;
		a.drop = is_small<F> ? nullptr : C::drop;
		return of_->kinds.get_plain(&detail::key_of<C>, of_->rt, a);
	}
	__attribute__((noinline)) int submit(struct lkdf_kind *k,
					     const void *arg)
	{
		struct lkdf_task t = {};

		t.size = sizeof(t);
		t.kind = k;
		t.arg = arg;
		return lkdf_submit(of_->rt, scope_, &t, nullptr);
	}
	void start(struct lkdf_kind *k, const void *arg)
	{
		must(in_ ? lkdf_group_spawn(in_, k, arg) : submit(k, arg));
	}
	__attribute__((noinline)) void create_scope()
	{
		struct lkdf_scope_attr a = {};

		if (!detail::may_wait())
			throw error(-EDEADLK, "group: this thread is in a body "
					      "of another runtime, or in a "
					      "callback, and may not wait");
		a.size = sizeof(a);
		a.name = "group";
		must(lkdf_scope_create(of_->rt, &a, &scope_));
	}
	[[noreturn]] __attribute__((noinline)) void refuse(int rc)
	{
		if (rc >= 0)
			lkdf_group_put(in_);
		else if (rc != -ESRCH)
			throw error(rc);
		throw std::logic_error("group: this thread is in no body of an "
				       "lk::runtime: lk::group g(rt)");
	}
	__attribute__((noinline)) void put_scope() noexcept
	{
		lkdf_scope_wait(of_->rt, scope_, -1);
		lkdf_scope_put(scope_);
	}

      public:
	// In a body, or in the function of a loop, of an lk::runtime.
	group()
	{
		struct lkdf *rt;
		int rc = lkdf_group_create(nullptr, &in_, &rt);

		of_ = detail::homes.find(rt);
		if (__builtin_expect(!of_ || rc < 0, 0))
			refuse(rc);
	}
	// On any thread; in a body of the runtime as group(). A body of another
	// runtime waits for nothing here: throws with EDEADLK.
	template <class Runtime> explicit group(Runtime &rt) : of_(rt.home())
	{
		if (struct lkdf_ctx *c = detail::context_in(of_->rt))
			must(lkdf_group_create(c, &in_, nullptr));
		else
			create_scope();
	}
	group(const group &) = delete;
	~group()
	{
		if (in_)
			lkdf_group_put(in_);
		else
			put_scope();
	}
	// On any thread: that of the body which made the group, in its
	// children, and on others before wait() or co_await begin.
	template <class F> void run(F f)
	{
		using C = child<F>;
		struct lkdf_kind *k = of_->kinds.find_plain(&detail::key_of<C>);

		if (!k)
			k = make_kind<F>();
		if constexpr (is_small<F>) {
			C c{ std::move(f), this };

			start(k, &c);
		} else {
			auto c = std::make_unique<C>(C{ std::move(f), this });

			start(k, c.get());
			c.release();
		}
	}
	// For all that run() has started, and nothing else. Where the group was
	// made; after cancel() the group may be used again.
	void wait()
	{
		int rc = in_ ? lkdf_group_wait(in_)
			     : lkdf_scope_wait(of_->rt, scope_, -1);

		if (is_cancelled())
			is_cancelled_.store(false, std::memory_order_relaxed);
		thrown_.rethrow(rc);
	}
	// Those that have not begun end without a call; those that run may ask
	// is_cancelled(). wait() waits for them. Any thread.
	void cancel() noexcept
	{
		is_cancelled_.store(true, std::memory_order_relaxed);
	}
	[[nodiscard]] bool is_cancelled() const noexcept
	{
		return is_cancelled_.load(std::memory_order_relaxed);
	}
};

namespace detail
{
struct group_end {
	// Fires when all of it have ended.
	static struct lkdf_event event(group &g)
	{
		struct lkdf_event e;

		if (!g.in_)
			throw error(-EDEADLK, "group: a coroutine awaits those "
					      "that it has made");
		must(lkdf_group_event(g.in_, &e));
		return e;
	}
	// It has, as rc says.
	static void rethrow(group &g, int rc)
	{
		g.is_cancelled_.store(false, std::memory_order_relaxed);
		g.thrown_.rethrow(rc);
	}
};
} // namespace detail

} // namespace lk

#endif
