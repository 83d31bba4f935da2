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

// Children of the body that this thread is in, or outside of bodies tasks of a
// scope of its own. run() starts one, wait() waits for all and
// throws what the first has thrown; the end of the group waits as well.
class group
{
	friend struct detail::group_end;
	detail::home *of_;
	bool is_in_body_;
	struct lkdf_scope *scope_ = nullptr;
	detail::first_thrown thrown_;
	bool has_children_ = false;

	template <class F> struct child {
		F f;
		group *of;

		static int run(struct lkdf_ctx *c, void *arg) noexcept
		{
			auto *k = static_cast<child *>(arg);
			group *g = k->of;

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

	int wait_here() noexcept
	{
		if (!std::exchange(has_children_, false))
			return 0;
		return is_in_body_ ? lkdf_join(detail::context_in(of_->rt))
				   : lkdf_scope_wait(of_->rt, scope_, -1);
	}
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
		return of_->kinds.get(&detail::key_of<C>, of_->rt, a);
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
		must(is_in_body_
			     ? lkdf_spawn(detail::context_in(of_->rt), k, arg)
			     : submit(k, arg));
		has_children_ = true;
	}

      public:
	// In a body, or in the function of a loop, of an lk::runtime.
	group() : is_in_body_(true)
	{
		struct lkdf *rt;

		of_ = lkdf_current(&rt) ? detail::homes.find(rt) : nullptr;
		if (!of_)
			throw std::logic_error(
				"group: this thread is in no body of an "
				"lk::runtime: lk::group g(rt)");
	}
	// On any thread; in a body of the runtime as group(). A body of another
	// runtime waits for nothing here: throws with EDEADLK.
	template <class Runtime>
	explicit group(Runtime &rt)
	    : of_(rt.home()), is_in_body_(detail::context_in(rt.get()))
	{
		struct lkdf_scope_attr a = {};

		if (is_in_body_)
			return;
		if (!detail::may_wait())
			throw error(-EDEADLK, "group: this thread is in a body "
					      "of another runtime, or in a "
					      "callback, and may not wait");
		a.size = sizeof(a);
		a.name = "group";
		must(lkdf_scope_create(of_->rt, &a, &scope_));
	}
	group(const group &) = delete;
	~group()
	{
		wait_here();
		if (scope_)
			lkdf_scope_put(scope_);
	}
	template <class F> void run(F f)
	{
		using C = child<F>;
		struct lkdf_kind *k =
			of_->kinds.find(&detail::key_of<C>, 0, {});

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
	// For all that run() has started. In a body also for its other
	// children.
	void wait()
	{
		thrown_.rethrow(wait_here());
	}
};

namespace detail
{
struct group_end {
	// Its children have ended, as rc says.
	static void rethrow(group &g, int rc)
	{
		g.has_children_ = false;
		g.thrown_.rethrow(rc);
	}
	static bool has_children(const group &g)
	{
		return g.has_children_;
	}
};
} // namespace detail

} // namespace lk

#endif
