// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
//
// streaming_node: a node of a flow graph that gives a kernel and its data to a
// device and sends its results on without waiting for them. The Factory knows
// the device, how data get there and how a kernel starts; here are
// the node, its messages and its ports, on lkdf.hpp. device_factory.hpp has a
// Factory for the devices of lkdf.
//
// A Factory F has
//
//   template <typename T> using async_msg_type: derived from async_msg<T>, made
//   from a T; device_type, kernel_type; range_type, which may be missing
//   void send_data(device, args &...): constants of set_args()
//   void send_kernel(device, kernel, [range,] args &...)
//   void finalize(device, fn, args &...): fn() once the kernel has ended
//   void begin_data(device, const arg &), which may be missing: an argument has
//   come, others of its wave have not; it may go to the device now
//
// The node calls the selector outside its lock, one call at a time, so a
// selector may wait for a device. wait_for_all() of the graph throws the first
// error of selectors, factories, receivers and messages. The wave goes on as
// messages that have failed, and the next wave runs.
//
// Arguments are async_msg_type, which is copied: const where set_args() gave
// the value, not const where it comes from a port.
//
#ifndef STREAMING_NODE_HPP
#define STREAMING_NODE_HPP

#include "streaming_arguments.hpp"
#include "streaming_join.hpp"
#include "streaming_messages.hpp"

namespace lk::flow
{

template <typename... Args> class streaming_node;

template <typename... Ports, typename JP, typename Factory>
class streaming_node<std::tuple<Ports...>, JP, Factory>
{
	static constexpr size_t nr_ports = sizeof...(Ports);
	static constexpr auto ports = std::index_sequence_for<Ports...>{};
	using self = streaming_node;
	using wave = detail::wave_of<Factory, Ports...>;
	using arguments = detail::arguments<Factory, wave>;
	using range = typename detail::range_of<Factory>::type;
	template <class T>
	using message = typename Factory::template async_msg_type<T>;

      public:
	using device_type = typename Factory::device_type;
	using kernel_type = typename Factory::kernel_type;

      private:
	template <int N>
	using port_type = std::tuple_element_t<N, std::tuple<Ports...>>;

	// A port takes values and messages of the factory.
	template <int N>
	class input final : public receiver<port_type<N>>,
			    public receiver<message<port_type<N>>>
	{
		self &node_;

	      public:
		explicit input(self &node) : node_(node)
		{
		}
		bool try_put(const port_type<N> &v) override
		{
			return node_.template put<N>(message<port_type<N>>(v));
		}
		bool try_put(const message<port_type<N>> &m) override
		{
			return node_.template put<N>(m);
		}
	};
	template <class I> struct inputs_of;
	template <size_t... N> struct inputs_of<std::index_sequence<N...>> {
		using type = std::tuple<std::unique_ptr<input<N>>...>;

		static type make(self &node)
		{
			return { std::make_unique<input<N>>(node)... };
		}
	};
	using inputs = inputs_of<std::index_sequence_for<Ports...>>;

	// A wave. The selector chooses the device at the first input; where
	// it throws, at the next one, and at last when the wave is run.
	struct job {
		std::optional<device_type> device;
		bool is_choosing = false;
		size_t nr_in = 0;
		std::tuple<std::optional<message<Ports>>...> in;

		bool is_complete() const
		{
			return nr_in == nr_ports && !is_choosing;
		}
	};

	graph &g_;
	kernel_type kernel_;
	std::function<device_type(Factory &)> selector_;
	Factory &factory_;
	std::mutex selecting_; // one call of the selector at a time

	// Under lock_.
	std::mutex lock_;
	std::shared_ptr<arguments> args_;
	std::optional<range> range_;
	// For a wave whose range comes from a port: false, or fn is called
	// when the range is there or has failed.
	std::function<bool(job &, std::function<void()> fn)> range_waits_;
	std::function<range(job &)> range_from_;
	int range_port_ = -1;
	detail::joiner<JP, job> joiner_;
	std::deque<job> ready_;
	std::vector<device_type> knows_; // devices that have the constants
	bool is_running_ = false;

	typename inputs::type in_ = inputs::make(*this);
	std::tuple<sender<message<Ports>>...> out_;

	template <int N> bool put(message<port_type<N>> m)
	{
		std::unique_lock<std::mutex> guard(lock_);
		job &j = joiner_.template find<N>(m);
		std::optional<device_type> device = j.device;
		bool chooses = !device && !j.is_choosing;
		bool is_argument = args_->uses(N);

		std::get<N>(j.in) = m;
		j.nr_in++;
		j.is_choosing |= chooses;
		if (chooses) {
			// The wave stays where it is: it is not complete.
			guard.unlock();
			device = choose_device();
			guard.lock();
			j.device = device;
			j.is_choosing = false;
		}
		bool waits = !j.is_complete();
		joiner_.take(m, ready_);
		start_waves(guard);
		if (waits && is_argument && device)
			begin_data(*device, m);
		return true;
	}
	// Nothing, where the selector throws: the graph is told.
	std::optional<device_type> choose_device()
	{
		std::lock_guard<std::mutex> guard(selecting_);

		try {
			return selector_(factory_);
		} catch (...) {
			g_.fail(std::current_exception());
			return {};
		}
	}
	// Gives the lock back.
	void start_waves(std::unique_lock<std::mutex> &guard)
	{
		bool starts = !ready_.empty() && !is_running_;

		is_running_ |= starts;
		guard.unlock();
		if (starts)
			start_task();
	}
	void start_task()
	{
		try {
			g_.start([this](struct lkdf_ctx *) { run_all(); });
		} catch (...) {
			std::lock_guard<std::mutex> guard(lock_);

			is_running_ = false;
			g_.fail(std::current_exception());
		}
	}
	// Others of its wave are to come.
	template <class M> void begin_data(const device_type &d, const M &m)
	{
		if constexpr (detail::has_begin_data<Factory, M>::value)
			factory_.begin_data(d, m);
	}

	// Called by one thread at a time: the order of waves is that of
	// kernels. A wave that fails does not keep others from running.
	void run_all()
	{
		std::unique_lock<std::mutex> guard(lock_);

		while (!ready_.empty() && has_range()) {
			if (range_waits_ && waits_for_range(ready_.front()))
				return;
			job now = std::move(ready_.front());
			auto args = args_;
			auto from = range_from_;
			auto r = range_;

			ready_.pop_front();
			guard.unlock();
			try {
				if (from)
					r = from(now);
				run(now, args, r);
			} catch (...) {
				fail_wave(now, *args, std::current_exception());
			}
			guard.lock();
		}
		is_running_ = false;
	}
	// Without a range the waves stay until set_range() is called.
	bool has_range()
	{
		if constexpr (detail::range_of<Factory>::is_there) {
			if (range_ || range_from_)
				return true;
			g_.fail(std::make_exception_ptr(std::logic_error(
				"streaming_node: set_range() first")));
			return false;
		}
		return true;
	}
	bool waits_for_range(job &j)
	{
		auto again = [this, hold = g_.reserve()] { start_task(); };

		return range_waits_(j, again);
	}
	// The constants are there once send_data() has returned.
	void send_constants(const std::shared_ptr<arguments> &args,
			    const device_type &d)
	{
		std::unique_lock<std::mutex> guard(lock_);

		for (const device_type &known : knows_)
			if (known == d)
				return;
		guard.unlock();
		args->send_data(factory_, d);
		guard.lock();
		if (args_ == args)
			knows_.push_back(d);
	}
	// Throws the error of an argument that has failed.
	template <size_t... N>
	static void check_inputs(const job &j, const arguments &args,
				 std::index_sequence<N...>)
	{
		auto check = [](bool is_argument, const auto &m) {
			std::exception_ptr e =
				is_argument ? m.error() : nullptr;

			if (e)
				std::rethrow_exception(e);
		};

		(check(args.uses(static_cast<int>(N)), *std::get<N>(j.in)),
		 ...);
	}
	void run(job &j, const std::shared_ptr<arguments> &args,
		 const std::optional<range> &r)
	{
		check_inputs(j, *args, ports);
		if (!j.device)
			j.device = choose_at_last();
		send_constants(args, *j.device);
		send_wave(j, *args, r, ports);
	}
	device_type choose_at_last()
	{
		std::lock_guard<std::mutex> guard(selecting_);

		return selector_(factory_);
	}
	template <size_t... N>
	void send_wave(job &j, arguments &args, const std::optional<range> &r,
		       std::index_sequence<N...>)
	{
		auto w = std::make_shared<wave>(*std::get<N>(j.in)...);
		bool is_taken = false;

		args.send_kernel(factory_, *j.device, kernel_,
				 r ? &*r : nullptr, *w);
		((is_taken |= send_out<N>(std::get<N>(*w))), ...);
		if (is_taken)
			return;
		try {
			args.finalize(
				factory_, *j.device,
				[w, hold = g_.reserve()] {}, *w);
		} catch (...) {
			g_.fail(std::current_exception());
		}
	}
	// An error of a receiver is the graph's, and not of the wave.
	template <size_t N, class M> bool send_out(const M &m)
	{
		try {
			return std::get<N>(out_).send(m);
		} catch (...) {
			g_.fail(std::current_exception());
			return false;
		}
	}
	// The wave goes on as messages that have failed, so that those behind
	// meet their partners. Inputs that are no arguments go on as they are.
	void fail_wave(const job &j, const arguments &args,
		       std::exception_ptr e)
	{
		g_.fail(e);
		fail_outputs(j, args, e, ports);
	}
	template <size_t... N>
	void fail_outputs(const job &j, const arguments &args,
			  std::exception_ptr e, std::index_sequence<N...>)
	{
		auto failed = [&](bool is_argument, auto m) {
			if (is_argument) {
				m.renew();
				m.fail(e);
			}
			return m;
		};

		(send_out<N>(failed(args.uses(static_cast<int>(N)),
				    *std::get<N>(j.in))),
		 ...);
	}

	template <class... A> void set_all(A &&...a)
	{
		auto args = std::make_shared<detail::arguments_of<
			Factory, wave, std::decay_t<A>...>>(
			std::forward<A>(a)...);
		std::lock_guard<std::mutex> guard(lock_);

		args_ = std::move(args);
		knows_.clear();
	}
	template <int N> void set_range_port()
	{
		std::unique_lock<std::mutex> guard(lock_);

		range_port_ = N;
		range_waits_ = [](job &j, std::function<void()> fn) {
			auto failed = [fn](std::exception_ptr) { fn(); };

			return std::get<N>(j.in)->subscribe(fn, failed);
		};
		range_from_ = [](job &j) {
			return range(std::get<N>(j.in)->get());
		};
		start_waves(guard);
	}
	void set_constant(range r)
	{
		std::unique_lock<std::mutex> guard(lock_);

		range_port_ = -1;
		range_waits_ = nullptr;
		range_from_ = nullptr;
		range_ = std::move(r);
		start_waves(guard);
	}

      public:
	// All ports are arguments until set_args() says otherwise.
	template <typename DeviceSelector>
	streaming_node(graph &g, const kernel_type &kernel, DeviceSelector d,
		       Factory &f)
	    : g_(g), kernel_(kernel), selector_(d), factory_(f)
	{
		set_args(port_ref<0, static_cast<int>(nr_ports) - 1>());
	}
	// Without edges and waves.
	streaming_node(const streaming_node &node)
	    : g_(node.g_), kernel_(node.kernel_), selector_(node.selector_),
	      factory_(node.factory_), args_(node.args_), range_(node.range_),
	      range_waits_(node.range_waits_), range_from_(node.range_from_),
	      range_port_(node.range_port_)
	{
	}
	streaming_node(streaming_node &&node)
	    : streaming_node(static_cast<const streaming_node &>(node))
	{
	}
	// After wait_for_all(). Waves that have no range, or not all inputs,
	// are dropped.
	~streaming_node() = default;

	template <typename... Args> void set_args(Args &&...args)
	{
		set_all(std::forward<Args>(args)...);
	}
	template <class F = Factory>
	void set_range(const typename F::range_type &work_size)
	{
		set_constant(work_size);
	}
	template <class F = Factory>
	void set_range(typename F::range_type &&work_size)
	{
		set_constant(std::move(work_size));
	}
	template <int N, class F = Factory, class = typename F::range_type>
	void set_range(port_ref_impl<N, N>)
	{
		set_range_port<N>();
	}
	template <int N, class F = Factory, class = typename F::range_type>
	void set_range(port_ref_impl<N, N> (*)())
	{
		set_range_port<N>();
	}

	// Does the kernel see what comes to this port, as argument or range?
	bool uses_port(int port)
	{
		std::lock_guard<std::mutex> guard(lock_);

		return args_->uses(port) || port == range_port_;
	}
	template <int N> auto &get_input()
	{
		return *std::get<N>(in_);
	}
	template <int N> auto &get_output()
	{
		return std::get<N>(out_);
	}
};

template <int N, class Node> auto &input_port(Node &node)
{
	return node.template get_input<N>();
}
template <int N, class Node> auto &output_port(Node &node)
{
	return node.template get_output<N>();
}

} // namespace lk::flow

#endif
