// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
//
// The engine whose nodes run any number of times: they are made and connected
// first, sealed once, and then no run allocates memory. A value lies in the
// slot of its sender until that sends the next one. Cycles are said: a value
// for the next round of a loop, or for the next call of a node.
//
#ifndef MULTIPLE_USES_HPP
#define MULTIPLE_USES_HPP

#include "ports.hpp"

namespace ports::multiple_uses
{

// Reads the last value that the sender has written, any number of times.
template <class T> class Receiver
{
	const struct lkdf_ctx *c_;
	unsigned port_;

      public:
	Receiver(const struct lkdf_ctx *c, unsigned port) : c_(c), port_(port)
	{
	}
	const T &receive() const
	{
		return *static_cast<const T *>(lkdf_in(c_, port_));
	}
};

// What is written last counts; a sender that is not used activates nobody.
template <class T> class Sender
{
	const struct lkdf_ctx *c_;
	unsigned port_;
	uint32_t &sent_;

      public:
	Sender(const struct lkdf_ctx *c, unsigned port, uint32_t &sent)
	    : c_(c), port_(port), sent_(sent)
	{
	}
	void send(Scheduler &, const T &value)
	{
		*static_cast<T *>(lkdf_out(c_, port_)) = value;
		sent_ |= 1u << port_;
	}
};

// A node of the graph: its ports have types, its task is hidden.
template <class In, class Out> struct TaskNode {
	lk::task<In, Out, true> task;
	std::shared_ptr<uint32_t> connected; // out ports that lead somewhere
};

template <class... T> using Ports = std::tuple<T...>;

// An activator is the graph's counter of the inputs that a node still waits
// for. It counts verdicts: an input that nobody sends to in a run is told, too,
// and then the node does not start.
class Engine final : public Workers
{
	lk::graph graph_;

	template <class... In, class... Out, class T, size_t... I, size_t... O>
	int execute(struct lkdf_ctx *c, T &task, uint32_t connected,
		    Ports<In...> *, Ports<Out...> *, std::index_sequence<I...>,
		    std::index_sequence<O...>)
	{
		uint32_t sent = 0;

		if (!((lkdf_in(c, I) != nullptr) && ...))
			return LKDF_NO_BRANCH;
		task(*this, std::tuple{ Receiver<In>(c, I)... },
		     std::tuple{ Sender<Out>(c, O, sent)... });
		sent &= connected;
		return sent ? static_cast<int>(LKDF_BRANCHES(sent))
			    : LKDF_NO_BRANCH;
	}

      public:
	// inflight: runs at a time.
	explicit Engine(lk::runtime &rt, uint32_t inflight = 1)
	    : Workers(rt), graph_(rt, inflight)
	{
	}
	// task: a Task or a TaskMut.
	template <class In, class Out, class T>
	TaskNode<In, Out> node(const char *name, T task)
	{
		auto connected = std::make_shared<uint32_t>(0);
		auto body = [this, task = std::move(task),
			     connected](struct lkdf_ctx *c) mutable {
			return execute(c, task, *connected,
				       static_cast<In *>(nullptr),
				       static_cast<Out *>(nullptr),
				       std::make_index_sequence<
					       std::tuple_size_v<In>>{},
				       std::make_index_sequence<
					       std::tuple_size_v<Out>>{});
		};

		return { graph_.add_body<In, Out>(name, std::move(body),
						  T::flags),
			 connected };
	}
	template <unsigned O = 0, unsigned I = 0, class A, class B, class C,
		  class D>
	void connect(const TaskNode<A, B> &from, const TaskNode<C, D> &to)
	{
		*from.connected |= 1u << O;
		graph_.connect_branch(O, lk::out<O>(from.task),
				      lk::in<I>(to.task));
	}
	// The value begins the next round of the loop that to heads.
	template <unsigned O = 0, unsigned I = 0, class A, class B, class C,
		  class D>
	void connect_back(const TaskNode<A, B> &from, const TaskNode<C, D> &to)
	{
		*from.connected |= 1u << O;
		graph_.connect_back(O, lk::out<O>(from.task),
				    lk::in<I>(to.task));
	}
	// The value is there when the node is called the next time.
	template <unsigned O = 0, unsigned I = 0, class A, class B, class T>
	void keep(const TaskNode<A, B> &node, const T &first)
	{
		graph_.next(lk::out<O>(node.task), lk::in<I>(node.task), first);
	}
	// Nothing can be connected any more.
	void seal()
	{
		graph_.seal();
	}
	void run(uint64_t times = 1)
	{
		graph_.run(times);
	}
};

} // namespace ports::multiple_uses

#endif
