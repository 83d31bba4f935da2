// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Tasks for C++17: async() of lk::runtime, and futures; lkdf.hpp includes this.
#ifndef LKDF_TASK_HPP
#define LKDF_TASK_HPP

#include <lkdf/body.hpp>
#include <lkdf/frames.hpp>
#include <lkdf/scope.hpp>

#include <functional>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

namespace lk
{

template <class R> class future;

namespace detail
{
// What a task leaves for those who wait for it. The task and its futures have a
// reference each; the task's is the last where nobody waits.
class result_base
{
	std::atomic<int> nr_refs_{ 1 };

      public:
	std::exception_ptr thrown; // set before the task ends
	// What then() came after: its result and its end, a reference each.
	result_base *before = nullptr;
	struct lkdf_event before_done = {};

	result_base() = default;
	result_base(const result_base &) = delete;
	static void *operator new(size_t bytes)
	{
		return frames::take(bytes);
	}
	static void operator delete(void *p, size_t bytes)
	{
		frames::put(p, bytes);
	}
	// Of values that are aligned to more than a frame is.
	static void *operator new(size_t bytes, std::align_val_t a)
	{
		return ::operator new(bytes, a);
	}
	static void operator delete(void *p, size_t, std::align_val_t a)
	{
		::operator delete(p, a);
	}
	virtual ~result_base() = default;
	void hold()
	{
		nr_refs_.fetch_add(1, std::memory_order_relaxed);
	}
	// A chain of then() goes link by link. is_alive: its runtime is there.
	void put(bool is_alive = true)
	{
		result_base *r = this, *next;

		while (r && r->nr_refs_.fetch_sub(
				    1, std::memory_order_acq_rel) == 1) {
			next = r->before;
			if (next && is_alive)
				lkdf_event_put(r->before_done);
			delete r;
			r = next;
		}
	}
	// Of the task, or of the one whose failure has skipped it, which is
	// told by that.
	std::exception_ptr cause(bool is_alive) const
	{
		const result_base *r = this;
		struct lkdf_error e = {};

		e.size = sizeof(e);
		for (; !r->thrown && r->before; r = r->before)
			if (is_alive)
				lkdf_event_error(r->before_done, &e);
		return r->thrown;
	}
};

template <class R> struct result : result_base {
	std::optional<R> value;
};
template <> struct result<void> : result_base {
};

// A task: f is called with the context of its body. The callable ends with its
// call, or where it is never called with the task.
template <class R, class F> struct job : result<R> {
	home *of;
	std::optional<F> f;

	job(home *at, F &&fn) : of(at), f(std::move(fn))
	{
	}
	void call(struct lkdf_ctx *c)
	{
		if constexpr (std::is_void_v<R>)
			(*f)(c);
		else
			this->value.emplace((*f)(c));
	}
	static int run(struct lkdf_ctx *c, void *arg) noexcept
	{
		auto *j = static_cast<job *>(arg);
		int rc = 0;

		try {
			j->call(c);
		} catch (...) {
			j->thrown = std::current_exception();
			rc = fail_with_current(c);
		}
		j->f.reset();
		return rc;
	}
	static void drop(void *arg)
	{
		auto *j = static_cast<job *>(arg);

		j->f.reset();
		j->put();
	}
};

// A task whose argument is a j: J::run() is its body and J::drop() its end.
template <class R, class J>
future<R> start(home *of, const with &w, std::unique_ptr<J> j,
		const struct lkdf_use *use = nullptr, unsigned nr_use = 0,
		const struct lkdf_event *after = nullptr);
// The same of a kind that is there, and with another argument.
template <class R, class J>
future<R> start_kind(home *of, const with &w, std::unique_ptr<J> j,
		     struct lkdf_task t);

// For those who wait for a future in another way than by its calls.
struct future_end;

// A tuple of the callable and its arguments as a callable of a body.
template <class F, class... A> struct bound {
	std::tuple<F, A...> t;

	decltype(auto) operator()(struct lkdf_ctx *)
	{
		return std::apply(
			[](F &f, A &...a) -> decltype(auto) {
				return std::invoke(std::move(f),
						   std::move(a)...);
			},
			t);
	}
};
} // namespace detail

// The end of a task and what it returns. Move-only; one thread at a time. A
// future that goes unasked leaves the task as it is, and its error to the
// scope's wait() or the log.
template <class R> class future
{
	detail::home *of_ = nullptr;
	detail::result<R> *r_ = nullptr;
	struct lkdf_event done_ = {};
	detail::life life_;
	int rc_ = 0;
	bool has_ended_ = false;

	template <class> friend class future;
	friend struct detail::future_end;
	template <class Q, class J>
	friend future<Q> detail::start_kind(detail::home *, const with &,
					    std::unique_ptr<J>,
					    struct lkdf_task);

	future(detail::home *of, detail::result<R> *r, struct lkdf_event done)
	    : of_(of), r_(r), done_(done), life_(of)
	{
	}
	void must_be_valid() const
	{
		if (!r_)
			throw std::logic_error("future: get() has been called, "
					       "or no task is behind it");
	}
	// Its task has ended with the runtime, and nobody knows how.
	void must_live() const
	{
		if (!life_.goes_on())
			throw error(-ECANCELED,
				    "future: its runtime has closed");
	}
	void let_go()
	{
		if (!r_)
			return;
		bool is_alive = life_.goes_on();

		if (!has_ended_ && is_alive)
			lkdf_event_put(done_);
		r_->put(is_alive);
		r_ = nullptr;
	}
	// True: it has fired.
	bool look()
	{
		struct lkdf_error e = {};

		must_live();
		e.size = sizeof(e);
		if (lkdf_event_error(done_, &e))
			return false;
		rc_ = e.err;
		has_ended_ = true;
		lkdf_event_put(done_);
		return true;
	}
	// c: of the body; nullptr: of another runtime.
	void wait_in(struct lkdf_ctx *c)
	{
		// Errors of other children are not this future's to take.
		int rc = c ? lkdf_join_keep(c) : 0;

		if (look())
			return;
		if (rc == -EOVERFLOW)
			throw error(rc);
		throw error(-EDEADLK,
			    c ? "future: a body waits for a task that is no "
				"child of it"
			      : "future: a body waits for a task of another "
				"runtime");
	}

      public:
	future() = default;
	future(future &&o) noexcept
	    : of_(o.of_), r_(std::exchange(o.r_, nullptr)), done_(o.done_),
	      life_(o.life_), rc_(o.rc_), has_ended_(o.has_ended_)
	{
	}
	future &operator=(future &&o) noexcept
	{
		if (this == &o)
			return *this;
		let_go();
		of_ = o.of_;
		r_ = std::exchange(o.r_, nullptr);
		done_ = o.done_;
		life_ = o.life_;
		rc_ = o.rc_;
		has_ended_ = o.has_ended_;
		return *this;
	}
	~future()
	{
		let_go();
	}
	[[nodiscard]] bool valid() const
	{
		return r_;
	}
	// Whether the task has ended; does not wait.
	[[nodiscard]] bool is_ready()
	{
		must_be_valid();
		return has_ended_ || look();
	}
	// Until the task has ended. In a body, and in the function of a loop,
	// the thread runs children of that body meanwhile, and waits for
	// nothing else: throws with EDEADLK where the task is not one of them.
	void wait()
	{
		struct lkdf *rt;

		must_be_valid();
		if (has_ended_)
			return;
		must_live();
		if (struct lkdf_ctx *c = lkdf_current(&rt)) {
			if (!look())
				wait_in(rt == of_->rt ? c : nullptr);
			return;
		}
		int rc = lkdf_event_wait(done_, -1);

		// Refused, or the task's own error.
		if (rc == -EDEADLK && !detail::may_wait()) {
			if (!look())
				throw error(rc, "future: this thread is in a "
						"callback, or in a loop that a "
						"body of another runtime has "
						"begun, and waits for nothing");
			return;
		}
		rc_ = rc;
		has_ended_ = true;
	}
	// Waits, and gives what the task has returned; throws what it has
	// thrown, or its error. Once: the future is empty afterwards.
	R get()
	{
		wait();
		future me = std::move(*this);

		if (me.rc_) {
			if (std::exception_ptr e =
				    me.r_->cause(me.life_.goes_on()))
				std::rethrow_exception(e);
			throw error(me.rc_);
		}
		if constexpr (!std::is_void_v<R>)
			return std::move(*me.r_->value);
	}
	// A task that begins when this one has ended: f is called with what it
	// returned, and this future is empty. Where this one fails, f is never
	// called, and the error comes out of the new future; after wait() out
	// of this call.
	template <class F> auto then(F f, const with &w = with("then"))
	{
		must_be_valid();
		must_live();
		if (has_ended_ && rc_)
			get();
		auto call = [r = r_,
			     f = std::move(f)](struct lkdf_ctx *) mutable {
			(void)r;
			if constexpr (std::is_void_v<R>)
				return f();
			else
				return f(std::move(*r->value));
		};
		using Q = decltype(call(nullptr));
		auto j = std::make_unique<detail::job<Q, decltype(call)>>(
			of_, std::move(call));

		j->before = r_;
		j->before_done = has_ended_ ? lkdf_event{} : done_;
		r_ = nullptr;
		return detail::start<Q>(of_, w, std::move(j), nullptr, 0,
					has_ended_ ? nullptr : &done_);
	}
	// For calls of the C interface; borrowed, and gone after wait().
	struct lkdf_event event() const
	{
		return done_;
	}
};

namespace detail
{
struct future_end {
	template <class R> static struct lkdf_event event(const future<R> &f)
	{
		return f.done_;
	}
	// lkdf_then() has taken the reference over.
	template <class R> static void left(future<R> &f)
	{
		f.has_ended_ = true;
	}
	// What the end was.
	template <class R> static void told(future<R> &f, int rc)
	{
		f.rc_ = rc;
	}
};

template <class R, class J>
future<R> start_kind(home *of, const with &w, std::unique_ptr<J> j,
		     struct lkdf_task t)
{
	struct lkdf_ctx *c = w.of_scope() ? nullptr : context_in(of->rt);
	struct lkdf_event done;

	// The task and the future have one each.
	j->hold();
	must(c ? lkdf_spawn_task(c, &t, &done)
	       : lkdf_submit(of->rt, w.of_scope(), &t, &done));
	return future<R>(of, j.release(), done);
}

// With the first task of the sort.
template <class J>
__attribute__((noinline)) struct lkdf_kind *make_kind(home *of, const with &w)
{
	struct lkdf_kind_attr a = {};

	a.size = sizeof(a);
	a.name = w.name();
	a.flags = w.flags();
	a.fn = J::run;
	a.drop = J::drop;
	return of->kinds.get(&key_of<J>, of->rt, a, w.of_limit());
}

template <class R, class J>
future<R> start(home *of, const with &w, std::unique_ptr<J> j,
		const struct lkdf_use *use, unsigned nr_use,
		const struct lkdf_event *after)
{
	struct lkdf_task t = w.task();

	t.kind = of->kinds.find(&key_of<J>, w.flags(), w.of_limit());
	if (!t.kind)
		t.kind = make_kind<J>(of, w);
	t.arg = j.get();
	t.use = use;
	t.nr_use = nr_use;
	t.after = after;
	t.nr_after = after ? 1 : 0;
	return start_kind<R>(of, w, std::move(j), t);
}

template <class F, class... A>
auto async(home *of, const with &w, F &&f, A &&...a)
{
	using B = bound<std::decay_t<F>, std::decay_t<A>...>;
	using R = std::decay_t<decltype(std::declval<B &>()(nullptr))>;

	return start<R>(of, w,
			std::make_unique<job<R, B>>(
				of, B{ { std::forward<F>(f),
					 std::forward<A>(a)... } }));
}
} // namespace detail

} // namespace lk

#endif
