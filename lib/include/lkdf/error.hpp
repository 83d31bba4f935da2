// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Errors for C++17: of calls, and exceptions that leave callables; lkdf.hpp
// includes this.
#ifndef LKDF_ERROR_HPP
#define LKDF_ERROR_HPP

#include <lkdf/lkdf.h>

#if !defined(__cpp_exceptions)
#error "the C++ headers of lkdf throw: compile without -fno-exceptions, or \
include lkdf/lkdf.h and use the C calls"
#endif

#include <atomic>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

// Marks a parameter that the result refers to: clang warns if it ends first.
#if defined(__clang__) && defined(__has_cpp_attribute)
#if __has_cpp_attribute(clang::lifetimebound)
#define LKDF_BORROWED [[clang::lifetimebound]]
#endif
#endif
#ifndef LKDF_BORROWED
#define LKDF_BORROWED
#endif

namespace lk
{

// What a call of the C interface has returned, with its text.
class error : public std::system_error
{
      public:
	explicit error(int rc)
	    : std::system_error(-rc, std::generic_category(), lkdf_errmsg())
	{
	}
	error(int rc, const char *text)
	    : std::system_error(-rc, std::generic_category(), text)
	{
	}
};

// rc, or an lk::error where it is negative.
inline int must(int rc)
{
	if (rc < 0)
		throw error(rc);
	return rc;
}

namespace detail
{
// In a handler: what the body returns, with the exception's what() as the text.
inline int fail_with_current(struct lkdf_ctx *c) noexcept
{
	try {
		throw;
	} catch (const std::system_error &e) {
		int code = e.code().value();

		return lkdf_fail(c, code > 0 ? -code : -ECANCELED, "%s",
				 e.what());
	} catch (const std::exception &e) {
		return lkdf_fail(c, -ECANCELED, "%s", e.what());
	} catch (...) {
		return lkdf_fail(c, -ECANCELED,
				 "an exception of an unknown type");
	}
}

// The first exception of several callables, which comes back once to the thread
// that waits for all of them.
class first_thrown
{
	std::atomic<bool> is_taken_{ false };
	std::exception_ptr first_;

      public:
	// In a handler; any thread.
	void keep() noexcept
	{
		if (!is_taken_.exchange(true))
			first_ = std::current_exception();
	}
	// After all of them have ended: rc is what the call returned.
	void rethrow(int rc)
	{
		if (is_taken_.load(std::memory_order_relaxed))
			rethrow_first();
		must(rc);
	}
	[[noreturn]] __attribute__((noinline)) void rethrow_first()
	{
		std::exception_ptr e = std::exchange(first_, nullptr);

		is_taken_.store(false, std::memory_order_relaxed);
		std::rethrow_exception(e);
	}
};
} // namespace detail

} // namespace lk

#endif
