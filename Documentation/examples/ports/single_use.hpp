// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
//
// The engine in which each node runs at most once: nodes are made while the
// program runs, by any task, and a port carries one value of any type. A value
// that has been sent cannot be sent again, so there are no cycles.
//
#ifndef SINGLE_USE_HPP
#define SINGLE_USE_HPP

#include "ports.hpp"

#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

namespace ports::single_use
{

// What both ends of a port share.
template <class T> struct Cell {
	std::optional<T> value;
	std::optional<Activator> activator; // of the receiver's node
};

template <class T> class Receiver
{
	std::shared_ptr<Cell<T>> cell_;

      public:
	explicit Receiver(std::shared_ptr<Cell<T>> cell)
	    : cell_(std::move(cell))
	{
	}
	T receive()
	{
		T value = std::move(cell_->value.value());

		cell_->value.reset();
		return value;
	}
	void set_activator(const Activator &a)
	{
		cell_->activator = a;
	}
};

template <class T> class Sender
{
	std::shared_ptr<Cell<T>> cell_;

      public:
	explicit Sender(std::shared_ptr<Cell<T>> cell) : cell_(std::move(cell))
	{
	}
	Sender(Sender &&) = default;
	Sender &operator=(Sender &&) = default;
	// A node that waits for a value which nobody can send is destroyed.
	~Sender()
	{
		if (cell_)
			cell_->activator.reset();
	}
	// Consumes the sender: the node of the receiver may start.
	void send(Scheduler &s, T value)
	{
		auto cell = std::exchange(cell_, nullptr);

		if (!cell || !cell->activator)
			throw std::logic_error("sent twice, or to no node");
		cell->value = std::move(value);
		// The node, once it runs, owns the cell.
		std::exchange(cell->activator, std::nullopt)->activate(s);
	}
};

template <class T> std::pair<Sender<T>, Receiver<T>> port()
{
	auto cell = std::make_shared<Cell<T>>();

	return { Sender<T>(cell), Receiver<T>(cell) };
}

template <class T, class In, class Out> class TaskNode final : public Node
{
	T task_;
	In in_;
	Out out_;

      public:
	TaskNode(T task, In in, Out out)
	    : task_(std::move(task)), in_(std::move(in)), out_(std::move(out))
	{
	}
	void execute(Scheduler &s) override
	{
		std::move(task_)(s, std::move(in_), std::move(out_));
	}
};

// Makes a node of a task that waits for a value at each of its receivers, and
// for more activations besides; without either it is scheduled at once. The
// node of a receiver is made before a task that may send to it runs.
template <class T, class... In, class... Out>
Activator node(Scheduler &s, T task, std::tuple<Receiver<In>...> in,
	       std::tuple<Sender<Out>...> out, size_t more = 0)
{
	std::tuple<Receiver<In>...> receivers = in;
	Activator a(std::make_unique<TaskNode<T, decltype(in), decltype(out)>>(
			    std::move(task), std::move(in), std::move(out)),
		    sizeof...(In) + more + 1);

	std::apply([&a](auto &...r) { (r.set_activator(a), ...); }, receivers);
	a.activate(s); // it is complete
	return a;
}

// A reactive signal: it owns a list of what runs when it is emitted.
class Signal
{
	std::mutex lock_;
	std::vector<Activator> waiting_;

      public:
	void await(Activator a)
	{
		std::lock_guard guard(lock_);

		waiting_.push_back(std::move(a));
	}
	void emit(Scheduler &s)
	{
		std::unique_lock guard(lock_);
		auto all = std::exchange(waiting_, {});

		guard.unlock();
		for (const auto &a : all)
			a.activate(s);
	}
};

// Nodes are made with node() above; wait() runs them until none is left.
using Engine = Workers;

} // namespace ports::single_use

#endif
