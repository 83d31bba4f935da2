// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// How the waves of a stream run, for C++17; lkdf.hpp includes this.
#ifndef LKDF_STREAM_HPP
#define LKDF_STREAM_HPP

#include <lkdf/scope.hpp>

namespace lk
{

// Attributes of a stream for lk::graph::stream(), such as
// g.stream(lk::waves().at_most(4).go_on()).
class waves
{
	struct lkdf_run run_ = {};
	struct lkdf_scope *scope_ = nullptr;

      public:
	waves()
	{
		run_.size = sizeof(run_);
		run_.flags = LKDF_RUN_STREAM;
	}
	// So many at most; else until the source returns lk::end.
	waves &times(uint64_t nr)
	{
		run_.times = nr;
		return *this;
	}
	// Limits the waves in progress; the default is the graph's inflight.
	waves &at_most(uint32_t nr)
	{
		run_.max_waves = nr;
		return *this;
	}
	// Other waves go on after one has failed; the end throws the first
	// error.
	waves &go_on()
	{
		run_.flags |= LKDF_RUN_GO_ON;
		return *this;
	}
	waves &in(const scope &s)
	{
		scope_ = s.get();
		return *this;
	}
	waves &deadline(std::chrono::nanoseconds t)
	{
		run_.deadline_ns = detail::to_ns(t);
		return *this;
	}
	const struct lkdf_run &run() const
	{
		return run_;
	}
	struct lkdf_scope *of_scope() const
	{
		return scope_;
	}
};

} // namespace lk

#endif
