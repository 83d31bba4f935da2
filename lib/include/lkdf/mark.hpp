// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Marks and regions for C++17: what a program itself says in a recording;
// lkdf.hpp includes this.
#ifndef LKDF_MARK_HPP
#define LKDF_MARK_HPP

#include <lkdf/error.hpp>
#include <lkdf/mark.h>

#include <chrono>
#include <cstdint>

namespace lk
{

// Adds a labelled value to a recording in progress, see lkdf_mark().
template <class R> void mark(const R &rt, const char *label, int64_t value = 0)
{
	must(lkdf_mark(rt.get(), label, value));
}

// A region of the program: it begins here and ends with the object, also where
// an exception goes by. label stays until then.
class region
{
	struct lkdf *rt_;
	const char *label_;
	int64_t limit_ns_ = -1;
	uint64_t begin_;

      public:
	template <class R>
	region(const R &rt, const char *label)
	    : rt_(rt.get()), label_(label), begin_(lkdf_region_begin(rt_))
	{
	}
	// A flight recorder is written where it takes longer than limit, while
	// it still runs.
	template <class R>
	region(const R &rt, const char *label, std::chrono::nanoseconds limit)
	    : rt_(rt.get()), label_(label), limit_ns_(limit.count()),
	      begin_(lkdf_region_begin_by(rt_, limit_ns_))
	{
	}
	region(const region &) = delete;
	region &operator=(const region &) = delete;
	~region()
	{
		if (limit_ns_ < 0)
			lkdf_region_end(rt_, label_, begin_);
		else
			lkdf_region_end_by(rt_, label_, begin_, limit_ns_);
	}
};

} // namespace lk

#endif
