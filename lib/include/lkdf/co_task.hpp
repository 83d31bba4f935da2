// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Coroutines of C++20 and the tasks that they are; lkdf/co.hpp includes this.
#ifndef LKDF_CO_TASK_HPP
#define LKDF_CO_TASK_HPP

#include <lkdf/lkdf.hpp>

#if !defined(__cpp_impl_coroutine)
#error "lkdf/co.hpp needs coroutines: g++ -std=c++20"
#endif

#include <coroutine>
#include <cstdio>
#include <string>

namespace lk
{

template <class T = void> class co;

namespace detail
{
inline constexpr char cancelled_text[] = "the coroutine was cancelled";

// gcc without optimization calls the next coroutine on the stack of the one
// that goes: then the body calls each in turn.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)
inline constexpr bool goes_in_turn = true;
#else
inline constexpr bool goes_in_turn = false;
#endif

// A task whose body is a coroutine, and those that it awaits. It lies in the
// promise of the first one, whose frame stays until the task is complete.
struct strand {
	home *of = nullptr;
	struct lkdf_ctx *ctx = nullptr; // while its body runs
	std::coroutine_handle<> next; // what the body goes on with
	std::coroutine_handle<>
		turn; // the one to call next, where it is in turn
	// While it waits for a channel: what to try again.
	int (*again)(void *) = nullptr;
	void *tried = nullptr;
	int told = 0; // by what it has waited for
	lkdf_fn go_on = nullptr; // the body behind a wait
	bool waits_again = false;
	strand *parent = nullptr;
	first_thrown thrown; // of its children

	// The body: as far as the coroutine goes. How channels call it again is
	// the only value that it returns.
	int go(struct lkdf_ctx *c) noexcept
	{
		ctx = c;
		if (again) {
			told = again(tried);
			if (told == -EAGAIN)
				return LKDF_AGAIN;
			again = nullptr;
		}
		waits_again = false;
		next.resume();
		if constexpr (goes_in_turn)
			while (turn)
				std::exchange(turn, nullptr).resume();
		return waits_again ? LKDF_AGAIN : 0;
	}
	// Leaves with e, or where it is { 0 } until all children have ended.
	// False: it goes on at once, told why.
	bool leave(std::coroutine_handle<> h, struct lkdf_event e)
	{
		next = h;
		told = lkdf_then(ctx, go_on, e);
		return !told;
	}
	// The same, after the coroutine has started children that refer to it.
	bool leave_children(std::coroutine_handle<> h)
	{
		if (leave(h, {}))
			return true;
		told = lkdf_join(ctx);
		return false;
	}
	// One coroutine goes on as another.
	std::coroutine_handle<> transfer(std::coroutine_handle<> to) noexcept
	{
		if constexpr (!goes_in_turn)
			return to;
		turn = to;
		return std::noop_coroutine();
	}
	// Behind a wait: throws where the task is to end.
	void check() const
	{
		if (int rc = lkdf_cancelled(ctx))
			throw error(rc, cancelled_text);
	}
};

// The base of what co_await takes: the task that awaits it.
struct awaits {
	strand *s = nullptr;

	bool await_ready() const noexcept
	{
		return false;
	}
};
template <class A>
concept is_own_awaiter = std::is_base_of_v<awaits, std::remove_cvref_t<A>>;

// Of what is no awaiter of the library; see co_foreign.hpp.
template <class A> decltype(auto) transform(A &&a);

struct promise_base {
	const char *name;
	strand *at = nullptr; // of the task that it is in
	std::coroutine_handle<> caller; // none: it is the first of its task
	std::exception_ptr thrown;
	strand own; // where it is the first
	std::atomic<int> nr_refs{ 2 }; // then: the task and who asks for it
	bool has_begun = false;

	struct ends {
		bool await_ready() noexcept
		{
			return false;
		}
		template <class P>
		std::coroutine_handle<>
		await_suspend(std::coroutine_handle<P> h) noexcept
		{
			std::coroutine_handle<> to = h.promise().caller;

			return to ? h.promise().at->transfer(to)
				  : std::noop_coroutine();
		}
		void await_resume() noexcept
		{
		}
	};

	explicit promise_base(const char *function) : name(function)
	{
	}
	std::suspend_always initial_suspend() noexcept
	{
		return {};
	}
	ends final_suspend() noexcept
	{
		return {};
	}
	// By value: gcc 12 copies temporaries that it gives by reference.
	template <is_own_awaiter A> A await_transform(A a)
	{
		return a;
	}
	template <class A>
	requires(!is_own_awaiter<A>) decltype(auto) await_transform(A &&a)
	{
		return detail::transform<A>(static_cast<A &&>(a));
	}
	void unhandled_exception() noexcept
	{
		thrown = std::current_exception();
	}
	static void *operator new(size_t bytes)
	{
		return frames::take(bytes);
	}
	static void operator delete(void *p, size_t bytes)
	{
		frames::put(p, bytes);
	}
	// True: the last one of two.
	bool put()
	{
		return nr_refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
	}
};

template <class T> struct promise : promise_base {
	std::optional<T> value;

	using promise_base::promise_base;
	template <class V> void return_value(V &&v)
	{
		value.emplace(std::forward<V>(v));
	}
	T take()
	{
		if (thrown)
			std::rethrow_exception(std::exchange(thrown, nullptr));
		if (!value)
			throw std::logic_error(
				std::string("coroutine ") + name +
				" has ended without co_return of a value");
		return std::move(*value);
	}
};
template <> struct promise<void> : promise_base {
	using promise_base::promise_base;
	void return_void()
	{
	}
	void take()
	{
		if (thrown)
			std::rethrow_exception(std::exchange(thrown, nullptr));
	}
};

struct co_access;
} // namespace detail

// A coroutine that has not begun. A co_await, a fork or a start takes it over.
// If it is destroyed before, the library prints its name on standard error.
template <class T> class [[nodiscard]] co
{
      public:
	struct promise_type : detail::promise<T> {
		explicit promise_type(
			const char *function = __builtin_FUNCTION())
		    : detail::promise<T>(function)
		{
		}
		co get_return_object()
		{
			return co(handle::from_promise(*this));
		}
	};
	using handle = std::coroutine_handle<promise_type>;
	using type = T;

	co(co &&o) noexcept : h_(std::exchange(o.h_, nullptr))
	{
	}
	co &operator=(co &&o) noexcept
	{
		std::swap(h_, o.h_);
		return *this;
	}
	~co()
	{
		if (!h_)
			return;
		if (!h_.promise().has_begun)
			std::fprintf(stderr,
				     "lkdf: coroutine %s was never awaited\n",
				     h_.promise().name);
		h_.destroy();
	}

	struct awaiter {
		handle h;

		bool await_ready() const noexcept
		{
			return false;
		}
		template <class P>
		std::coroutine_handle<>
		await_suspend(std::coroutine_handle<P> caller) noexcept
		{
			h.promise().at = caller.promise().at;
			h.promise().caller = caller;
			h.promise().has_begun = true;
			return h.promise().at->transfer(h);
		}
		T await_resume()
		{
			return h.promise().take();
		}
	};
	awaiter operator co_await() &&noexcept
	{
		return { h_ };
	}

      private:
	friend struct detail::co_access;
	handle h_;

	explicit co(handle h) : h_(h)
	{
	}
};

namespace detail
{
struct co_access {
	template <class T> static const char *name(const co<T> &c)
	{
		return c.h_.promise().name;
	}
	// The first coroutine of a task: the caller's now.
	template <class T> static auto take(co<T> &c, home *of, strand *parent)
	{
		auto h = std::exchange(c.h_, nullptr);
		auto &p = h.promise();

		p.has_begun = true;
		p.at = &p.own;
		p.own.of = of;
		p.own.parent = parent;
		p.own.next = h;
		return h;
	}
};

template <class T> using handle_of = typename co<T>::handle;

template <class T> void put_frame(handle_of<T> h)
{
	if (h.promise().put())
		h.destroy();
}

// The kind of coroutines of a type that have one name, by its number.
template <class Job>
struct lkdf_kind *kind_of(home *of, const char *name, uint64_t number,
			  uint32_t flags, const struct lkdf_limit_use &limit)
{
	struct lkdf_kind_attr a = {};

	a.size = sizeof(a);
	a.name = name;
	a.flags = flags | LKDF_SEES_CANCEL;
	a.fn = Job::go;
	a.drop = Job::drop;
	return of->kinds.get(&key_of<Job>, of->rt, a, limit, number);
}

// A task of its own, whose result the future has.
template <class T> struct co_job : result<T> {
	handle_of<T> h;

	co_job(co<T> &c, home *of) : h(co_access::take(c, of, nullptr))
	{
		h.promise().own.go_on = go_on;
	}
	~co_job() override
	{
		if (h)
			h.destroy();
	}
	int end(struct lkdf_ctx *c) noexcept
	{
		try {
			if constexpr (std::is_void_v<T>)
				h.promise().take();
			else
				this->value.emplace(h.promise().take());
		} catch (...) {
			this->thrown = std::current_exception();
			return fail_with_current(c);
		}
		return 0;
	}
	static int go(struct lkdf_ctx *c, void *arg) noexcept
	{
		auto *j = static_cast<co_job *>(arg);
		int rc = j->h.promise().own.go(c);

		return j->h.done() ? j->end(c) : rc;
	}
	static int go_on(struct lkdf_ctx *c, void *arg) noexcept
	{
		static_cast<co_job *>(arg)->h.promise().own.told =
			lkdf_input_error(c, 0);
		return go(c, arg);
	}
	static void drop(void *arg)
	{
		auto *j = static_cast<co_job *>(arg);

		std::exchange(j->h, nullptr).destroy();
		j->put();
	}
};

// A child. Its argument is the address of its coroutine.
template <class T> struct co_child {
	static handle_of<T> of(void *arg)
	{
		return handle_of<T>::from_address(arg);
	}
	static int end(struct lkdf_ctx *c, promise<T> &p) noexcept
	{
		if (!p.thrown)
			return 0;
		try {
			std::rethrow_exception(p.thrown);
		} catch (...) {
			p.own.parent->thrown.keep();
			return fail_with_current(c);
		}
	}
	static int go(struct lkdf_ctx *c, void *arg) noexcept
	{
		auto &p = of(arg).promise();
		int rc = p.own.go(c);

		return of(arg).done() ? end(c, p) : rc;
	}
	static int go_on(struct lkdf_ctx *c, void *arg) noexcept
	{
		of(arg).promise().own.told = lkdf_input_error(c, 0);
		return go(c, arg);
	}
	static void drop(void *arg)
	{
		put_frame<T>(of(arg));
	}
	// The caller has the second reference.
	static handle_of<T> spawn(strand *s, co<T> &c)
	{
		auto h = co_access::take(c, s->of, s);
		int rc;

		h.promise().own.go_on = go_on;
		try {
			rc = lkdf_spawn(
				s->ctx,
				kind_of<co_child>(s->of, h.promise().name,
						  reinterpret_cast<uintptr_t>(
							  h.promise().name),
						  0, {}),
				h.address());
			must(rc);
		} catch (...) {
			h.destroy();
			throw;
		}
		return h;
	}
};
} // namespace detail

// A coroutine as a task: a child in a callable that runs as a body, and else a
// task of the runtime. Its name is that of the function, unless w has one.
template <class T> future<T> start(runtime &rt, const with &w, co<T> c)
{
	auto j = std::make_unique<detail::co_job<T>>(c, rt.home());
	struct lkdf_task t = w.task();

	t.kind = detail::kind_of<detail::co_job<T>>(
		rt.home(), w.name(), detail::number_of_text(w.name()),
		w.flags(), w.of_limit());
	t.arg = j.get();
	return detail::start_kind<T>(rt.home(), w, std::move(j), t);
}
template <class T> future<T> start(runtime &rt, co<T> c)
{
	with w(detail::co_access::name(c));

	return start(rt, w, std::move(c));
}

// A child's result, valid after the next co_await lk::join. Its coroutine must
// refer only to objects that exist until the task has ended, because it goes on
// when its parent throws.
template <class T> class [[nodiscard]] forked
{
	detail::handle_of<T> h_;

      public:
	explicit forked(detail::handle_of<T> h) : h_(h)
	{
	}
	forked(forked &&o) noexcept : h_(std::exchange(o.h_, nullptr))
	{
	}
	forked &operator=(forked &&o) noexcept
	{
		std::swap(h_, o.h_);
		return *this;
	}
	~forked()
	{
		if (h_)
			detail::put_frame<T>(h_);
	}
	T get()
	{
		if (!h_.done())
			throw std::logic_error("fork: the child may still run: "
					       "co_await lk::join first");
		return h_.promise().take();
	}
};

} // namespace lk

#endif
