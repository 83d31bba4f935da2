// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
//
// The flow graph around a streaming_node: messages that may come later than
// they are sent, senders and receivers, nodes that call a function, and the
// policies by which the inputs of a node are joined.
//
#ifndef STREAMING_MESSAGES_HPP
#define STREAMING_MESSAGES_HPP

#include <lkdf/lkdf.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
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
			std::lock_guard<std::mutex> guard(lock_);

			if (!error_)
				error_ = std::current_exception();
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
		if (failed && !error_)
			error_ = failed;
		if (error_)
			std::rethrow_exception(std::exchange(error_, nullptr));
	}
};

// ---- messages

// A value that may be set later than the message is sent: copies of a message
// are one message.
template <class T> class async_msg
{
	struct state {
		std::mutex lock;
		std::optional<T> value;
		bool has_failed = false;
		std::vector<std::function<void()>> waiting;
	};
	std::shared_ptr<state> state_ = std::make_shared<state>();

      public:
	using value_type = T;

	// Once; a second value is refused.
	void set(T value) const
	{
		std::vector<std::function<void()>> all;

		{
			std::lock_guard<std::mutex> guard(state_->lock);

			if (state_->value || state_->has_failed)
				throw std::logic_error("async_msg: set twice");
			state_->value = std::move(value);
			all.swap(state_->waiting);
		}
		for (auto &fn : all)
			fn();
	}
	// It will never be set: those who wait for it are forgotten.
	void fail() const
	{
		std::vector<std::function<void()>> all;
		std::lock_guard<std::mutex> guard(state_->lock);

		state_->has_failed = true;
		all.swap(state_->waiting);
	}
	bool is_set() const
	{
		std::lock_guard<std::mutex> guard(state_->lock);

		return state_->value.has_value();
	}
	// Of one that is set.
	const T &get() const
	{
		return state_->value.value();
	}
	// fn is called when it is set; false: it is already, and fn is not.
	bool subscribe(std::function<void()> fn) const
	{
		std::lock_guard<std::mutex> guard(state_->lock);

		if (state_->value)
			return false;
		if (!state_->has_failed)
			state_->waiting.push_back(std::move(fn));
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
	// To all; false: nobody has taken it.
	bool send(const T &v) const
	{
		bool is_taken = false;

		for (const auto &to : to_)
			is_taken |= to(v);
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

// A function gets the value of a message once it is set.
template <class M, class Out>
std::enable_if_t<detail::is_async<M>::value>
make_edge(sender<M> &from, function_node<typename M::value_type, Out> &to)
{
	from.connect([&to](const M &m) {
		auto put = [&to, m, hold = to.get_graph().reserve()] {
			to.try_put(m.get());
		};

		if (!m.subscribe(put))
			put();
		return true;
	});
}

// ---- how inputs are joined

// The n'th input of each port is one wave.
struct queueing {
};

// Inputs of one key are one wave: key_from_message() of each.
template <class K, class Hash = std::hash<K>> struct key_matching {
};

template <class K, class M>
auto key_from_message(const M &m) -> decltype(K(m.key()))
{
	return m.key();
}

namespace detail
{
// find() is the wave of an input, take() takes one that is complete.
template <class JP, class Job> class joiner;

template <class Job> class joiner<queueing, Job>
{
	std::deque<Job> waves_; // the first of them is number first_
	uint64_t first_ = 0;
	std::map<int, uint64_t> nr_; // inputs of each port
	std::deque<size_t> has_; // of each wave

      public:
	template <int N, class M, class Make> Job &find(const M &, Make make)
	{
		uint64_t at = nr_[N]++ - first_;

		if (at == waves_.size()) {
			waves_.push_back(make());
			has_.push_back(0);
		}
		has_[at]++;
		return waves_[at];
	}
	template <int N>
	void take(Job &, size_t nr_ports, std::deque<Job> &ready)
	{
		while (!has_.empty() && has_.front() == nr_ports) {
			ready.push_back(std::move(waves_.front()));
			waves_.pop_front();
			has_.pop_front();
			first_++;
		}
	}
	bool is_empty() const
	{
		return waves_.empty();
	}
};

template <class K, class Hash, class Job>
class joiner<key_matching<K, Hash>, Job>
{
	// Inputs of one key may come again before the first wave is complete.
	using waves = std::unordered_map<K, joiner<queueing, Job>, Hash>;
	waves waves_;
	typename waves::iterator at_; // of the last find()

      public:
	template <int N, class M, class Make> Job &find(const M &m, Make make)
	{
		at_ = waves_.try_emplace(key_from_message<K>(m)).first;
		return at_->second.template find<N>(m, make);
	}
	template <int N>
	void take(Job &j, size_t nr_ports, std::deque<Job> &ready)
	{
		at_->second.template take<N>(j, nr_ports, ready);
		if (at_->second.is_empty())
			waves_.erase(at_);
	}
};
} // namespace detail

} // namespace lk::flow

#endif
