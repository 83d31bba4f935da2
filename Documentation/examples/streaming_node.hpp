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
// Arguments are async_msg_type: const where set_args() gave the value, not
// const where it comes from a port.
//
#ifndef STREAMING_NODE_HPP
#define STREAMING_NODE_HPP

#include "streaming_messages.hpp"

#include <cstdint>

namespace lk::flow
{

// ---- ports as arguments

template <int N1, int N2> struct port_ref_impl {
};
template <int N1, int N2 = N1> port_ref_impl<N1, N2> port_ref()
{
	return {};
}

namespace detail
{
// The ports that an argument of set_args() stands for.
template <class A> struct ports_of {
	static constexpr bool is_ref = false;
};
template <int A, int B> struct ports_of<port_ref_impl<A, B>> {
	static_assert(0 <= A && A <= B, "port_ref<first, last>");
	static constexpr bool is_ref = true;
	static constexpr int first = A, nr = B - A + 1;
};
template <int A, int B>
struct ports_of<port_ref_impl<A, B> (*)()> : ports_of<port_ref_impl<A, B>> {
};

template <class F, class = void> struct range_of {
	static constexpr bool is_there = false;
	struct type {
	};
};
template <class F> struct range_of<F, std::void_t<typename F::range_type>> {
	static constexpr bool is_there = true;
	using type = typename F::range_type;
};

template <class F, class M, class = void>
struct has_begin_data : std::false_type {
};
template <class F, class M>
struct has_begin_data<F, M,
		      std::void_t<decltype(std::declval<F &>().begin_data(
			      std::declval<typename F::device_type>(),
			      std::declval<const M &>()))>> : std::true_type {
};

template <class F, class... P>
using wave_of = std::tuple<typename F::template async_msg_type<P>...>;

// A call of the factory with all arguments of a wave; what set_args() made.
template <class F, class Wave> struct arguments {
	using device = typename F::device_type;
	using kernel = typename F::kernel_type;
	using range = typename range_of<F>::type;

	virtual ~arguments() = default;
	virtual void send_data(F &f, device d) = 0;
	virtual void send_kernel(F &f, device d, const kernel &k,
				 const range *r, Wave &w) = 0;
	virtual void finalize(F &f, device d, std::function<void()> fn,
			      Wave &w) = 0;
	virtual bool uses(int port) const = 0;
};

template <class F, class Wave, class... A>
class arguments_of final : public arguments<F, Wave>
{
	using base = arguments<F, Wave>;

	template <class T>
	using constant = const typename F::template async_msg_type<T>;

	// A constant is a message of its own, a reference is itself.
	template <class T>
	using held = std::conditional_t<ports_of<T>::is_ref, T, constant<T>>;

	std::tuple<held<A>...> args_;

	template <class T, int... N>
	static auto tie_ports(Wave &w, std::integer_sequence<int, N...>)
	{
		return std::tie(std::get<ports_of<T>::first + N>(w)...);
	}
	template <class T> static auto tie(const held<T> &a, Wave &w)
	{
		if constexpr (ports_of<T>::is_ref)
			return tie_ports<T>(w, std::make_integer_sequence<
						       int, ports_of<T>::nr>{});
		else
			return std::tie(a);
	}
	template <class T> static auto tie_constant(const held<T> &a)
	{
		if constexpr (ports_of<T>::is_ref)
			return std::tuple<>();
		else
			return std::tie(a);
	}
	template <size_t... I> auto all(Wave &w, std::index_sequence<I...>)
	{
		return std::tuple_cat(tie<A>(std::get<I>(args_), w)...);
	}
	template <size_t... I> auto constants(std::index_sequence<I...>)
	{
		return std::tuple_cat(tie_constant<A>(std::get<I>(args_))...);
	}
	static constexpr auto indices = std::index_sequence_for<A...>{};

	template <class T> static bool uses_port(int port)
	{
		if constexpr (ports_of<T>::is_ref)
			return port >= ports_of<T>::first &&
			       port < ports_of<T>::first + ports_of<T>::nr;
		else
			return false;
	}

      public:
	template <class... B>
	explicit arguments_of(B &&...b) : args_(std::forward<B>(b)...)
	{
	}
	void send_data(F &f, typename base::device d) override
	{
		auto send = [&](auto &...a) { f.send_data(d, a...); };

		std::apply(send, constants(indices));
	}
	void send_kernel(F &f, typename base::device d,
			 const typename base::kernel &k,
			 const typename base::range *r, Wave &w) override
	{
		auto send = [&](auto &...a) {
			if constexpr (range_of<F>::is_there)
				f.send_kernel(d, k, *r, a...);
			else
				f.send_kernel(d, k, a...);
		};

		(void)r;
		std::apply(send, all(w, indices));
	}
	void finalize(F &f, typename base::device d, std::function<void()> fn,
		      Wave &w) override
	{
		auto call = [&](auto &...a) {
			f.finalize(d, std::move(fn), a...);
		};

		std::apply(call, all(w, indices));
	}
	bool uses(int port) const override
	{
		(void)port;
		return (uses_port<A>(port) || ...);
	}
};
} // namespace detail

// ---- the node

template <typename... Args> class streaming_node;

template <typename... Ports, typename JP, typename Factory>
class streaming_node<std::tuple<Ports...>, JP, Factory>
{
	static constexpr size_t nr_ports = sizeof...(Ports);
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

	// A wave that is complete, with the device of its first input.
	struct job {
		device_type device;
		std::tuple<std::optional<message<Ports>>...> in;
	};

	graph &g_;
	kernel_type kernel_;
	std::function<device_type(Factory &)> selector_;
	Factory &factory_;
	std::shared_ptr<arguments> args_;
	std::optional<range> range_;
	// Of a wave whose range comes from a port; calls fn once it is there.
	std::function<bool(job &, std::function<void()> fn)> range_waits_;
	std::function<range(job &)> range_from_;
	int range_port_ = -1;

	typename inputs::type in_ = inputs::make(*this);
	std::tuple<sender<message<Ports>>...> out_;

	std::mutex lock_;
	detail::joiner<JP, job> joiner_;
	std::deque<job> ready_;
	std::vector<device_type> knows_; // devices that have the constants
	bool is_running_ = false;

	template <int N> bool put(message<port_type<N>> m)
	{
		std::unique_lock<std::mutex> guard(lock_);
		job &j = joiner_.template find<N>(m, [this] {
			job first{};

			first.device = selector_(factory_);
			return first;
		});
		device_type device = j.device;
		size_t nr_ready = ready_.size();
		bool is_argument = args_->uses(N);

		std::get<N>(j.in) = m;
		joiner_.template take<N>(j, nr_ports, ready_);
		bool waits = ready_.size() == nr_ready;
		bool starts = !ready_.empty() && !is_running_;
		is_running_ |= starts;
		guard.unlock();
		if (waits && is_argument)
			begin_data(device, m);
		if (starts)
			g_.start([this](struct lkdf_ctx *) { run_all(); });
		return true;
	}
	// Others of its wave are to come.
	template <class M> void begin_data(const device_type &d, const M &m)
	{
		if constexpr (detail::has_begin_data<Factory, M>::value)
			factory_.begin_data(d, m);
	}

	// Called by one thread at a time: the order of waves is that of
	// kernels.
	void run_all()
	{
		std::unique_lock<std::mutex> guard(lock_);

		while (!ready_.empty()) {
			job &j = ready_.front();

			if (range_waits_ && waits_for_range(j))
				return;
			job now = std::move(j);
			auto args = args_;
			auto r =
				range_from_
					? std::optional<range>(range_from_(now))
					: range_;
			bool is_new = is_new_device(now.device);

			ready_.pop_front();
			guard.unlock();
			run(now, *args, r, is_new,
			    std::index_sequence_for<Ports...>{});
			guard.lock();
		}
		is_running_ = false;
	}
	bool waits_for_range(job &j)
	{
		auto again = [this, hold = g_.reserve()] {
			g_.start([this](struct lkdf_ctx *) { run_all(); });
		};

		return range_waits_(j, again);
	}
	bool is_new_device(const device_type &d)
	{
		for (const device_type &known : knows_)
			if (known == d)
				return false;
		knows_.push_back(d);
		return true;
	}
	template <size_t... N>
	void run(job &j, arguments &args, const std::optional<range> &r,
		 bool is_new, std::index_sequence<N...>)
	{
		auto w = std::make_shared<wave>(
			std::move(*std::get<N>(j.in))...);
		bool is_taken = false;

		if constexpr (detail::range_of<Factory>::is_there)
			if (!r)
				throw std::logic_error(
					"streaming_node: set_range() first");
		if (is_new)
			args.send_data(factory_, j.device);
		args.send_kernel(factory_, j.device, kernel_, r ? &*r : nullptr,
				 *w);
		((is_taken |= std::get<N>(out_).send(std::get<N>(*w))), ...);
		if (is_taken)
			return;
		args.finalize(
			factory_, j.device, [w, hold = g_.reserve()] {}, *w);
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
		std::lock_guard<std::mutex> guard(lock_);

		range_port_ = N;
		range_waits_ = [](job &j, std::function<void()> fn) {
			return !std::get<N>(j.in)->is_set() &&
			       std::get<N>(j.in)->subscribe(std::move(fn));
		};
		range_from_ = [](job &j) {
			return range(std::get<N>(j.in)->get());
		};
	}
	void set_constant(range r)
	{
		std::lock_guard<std::mutex> guard(lock_);

		range_port_ = -1;
		range_waits_ = nullptr;
		range_from_ = nullptr;
		range_ = std::move(r);
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
	// After wait_for_all().
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
