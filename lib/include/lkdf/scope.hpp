// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Scopes and limits for C++17, and what a task may be given; lkdf.hpp includes
// this.
#ifndef LKDF_SCOPE_HPP
#define LKDF_SCOPE_HPP

#include <lkdf/error.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

namespace lk
{

namespace detail
{
inline int64_t to_ns(std::chrono::nanoseconds t)
{
	return t.count();
}
} // namespace detail

// Owns a struct lkdf_scope: a set of tasks and runs that end together. Its end
// waits for nothing: wait() does.
class scope
{
	struct put {
		void operator()(struct lkdf_scope *s) const
		{
			lkdf_scope_put(s);
		}
	};
	struct lkdf *rt_;
	std::unique_ptr<struct lkdf_scope, put> s_;

      public:
	// deadline: from now, 0: none; max_tasks: alive at a time, 0: any.
	template <class Runtime>
	explicit scope(const Runtime &rt LKDF_BORROWED,
		       const char *name = nullptr,
		       std::chrono::nanoseconds deadline = {},
		       uint64_t max_tasks = 0, const scope *parent = nullptr)
	    : rt_(rt.get())
	{
		struct lkdf_scope_attr a = {};
		struct lkdf_scope *s;

		a.size = sizeof(a);
		a.name = name;
		a.parent = parent ? parent->get() : nullptr;
		a.max_tasks = max_tasks;
		a.deadline_ns = detail::to_ns(deadline);
		must(lkdf_scope_create(rt_, &a, &s));
		s_.reset(s);
	}
	struct lkdf_scope *get() const
	{
		return s_.get();
	}
	// No further task of it starts; they end with the error.
	void cancel(int error = -ECANCELED)
	{
		must(lkdf_scope_cancel(rt_, get(), error));
	}
	// For all tasks and runs in it; throws the first error that no call has
	// returned.
	void wait()
	{
		must(lkdf_scope_wait(rt_, get(), -1));
	}
};

// Owns a struct lkdf_limit: tokens that bodies hold while they run.
class limit
{
	struct put {
		void operator()(struct lkdf_limit *l) const
		{
			lkdf_limit_put(l);
		}
	};
	std::unique_ptr<struct lkdf_limit, put> l_;

      public:
	template <class Runtime>
	limit(const Runtime &rt LKDF_BORROWED, uint64_t tokens,
	      const char *name = nullptr)
	{
		struct lkdf_limit_attr a = {};
		struct lkdf_limit *l;

		a.size = sizeof(a);
		a.name = name;
		a.tokens = tokens;
		must(lkdf_limit_create_with(rt.get(), &a, &l));
		l_.reset(l);
	}
	struct lkdf_limit *get() const
	{
		return l_.get();
	}
};

// Attributes of a task for async(), such as
// lk::with("parse").in(s).prio(LKDF_HIGH).
class with
{
	const char *name_;
	struct lkdf_task task_ = {};
	struct lkdf_scope *scope_ = nullptr;
	struct lkdf_limit_use limit_ = {};
	uint32_t flags_ = 0;

      public:
	// name: what reports and traces call callables of that type, copied.
	explicit with(const char *name = "async") : name_(name)
	{
		task_.size = sizeof(task_);
	}
	const char *name() const
	{
		return name_;
	}
	with &in(const lk::scope &s)
	{
		scope_ = s.get();
		return *this;
	}
	with &prio(enum lkdf_prio p)
	{
		task_.prio = p;
		return *this;
	}
	with &place(struct lkdf_place *p)
	{
		task_.place = p;
		return *this;
	}
	with &deadline(std::chrono::nanoseconds t)
	{
		task_.deadline_ns = detail::to_ns(t);
		return *this;
	}
	// Of this one task; copied when it is submitted.
	with &label(const char *text)
	{
		task_.label = text;
		return *this;
	}
	with &limit(const lk::limit &l, uint64_t tokens = 1)
	{
		limit_ = { l.get(), tokens };
		return *this;
	}
	// The body may wait: a thread of the blocking pool runs it.
	with &blocking()
	{
		flags_ |= LKDF_BLOCKING;
		return *this;
	}
	const struct lkdf_task &task() const
	{
		return task_;
	}
	struct lkdf_scope *of_scope() const
	{
		return scope_;
	}
	const struct lkdf_limit_use &of_limit() const
	{
		return limit_;
	}
	uint32_t flags() const
	{
		return flags_;
	}
};

} // namespace lk

#endif
