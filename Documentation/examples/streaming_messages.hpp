// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
//
// The flow graph around a streaming_node: messages that may come later than
// they are sent, senders and receivers, and nodes that call a function.
//
#ifndef STREAMING_MESSAGES_HPP
#define STREAMING_MESSAGES_HPP

#include <lkdf/lkdf.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace lk::flow
{

// ---- the graph

// Runs functions as tasks of a runtime, and knows when all is done.
class graph
{
	runtime &rt_;
	struct put {
		void operator()(struct lkdf_kind *k) const
		{
			lkdf_kind_put(k);
		}
	};
	std::unique_ptr<struct lkdf_kind, put> kind_;
	std::mutex lock_;
	std::condition_variable changed_;
	uint64_t nr_waits_ = 0;
	std::exception_ptr error_;

	using function = std::function<void(struct lkdf_ctx *)>;
	struct job {
		graph *g;
		function *fn;
	};
	static int execute(struct lkdf_ctx *c, void *arg)
	{
		auto *j = static_cast<job *>(arg);

		j->g->call(c, *j->fn);
		return 0;
	}
	static void drop(void *arg)
	{
		auto *j = static_cast<job *>(arg);

		delete j->fn;
		j->g->release_wait();
	}
	void call(struct lkdf_ctx *c, const function &fn)
	{
		try {
			fn(c);
		} catch (...) {
			fail(std::current_exception());
		}
	}

      public:
	explicit graph(runtime &rt) : rt_(rt)
	{
		struct lkdf_kind_attr a = {};
		struct lkdf_kind *k;

		a.size = sizeof(a);
		a.name = "node";
		a.flags = LKDF_SHARED;
		a.fn = execute;
		a.arg_size = sizeof(job);
		a.drop = drop;
		must(lkdf_kind_create(rt.get(), &a, &k));
		kind_.reset(k);
	}
	runtime &get_runtime()
	{
		return rt_;
	}
	// fn as a task, with uses of data; any thread.
	void start(function fn, const std::vector<struct lkdf_use> &uses = {})
	{
		auto copy = std::make_unique<function>(std::move(fn));
		job j = { this, copy.get() };
		struct lkdf_task t = {};

		t.size = sizeof(t);
		t.kind = kind_.get();
		t.arg = &j;
		t.use = uses.data();
		t.nr_use = static_cast<uint32_t>(uses.size());
		reserve_wait();
		int rc = lkdf_submit(rt_.get(), nullptr, &t, nullptr);
		if (rc < 0)
			release_wait();
		must(rc);
		copy.release();
	}
	// wait_for_all() throws the first error that the graph was told.
	void fail(std::exception_ptr error)
	{
		std::lock_guard<std::mutex> guard(lock_);

		if (!error_)
			error_ = std::move(error);
	}
	// wait_for_all() waits for as many of the one as there were of the
	// other.
	void reserve_wait()
	{
		std::lock_guard<std::mutex> guard(lock_);

		nr_waits_++;
	}
	void release_wait()
	{
		std::lock_guard<std::mutex> guard(lock_);

		if (!--nr_waits_)
			changed_.notify_all();
	}
	// Runs it for as long as somebody holds the result.
	std::shared_ptr<void> reserve()
	{
		reserve_wait();
		return { this, [](void *g) {
				static_cast<graph *>(g)->release_wait();
			} };
	}
	// Nothing runs any more, on devices neither; throws the first error.
	void wait_for_all()
	{
		std::unique_lock<std::mutex> guard(lock_);
		std::exception_ptr failed;

		// The rest may start tasks, which run in a wait if nobody
		// else runs any.
		do {
			guard.unlock();
			try {
				rt_.wait();
			} catch (...) {
				failed = std::current_exception();
			}
			guard.lock();
		} while (!changed_.wait_for(guard, std::chrono::milliseconds(1),
					    [this] { return !nr_waits_; }));
		// A task says more than the messages that failed with it.
		if (failed)
			error_ = failed;
		if (error_)
			std::rethrow_exception(std::exchange(error_, nullptr));
	}
};

// ---- messages

namespace detail
{
// Calls fn with each, then throws the first error of these calls.
template <class All, class Fn> void for_each(All &all, Fn fn)
{
	std::exception_ptr first;

	for (auto &one : all) {
		try {
			fn(one);
		} catch (...) {
			if (!first)
				first = std::current_exception();
		}
	}
	if (first)
		std::rethrow_exception(first);
}
} // namespace detail

// A value that may be set later than the message is sent: copies of a message
// are one message.
template <class T> class async_msg
{
	struct waiter {
		std::function<void()> set;
		std::function<void(std::exception_ptr)> failed;
	};
	struct state {
		std::mutex lock;
		std::optional<T> value;
		std::exception_ptr error;
		std::vector<waiter> waiting;

		bool is_over() const
		{
			return value || error;
		}
	};
	std::shared_ptr<state> state_ = std::make_shared<state>();

      public:
	using value_type = T;

	// Once; a second value is refused.
	void set(T value) const
	{
		std::vector<waiter> all;

		{
			std::lock_guard<std::mutex> guard(state_->lock);

			if (state_->is_over())
				throw std::logic_error("async_msg: set twice");
			state_->value = std::move(value);
			all.swap(state_->waiting);
		}
		detail::for_each(all, [](waiter &w) { w.set(); });
	}
	// The message will never be set; a second error, or one after the
	// value, is not kept.
	void fail(std::exception_ptr error = std::make_exception_ptr(
			  std::runtime_error("async_msg: failed"))) const
	{
		std::vector<waiter> all;

		{
			std::lock_guard<std::mutex> guard(state_->lock);

			if (state_->is_over())
				return;
			state_->error = error;
			all.swap(state_->waiting);
		}
		detail::for_each(all, [&](waiter &w) {
			if (w.failed)
				w.failed(error);
		});
	}
	bool is_set() const
	{
		std::lock_guard<std::mutex> guard(state_->lock);

		return state_->value.has_value();
	}
	// What fail() was given; NULL: the message has not failed.
	std::exception_ptr error() const
	{
		std::lock_guard<std::mutex> guard(state_->lock);

		return state_->error;
	}
	// The value of a message that is set; a failed message throws its
	// error.
	const T &get() const
	{
		if (auto e = error())
			std::rethrow_exception(e);
		return state_->value.value();
	}
	// The message calls fn when it is set, and forgets fn if it fails.
	// False: the message is set already, and does not call fn.
	bool subscribe(std::function<void()> fn) const
	{
		std::lock_guard<std::mutex> guard(state_->lock);

		if (state_->value)
			return false;
		if (!state_->error)
			state_->waiting.push_back({ std::move(fn), nullptr });
		return true;
	}
	// The message calls fn when it is set, or failed when it fails. False:
	// either has happened, and the message calls neither.
	bool subscribe(std::function<void()> fn,
		       std::function<void(std::exception_ptr)> failed) const
	{
		std::lock_guard<std::mutex> guard(state_->lock);

		if (state_->is_over())
			return false;
		state_->waiting.push_back({ std::move(fn), std::move(failed) });
		return true;
	}
	// The next one of a node that changes the value: not set yet.
	void renew()
	{
		state_ = std::make_shared<state>();
	}
};

namespace detail
{
template <class M, class = void> struct is_async : std::false_type {
};
template <class M>
struct is_async<M, std::void_t<typename M::value_type>>
    : std::is_base_of<async_msg<typename M::value_type>, M> {
};
} // namespace detail

// ---- edges

template <class T> class receiver
{
      public:
	virtual ~receiver() = default;
	// False: it does not want it.
	virtual bool try_put(const T &v) = 0;
};

template <class T> class sender;
template <> class sender<void>
{
};
template <class T> class sender
{
	std::vector<std::function<bool(const T &)>> to_;

      public:
	void connect(std::function<bool(const T &)> to)
	{
		to_.push_back(std::move(to));
	}
	// Sends it to all receivers, then throws the first error of theirs.
	// False: no receiver has taken it.
	bool send(const T &v) const
	{
		bool is_taken = false;

		detail::for_each(to_,
				 [&](const auto &to) { is_taken |= to(v); });
		return is_taken;
	}
};

template <class T>
void make_edge(sender<T> &from, std::enable_if_t<true, receiver<T>> &to)
{
	from.connect([&to](const T &v) { return to.try_put(v); });
}

// ---- a node that calls a function

namespace detail
{
// A value that stands for data is used as such while the function runs.
template <class T, class = void> struct data_of {
	static std::vector<struct lkdf_use> uses(const T &)
	{
		return {};
	}
	static T mapped(const T &v, struct lkdf_ctx *)
	{
		return v;
	}
};
template <class T>
struct data_of<T, std::void_t<decltype(std::declval<const T &>().use())>> {
	static std::vector<struct lkdf_use> uses(const T &v)
	{
		return { v.use() };
	}
	static T mapped(const T &v, struct lkdf_ctx *c)
	{
		return v.mapped(lkdf_ptr(c, 0));
	}
};
} // namespace detail

template <class In, class Out = void>
class function_node : public receiver<In>, public sender<Out>
{
	graph &g_;
	std::function<Out(const In &)> fn_;

      public:
	function_node(graph &g, std::function<Out(const In &)> fn)
	    : g_(g), fn_(std::move(fn))
	{
	}
	bool try_put(const In &v) override
	{
		using data = detail::data_of<In>;

		g_.start(
			[this, v](struct lkdf_ctx *c) {
				In in = data::mapped(v, c);

				if constexpr (std::is_void_v<Out>)
					fn_(in);
				else
					this->send(fn_(in));
			},
			data::uses(v));
		return true;
	}
	graph &get_graph()
	{
		return g_;
	}
};

// A function gets the value of a message once it is set. The graph of the
// function is told the error of one that fails.
template <class M, class Out>
std::enable_if_t<detail::is_async<M>::value>
make_edge(sender<M> &from, function_node<typename M::value_type, Out> &to)
{
	from.connect([&to](const M &m) {
		graph &g = to.get_graph();
		auto put = [&to, m, hold = g.reserve()] {
			to.try_put(m.get());
		};
		auto failed = [&g, hold = g.reserve()](std::exception_ptr e) {
			g.fail(std::move(e));
		};

		if (m.subscribe(put, failed))
			return true;
		if (auto e = m.error())
			g.fail(e);
		else
			put();
		return true;
	});
}

} // namespace lk::flow

#endif
