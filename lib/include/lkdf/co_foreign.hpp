// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Awaitables of other libraries; lkdf/co.hpp includes this. Their callback
// resumes a coroutine of one line, which signals an event, and the task goes on
// by the event, on a worker.
#ifndef LKDF_CO_FOREIGN_HPP
#define LKDF_CO_FOREIGN_HPP

#include <lkdf/co_task.hpp>

namespace lk
{

namespace detail
{
template <class A> struct is_of_co : std::false_type {
};
template <class T> struct is_of_co<co<T>> : std::true_type {
};

template <class A>
concept has_member = requires(A &&a)
{
	static_cast<A &&>(a).operator co_await();
};
template <class A>
concept has_free = requires(A &&a)
{
	operator co_await(static_cast<A &&>(a));
};
template <class A>
concept is_awaiter = requires(A &&a)
{
	a.await_ready();
	a.await_resume();
};
template <class A> decltype(auto) awaiter_of(A &&a)
{
	if constexpr (has_member<A>)
		return static_cast<A &&>(a).operator co_await();
	else if constexpr (has_free<A>)
		return operator co_await(static_cast<A &&>(a));
	else
		return static_cast<A &&>(a);
}
template <class A>
concept is_awaitable = has_member<A> || has_free<A> || is_awaiter<A>;

// Its resume() signals the event; it ends with that.
struct callback {
	struct promise_type {
		callback get_return_object()
		{
			return { std::coroutine_handle<
				promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_never final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			std::terminate();
		}
	};
	std::coroutine_handle<> h;

	static callback of(struct lkdf_event e)
	{
		lkdf_event_signal(e, 0);
		co_return;
	}
};

// The callback uses what is here. So a child that a cancel does not end waits
// for it, and the task for the child.
template <class A> struct foreign_awaiter : awaits {
	using W = decltype(awaiter_of(std::declval<A>()));
	W w;
	std::exception_ptr thrown;

	explicit foreign_awaiter(A &&a) : w(awaiter_of(static_cast<A &&>(a)))
	{
	}
	bool await_ready()
	{
		return w.await_ready();
	}
	// True: the callback comes. It may come before this returns.
	bool suspend(std::coroutine_handle<> back)
	{
		using R = decltype(w.await_suspend(back));

		if constexpr (std::is_void_v<R>) {
			w.await_suspend(back);
			return true;
		} else if constexpr (std::is_same_v<R, bool>) {
			return w.await_suspend(back);
		} else {
			w.await_suspend(back).resume();
			return true;
		}
	}
	void begin(struct lkdf_event e) noexcept
	{
		std::coroutine_handle<> back = callback::of(e).h;

		try {
			if (suspend(back))
				return;
		} catch (...) {
			thrown = std::current_exception();
		}
		back.destroy();
		lkdf_event_signal(e, 0);
	}
	static int run(struct lkdf_ctx *c, void *arg) noexcept
	{
		struct lkdf_event e;
		int rc = lkdf_hold(c, &e);

		if (!rc)
			(*static_cast<foreign_awaiter **>(arg))->begin(e);
		return rc;
	}
	struct lkdf_kind *kind() const
	{
		struct lkdf_kind_attr a = {};

		a.size = sizeof(a);
		a.name = "co_await";
		a.fn = run;
		a.arg_size = sizeof(void *);
		a.flags = LKDF_ALWAYS;
		return s->of->kinds.get(&key_of<foreign_awaiter>, s->of->rt, a);
	}
	template <class P> bool await_suspend(std::coroutine_handle<P> h)
	{
		s = h.promise().at;
		foreign_awaiter *me = this;
		struct lkdf_task t = {};
		struct lkdf_event done;

		t.size = sizeof(t);
		t.kind = kind();
		t.arg = &me;
		must(lkdf_spawn_task(s->ctx, &t, &done));
		if (s->leave(h, done))
			return true;
		lkdf_join_keep(s->ctx);
		lkdf_event_put(done);
		return false;
	}
	decltype(auto) await_resume()
	{
		if (thrown)
			std::rethrow_exception(thrown);
		return w.await_resume();
	}
};

template <class A>
concept is_ours = is_of_co<std::remove_cvref_t<A>>::value || std::is_base_of_v<
	awaits, std::remove_cvref_t<decltype(awaiter_of(std::declval<A>()))>>;

template <class A> decltype(auto) transform(A &&a)
{
	if constexpr (!is_awaitable<A>) {
		static_assert(
			is_awaitable<A>,
			"co_await: this is no awaitable, or it is a "
			"coroutine by name, which std::move() gives away");
	} else if constexpr (is_ours<A>) {
		return awaiter_of(static_cast<A &&>(a));
	} else {
		static_assert(!std::is_same_v<std::remove_cvref_t<A>,
					      std::suspend_always>,
			      "co_await: nobody resumes a "
			      "std::suspend_always");
		return foreign_awaiter<A>(static_cast<A &&>(a));
	}
}
} // namespace detail

} // namespace lk

#endif
