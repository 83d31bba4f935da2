// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// What co_await takes beside coroutines; lkdf/co.hpp includes this.
#ifndef LKDF_CO_AWAIT_HPP
#define LKDF_CO_AWAIT_HPP

#include <lkdf/co_foreign.hpp>

#include <variant>

namespace lk
{

namespace detail
{
template <class T> struct fork_awaiter : awaits {
	co<T> c;

	explicit fork_awaiter(co<T> &&child) : c(std::move(child))
	{
	}
	template <class P> bool await_suspend(std::coroutine_handle<P> h)
	{
		s = h.promise().at;
		return false;
	}
	forked<T> await_resume()
	{
		return forked<T>(co_child<T>::spawn(s, c));
	}
};

struct join_awaiter : awaits {
	template <class P> bool await_suspend(std::coroutine_handle<P> h)
	{
		s = h.promise().at;
		return s->leave_children(h);
	}
	void await_resume()
	{
		s->check();
		s->thrown.rethrow(s->told);
	}
};

struct join_here_awaiter : awaits {
	template <class P> bool await_suspend(std::coroutine_handle<P> h)
	{
		s = h.promise().at;
		return false;
	}
	void await_resume()
	{
		int rc = lkdf_join(s->ctx);

		if (rc)
			s->thrown.rethrow(rc);
		s->check();
	}
};

template <class T>
using or_nothing = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class... T> struct all_awaiter : awaits {
	std::tuple<co<T>...> c;
	std::tuple<handle_of<T>...> child;

	explicit all_awaiter(co<T> &&...more) : c(std::move(more)...)
	{
	}
	all_awaiter(const all_awaiter &) = delete;
	all_awaiter(all_awaiter &&) = default; // before it has begun
	~all_awaiter()
	{
		put(std::index_sequence_for<T...>{});
	}
	template <size_t... N> void put(std::index_sequence<N...>)
	{
		((std::get<N>(child) ? put_frame<T>(std::get<N>(child))
				     : void()),
		 ...);
	}
	template <size_t... N> void spawn(std::index_sequence<N...>)
	{
		try {
			((std::get<N>(child) =
				  co_child<T>::spawn(s, std::get<N>(c))),
			 ...);
		} catch (...) {
			// Those that have begun refer to what is here.
			lkdf_join_keep(s->ctx);
			throw;
		}
	}
	template <class P> bool await_suspend(std::coroutine_handle<P> h)
	{
		s = h.promise().at;
		spawn(std::index_sequence_for<T...>{});
		return s->leave_children(h);
	}
	template <class R> static or_nothing<R> value_of(promise<R> &p)
	{
		if constexpr (std::is_void_v<R>) {
			p.take();
			return {};
		} else {
			return p.take();
		}
	}
	template <size_t... N> auto values(std::index_sequence<N...>)
	{
		return std::tuple<or_nothing<T>...>{ value_of<T>(
			std::get<N>(child).promise())... };
	}
	std::tuple<or_nothing<T>...> await_resume()
	{
		s->check();
		s->thrown.rethrow(s->told);
		return values(std::index_sequence_for<T...>{});
	}
};

struct until_awaiter : awaits {
	struct lkdf_event e;

	explicit until_awaiter(struct lkdf_event on) : e(on)
	{
	}
	template <class P> bool await_suspend(std::coroutine_handle<P> h)
	{
		s = h.promise().at;
		return s->leave(h, e);
	}
	void await_resume()
	{
		s->check();
		if (s->told)
			throw error(s->told);
	}
};

template <class R> struct future_awaiter : awaits {
	future<R> f;

	explicit future_awaiter(future<R> &&of) : f(std::move(of))
	{
	}
	bool await_ready()
	{
		return f.is_ready();
	}
	template <class P> bool await_suspend(std::coroutine_handle<P> h)
	{
		s = h.promise().at;
		if (!s->leave(h, future_end::event(f)))
			throw error(s->told);
		future_end::left(f);
		return true;
	}
	R await_resume()
	{
		if (s)
			future_end::told(f, s->told);
		return f.get();
	}
};

// Children of a group that the coroutine has made.
struct group_awaiter : awaits {
	group &g;

	explicit group_awaiter(group &of) : g(of)
	{
	}
	template <class P> bool await_suspend(std::coroutine_handle<P> h)
	{
		s = h.promise().at;
		struct lkdf_event e = group_end::event(g);

		if (s->leave(h, e))
			return true;
		// It refers to what is here.
		lkdf_join_keep(s->ctx);
		lkdf_event_put(e);
		return false;
	}
	void await_resume()
	{
		group_end::rethrow(g, s->told);
		s->check();
	}
};

// The operation's task is a child, whose kind has the name of the line.
struct io_awaiter : awaits {
	operation o;
	int64_t result = 0;
	int error_of = 0;
	bool has_ended = false;

	explicit io_awaiter(const operation &of) : o(of)
	{
	}
	static int ended(struct lkdf_ctx *c, io_awaiter *a) noexcept
	{
		a->result = lkdf_io_result(c);
		a->error_of = lkdf_io_error(c, nullptr);
		a->has_ended = true;
		return 0;
	}
	struct lkdf_kind *kind(const char *function, unsigned line)
	{
		using A = asked_io<io_awaiter>;
		uint64_t site = reinterpret_cast<uintptr_t>(function) |
				uint64_t(line) << 48;
		struct lkdf_kind *k =
			s->of->kinds.find(&key_of<A>, 0, {}, site);
		struct lkdf_kind_attr a = {};
		char name[64];

		if (k)
			return k;
		std::snprintf(name, sizeof(name), "%s at %s:%u", o.name,
			      function, line);
		a.size = sizeof(a);
		a.name = name;
		a.fn = A::run;
		a.arg_size = sizeof(A);
		return s->of->kinds.get(&key_of<A>, s->of->rt, a, {}, site,
					lkdf_kind_create_io);
	}
	template <class P>
	bool await_suspend(std::coroutine_handle<P> h,
			   const char *function = __builtin_FUNCTION(),
			   unsigned line = __builtin_LINE())
	{
		s = h.promise().at;
		asked_io<io_awaiter> arg{ o.io, this };
		struct lkdf_task t = {};
		struct lkdf_event done;

		t.size = sizeof(t);
		t.kind = kind(function, line);
		t.arg = &arg;
		must(lkdf_spawn_task(s->ctx, &t, &done));
		if (s->leave(h, done))
			return true;
		// It uses what is here.
		lkdf_join_keep(s->ctx);
		lkdf_event_put(done);
		return false;
	}
	// As the system call: a number, or -errno.
	int64_t await_resume()
	{
		if (!has_ended)
			throw error(s->told ? s->told : lkdf_cancelled(s->ctx));
		if (error_of == -ECANCELED || error_of == -ETIME)
			throw error(error_of, o.name);
		return result;
	}
};

// A try at a channel, which is made again when the channel moves, and not once
// the task is cancelled: a value that nobody gets stays where it is.
template <class Try> struct channel_awaiter : awaits {
	Try attempt;
	int cancelled = 0;

	explicit channel_awaiter(const Try &t) : attempt(t)
	{
	}
	static int again(void *me)
	{
		auto *a = static_cast<channel_awaiter *>(me);

		a->cancelled = lkdf_cancelled(a->s->ctx);
		return a->cancelled ? a->cancelled : a->attempt.once(a->s->ctx);
	}
	template <class P> bool await_suspend(std::coroutine_handle<P> h)
	{
		s = h.promise().at;
		s->told = again(this);
		if (s->told != -EAGAIN)
			return false;
		s->next = h;
		s->again = again;
		s->tried = this;
		s->waits_again = true;
		return true;
	}
	auto await_resume()
	{
		if (cancelled)
			throw error(cancelled, cancelled_text);
		return attempt.end(s->told);
	}
};
template <class T> struct receive_once {
	struct lkdf_channel *ch;
	T value;

	int once(struct lkdf_ctx *c)
	{
		return lkdf_recv(c, ch, &value);
	}
	std::optional<T> end(int rc)
	{
		if (rc == -ENODATA)
			return std::nullopt;
		must(rc);
		return value;
	}
};
template <class T> struct deliver_once {
	struct lkdf_channel *ch;
	T value;

	int once(struct lkdf_ctx *c)
	{
		return lkdf_send(c, ch, &value);
	}
	bool end(int rc)
	{
		if (rc == -EPIPE)
			return false;
		must(rc);
		return true;
	}
};
} // namespace detail

} // namespace lk

#endif
