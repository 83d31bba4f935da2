// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
//
// The words of a dataflow engine with ports and activators, on lkdf: tasks,
// nodes, activators and the scheduler. single_use.hpp and multiple_uses.hpp
// have an engine, Sender and Receiver each.
//
// A task is called as task(scheduler, in, out): in is a tuple of Receiver, out
// a tuple of Sender. Which members it reads, and which it writes, is the task's
// own business; a StrictTask reads all and writes all.
//
#ifndef PORTS_HPP
#define PORTS_HPP

#include <lkdf/lkdf.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ports
{

class Scheduler;

// A task with its ports: hides their types, so that one list can hold all.
class Node
{
      public:
	virtual ~Node() = default;
	virtual void execute(Scheduler &s) = 0;
};

// All that tasks, ports and activators know of an engine.
class Scheduler
{
      public:
	virtual ~Scheduler() = default;
	// Runs the node once, on any worker, and destroys it. Any thread.
	virtual void schedule(std::unique_ptr<Node> node) = 0;
};

// A shared pointer to a node, with the number of activations that the node
// still waits for. The last one schedules it, wherever it comes from: a port,
// or a list of somebody who waits for a condition.
class Activator
{
	struct state {
		std::atomic<size_t> left;
		std::unique_ptr<Node> node;
	};
	std::shared_ptr<state> state_;

      public:
	Activator(std::unique_ptr<Node> node, size_t nr)
	    : state_(new state{ { nr }, std::move(node) })
	{
	}
	void activate(Scheduler &s) const
	{
		if (state_->left.fetch_sub(1, std::memory_order_acq_rel) == 1)
			s.schedule(std::move(state_->node));
	}
};

// Called once and consumed by that.
template <class F> struct TaskOnce {
	F f;

	template <class In, class Out>
	void operator()(Scheduler &s, In in, Out out) &&
	{
		std::move(f)(s, std::move(in), std::move(out));
	}
};
template <class F> TaskOnce(F) -> TaskOnce<F>;

// Called any number of times, never twice at a time: it may have a state.
template <class F> struct TaskMut {
	static constexpr uint32_t flags = 0;
	F f;

	template <class In, class Out>
	void operator()(Scheduler &s, In in, Out out) &
	{
		f(s, std::move(in), std::move(out));
	}
};
template <class F> TaskMut(F) -> TaskMut<F>;

// Called any number of times, also by several workers at a time.
template <class F> struct Task {
	static constexpr uint32_t flags = LKDF_SHARED;
	F f;

	template <class In, class Out>
	void operator()(Scheduler &s, In in, Out out) const
	{
		f(s, std::move(in), std::move(out));
	}
};
template <class F> Task(F) -> Task<F>;

// A plain function as a task: reads all inputs, sets all outputs. The result is
// the value of the only output, or a tuple with the values of all.
template <class F> struct StrictTask {
	F f;

	template <class In, class Out>
	void operator()(Scheduler &s, In in, Out out) const
	{
		call(f, s, in, out);
	}
	template <class In, class Out>
	void operator()(Scheduler &s, In in, Out out)
	{
		call(f, s, in, out);
	}

      private:
	template <class G, class In, class Out>
	static void call(G &g, Scheduler &s, In &in, Out &out)
	{
		auto receive = [&g](auto &...r) { return g(r.receive()...); };
		using R = decltype(std::apply(receive, in));

		if constexpr (std::is_void_v<R>)
			std::apply(receive, in);
		else if constexpr (std::tuple_size_v<Out> == 1)
			std::get<0>(out).send(s, std::apply(receive, in));
		else
			std::apply(
				[&](auto... value) {
					std::apply(
						[&](auto &...o) {
							(o.send(s,
								std::move(
									value)),
							 ...);
						},
						out);
				},
				std::apply(receive, in));
	}
};
template <class F> StrictTask(F) -> StrictTask<F>;

// The scheduler of both engines: a node is a task of lkdf, so the workers share
// and steal, sleep where there is nothing to do, and no sooner.
class Workers : public Scheduler
{
	struct put {
		void operator()(struct lkdf_kind *k) const
		{
			lkdf_kind_put(k);
		}
	};
	lk::runtime &rt_;
	std::unique_ptr<struct lkdf_kind, put> kind_;

	struct job {
		Workers *workers;
		Node *node;
	};
	static int execute(struct lkdf_ctx *c, void *arg)
	{
		auto *j = static_cast<job *>(arg);

		try {
			j->node->execute(*j->workers);
		} catch (const std::exception &e) {
			return lkdf_fail(c, -ECANCELED, "%s", e.what());
		}
		return 0;
	}
	static void drop(void *arg)
	{
		delete static_cast<struct job *>(arg)->node;
	}

      public:
	explicit Workers(lk::runtime &rt) : rt_(rt)
	{
		struct lkdf_kind_attr a = {};
		struct lkdf_kind *k;

		a.size = sizeof(a);
		a.name = "node";
		a.fn = execute;
		a.arg_size = sizeof(job);
		a.drop = drop; /* also of nodes that a cancel has skipped */
		lk::must(lkdf_kind_create(rt.get(), &a, &k));
		kind_.reset(k);
	}
	void schedule(std::unique_ptr<Node> node) override
	{
		struct job j = { this, node.get() };
		struct lkdf_task t = {};

		t.size = sizeof(t);
		t.kind = kind_.get();
		t.arg = &j;
		lk::must(lkdf_submit(rt_.get(), nullptr, &t, nullptr));
		node.release();
	}
	// Waits until no node can run any more; throws the first error.
	void wait() const
	{
		rt_.wait();
	}
};

} // namespace ports

#endif
