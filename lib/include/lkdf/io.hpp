// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Operations of the system for C++17: async() of one gives a future of its
// result, and a coroutine awaits it; lkdf.hpp includes this.
#ifndef LKDF_IO_HPP
#define LKDF_IO_HPP

#include <lkdf/io.h>
#include <lkdf/runtime.hpp>

#include <fcntl.h>
#include <iterator>
#include <sys/socket.h>

namespace lk
{

// Bytes that an operation fills, which stay where they are until it has ended:
// a pointer and a length, an array, or what has data() and size().
struct buffer {
	void *data;
	uint32_t size;

	buffer(void *p LKDF_BORROWED, size_t n) : data(p), size(uint32_t(n))
	{
	}
	template <class C, class T = std::remove_pointer_t<
				   decltype(std::data(std::declval<C &>()))>>
	buffer(C &c LKDF_BORROWED)
	    : buffer(std::data(c), std::size(c) * sizeof(T))
	{
		static_assert(std::is_trivially_copyable_v<T>,
			      "the kernel writes bytes");
		static_assert(!std::is_const_v<T>, "the bytes are constant");
	}
};
// Bytes that an operation only reads.
struct const_buffer {
	const void *data;
	uint32_t size;

	const_buffer(const void *p LKDF_BORROWED, size_t n)
	    : data(p), size(uint32_t(n))
	{
	}
	template <class C, class T = std::remove_pointer_t<
				   decltype(std::data(std::declval<C &>()))>>
	const_buffer(const C &c LKDF_BORROWED)
	    : const_buffer(std::data(c), std::size(c) * sizeof(T))
	{
		static_assert(std::is_trivially_copyable_v<T>,
			      "the kernel reads bytes");
	}
};

// What the system is to do: a struct lkdf_io and its name. The functions below
// make them; any other one is lk::operation("statx", io).
struct [[nodiscard]] operation {
	const char *name;
	struct lkdf_io io = {};

	explicit operation(const char *what, enum lkdf_io_op op) : name(what)
	{
		io.size = sizeof(io);
		io.op = op;
	}
	operation(const char *what, const struct lkdf_io &asked)
	    : name(what), io(asked)
	{
	}
	// Of how struct lkdf_io is to be read for the operation.
	operation &how(uint32_t flags)
	{
		io.how = flags;
		return *this;
	}
	// The first bytes are enough.
	operation &some()
	{
		io.flags |= LKDF_IO_SOME;
		return *this;
	}
};

namespace detail
{
inline operation transfer(const char *name, enum lkdf_io_op op, int fd,
			  const void *data, uint32_t size, int64_t off)
{
	operation o(name, op);

	o.io.fd = fd;
	// A write only reads the bytes.
	o.io.buf = const_cast<void *>(data);
	o.io.len = size;
	o.io.off = off;
	return o;
}
} // namespace detail

// Bytes at off, or with -1 at the file's own position, until the buffer is full
// or the file ends; result: how many.
inline operation read(int fd, buffer to LKDF_BORROWED, int64_t off = -1)
{
	return detail::transfer("read", LKDF_IO_READ, fd, to.data, to.size,
				off);
}
inline operation write(int fd, const_buffer from LKDF_BORROWED,
		       int64_t off = -1)
{
	return detail::transfer("write", LKDF_IO_WRITE, fd, from.data,
				from.size, off);
}
// What came first; result: bytes, 0 at the end of the stream.
inline operation recv(int fd, buffer to LKDF_BORROWED)
{
	return detail::transfer("recv", LKDF_IO_RECV, fd, to.data, to.size, 0);
}
// All of the bytes.
inline operation send(int fd, const_buffer from LKDF_BORROWED)
{
	return detail::transfer("send", LKDF_IO_SEND, fd, from.data, from.size,
				0);
}
// flags: SOCK_*. Result: a descriptor, which is the caller's.
inline operation accept(int fd, uint32_t flags = SOCK_CLOEXEC)
{
	return detail::transfer("accept", LKDF_IO_ACCEPT, fd, nullptr, 0, 0)
		.how(flags);
}
inline operation connect(int fd, const struct sockaddr *to, socklen_t size)
{
	return detail::transfer("connect", LKDF_IO_CONNECT, fd, to, size, 0);
}
// As openat(2); the path stays until it has ended. Result: a descriptor.
inline operation open(const char *path, uint32_t flags = O_RDONLY,
		      uint32_t mode = 0, int dirfd = AT_FDCWD)
{
	operation o("open", LKDF_IO_OPENAT);

	o.io.dirfd = dirfd;
	o.io.path = path;
	o.io.len = mode;
	return o.how(flags | O_CLOEXEC);
}
inline operation close(int fd)
{
	return detail::transfer("close", LKDF_IO_CLOSE, fd, nullptr, 0, 0);
}
inline operation fsync(int fd)
{
	return detail::transfer("fsync", LKDF_IO_FSYNC, fd, nullptr, 0, 0);
}
// events: POLL*. Result: what there is of it.
inline operation poll(int fd, uint32_t events)
{
	return detail::transfer("poll", LKDF_IO_POLL, fd, nullptr, 0, 0)
		.how(events);
}
// Ends when the time is over.
inline operation sleep(std::chrono::nanoseconds t)
{
	operation o("sleep", LKDF_IO_TIMEOUT);

	o.io.off = detail::to_ns(t);
	return o;
}

namespace detail
{
// The argument of an operation's task. J takes its end: J::ended(c, to).
template <class J> struct asked_io {
	struct lkdf_io io;
	J *to;

	static int run(struct lkdf_ctx *c, void *arg) noexcept
	{
		return J::ended(c, static_cast<asked_io *>(arg)->to);
	}
	static void drop(void *arg)
	{
		J::drop(static_cast<asked_io *>(arg)->to);
	}
};

struct io_job : result<int64_t> {
	static int ended(struct lkdf_ctx *c, io_job *j) noexcept
	{
		int rc = lkdf_io_error(c, nullptr);

		j->value = lkdf_io_result(c);
		// Cancelled: what it has done before is nobody's.
		return rc == -ECANCELED || rc == -ETIME ? rc : 0;
	}
	static void drop(io_job *j)
	{
		j->put();
	}
};
} // namespace detail

// Its result, as that of the system call: a number, or -errno. A cancel and a
// deadline are errors of the future.
inline future<int64_t> runtime::async(const with &w, const operation &o)
{
	using A = detail::asked_io<detail::io_job>;
	auto j = std::make_unique<detail::io_job>();
	struct lkdf_kind_attr a = {};
	struct lkdf_task t = w.task();
	A arg{ o.io, j.get() };

	a.size = sizeof(a);
	a.name = w.name();
	a.fn = A::run;
	a.drop = A::drop;
	a.arg_size = sizeof(A);
	// A kind for each sort of operation.
	t.kind = home_->kinds.get(&detail::key_of<A>, get(), a, w.of_limit(),
				  o.io.op + 1, lkdf_kind_create_io);
	t.arg = &arg;
	return detail::start_kind<int64_t>(home_.get(), w, std::move(j), t);
}
inline future<int64_t> runtime::async(const operation &o)
{
	return async(with(o.name), o);
}

} // namespace lk

#endif
