// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
//
// Coroutines for C++20: bodies that wait without a thread. A coroutine returns
// lk::co<T>. lk::start() makes it a task of its own, co_await runs it in the
// task of who awaits it, and lk::fork() makes it a child.
//
//	lk::co<int> echo(int fd)
//	{
//		char b[4096];
//		int64_t n;
//
//		while ((n = co_await lk::recv(fd, b)) > 0)
//			co_await lk::send(fd, lk::const_buffer(b, size_t(n)));
//		co_return int(n);
//	}
//
// What co_await takes: another lk::co, lk::all(co...), lk::fork(co), lk::join,
// an operation of io.hpp, a future, a group, lk::until(event), lk::receive(ch),
// lk::deliver(ch, value).
//
// A cancel of the scope and a deadline come out of co_await as an lk::error,
// unless the value that is awaited is there already.
#ifndef LKDF_CO_HPP
#define LKDF_CO_HPP

#include <lkdf/co_await.hpp>

namespace lk
{

// A child of the task, which begins at once or when this coroutine waits:
// auto a = co_await lk::fork(f(1)); co_await lk::join; a.get().
template <class T> [[nodiscard]] auto fork(co<T> c)
{
	return detail::fork_awaiter<T>(std::move(c));
}
// Until all children of the task have ended; throws what the first has thrown.
// No thread waits.
inline constexpr struct {
	auto operator co_await() const noexcept
	{
		return detail::join_awaiter{};
	}
} join;
// The same, and this thread runs children meanwhile, and waits for them: faster
// for children that do not wait for anything else than theirs.
inline constexpr struct {
	auto operator co_await() const noexcept
	{
		return detail::join_here_awaiter{};
	}
} join_here;
// Several at once, as children: a tuple of their values, std::monostate where
// there is none, once all children of the task have ended.
template <class... T> [[nodiscard]] auto all(co<T>... c)
{
	return detail::all_awaiter<T...>(std::move(c)...);
}
// Until the event has fired, whose reference it takes over.
inline auto until(struct lkdf_event e)
{
	return detail::until_awaiter(e);
}
// The next value of a channel; none: the channel has ended.
template <class T> auto receive(channel<T> &ch)
{
	return detail::channel_awaiter<detail::receive_once<T>>(
		{ ch.get(), T{} });
}
// False: the channel has ended.
template <class T> auto deliver(channel<T> &ch, const T &value)
{
	return detail::channel_awaiter<detail::deliver_once<T>>(
		{ ch.get(), value });
}

template <class R> auto operator co_await(future<R> &&f)
{
	return detail::future_awaiter<R>(std::move(f));
}
template <class R> auto operator co_await(future<R> &f)
{
	return detail::future_awaiter<R>(std::move(f));
}
inline auto operator co_await(group &g)
{
	return detail::group_awaiter(g);
}
inline auto operator co_await(const operation &o)
{
	return detail::io_awaiter(o);
}

} // namespace lk

#endif
