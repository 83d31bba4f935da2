// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// A runtime for C++17, and errors; lkdf.hpp includes this.
#ifndef LKDF_RUNTIME_HPP
#define LKDF_RUNTIME_HPP

#include <lkdf/lkdf.h>

#include <memory>
#include <system_error>

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
};

// rc, or an lk::error where it is negative.
inline int must(int rc)
{
	if (rc < 0)
		throw error(rc);
	return rc;
}

// Owns a struct lkdf. Work that is under way at its end is cancelled and waited
// for, which the log tells: bodies refer to what is destroyed next.
class runtime
{
	struct close {
		void operator()(struct lkdf *rt) const
		{
			lkdf_close_now(rt);
		}
	};
	std::unique_ptr<struct lkdf, close> rt_;

      public:
	// options as lkdf_open(); throws.
	explicit runtime(const char *options = nullptr)
	{
		struct lkdf *rt;

		must(lkdf_open(options, &rt));
		rt_.reset(rt);
	}
	struct lkdf *get() const
	{
		return rt_.get();
	}
	// For all there is; throws the first error.
	void wait() const
	{
		must(lkdf_scope_wait(get(), nullptr, -1));
	}
};

} // namespace lk

#endif
