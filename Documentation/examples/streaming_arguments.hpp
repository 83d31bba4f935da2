// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
//
// The arguments of a streaming_node's kernel: constants and references to
// ports, and the calls of a Factory that are given them.
//
#ifndef STREAMING_ARGUMENTS_HPP
#define STREAMING_ARGUMENTS_HPP

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace lk::flow
{

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

} // namespace lk::flow

#endif
