// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Variables for C++17 whose uses order tasks; lkdf.hpp includes this.
#ifndef LKDF_DATA_HPP
#define LKDF_DATA_HPP

#include <lkdf/runtime.hpp>

#include <type_traits>
#include <utility>

namespace lk
{

// Owns a reference to a struct lkdf_data that holds one T. Tasks that use it
// run as if one after the other, in the order of their submission; readers run
// side by side. It may end before its tasks do.
template <class T> class data
{
	static_assert(std::is_trivially_copyable_v<T>,
		      "data travel as bytes: hold a plain struct, an array or "
		      "a pointer");

	struct put {
		void operator()(struct lkdf_data *d) const
		{
			lkdf_data_put(d);
		}
	};
	std::unique_ptr<struct lkdf_data, put> d_;

	void create(struct lkdf *rt, const T *init, T *wrap, const char *name)
	{
		struct lkdf_data_attr a = {};
		struct lkdf_data *d;

		a.size = sizeof(a);
		a.name = name;
		a.bytes = sizeof(T);
		a.align = alignof(T) > 64 ? alignof(T) : wrap ? 0 : 64;
		a.init = init;
		a.wrap = wrap;
		must(lkdf_data_create(rt, &a, &d));
		d_.reset(d);
	}

      public:
	using type = T;

	// Without a value: a task or write() gives the first.
	explicit data(const runtime &rt, const char *name = nullptr)
	{
		create(rt.get(), nullptr, nullptr, name);
	}
	data(const runtime &rt, const T &first, const char *name = nullptr)
	{
		create(rt.get(), &first, nullptr, name);
	}
	// A number of another type: a 0 is the value, not a name that is null.
	template <typename V, typename = typename std::enable_if<
				      std::is_arithmetic<V>::value &&
				      std::is_convertible<V, T>::value>::type>
	data(const runtime &rt, V first, const char *name = nullptr)
	    : data(rt, static_cast<T>(first), name)
	{
	}
	// The bytes of a variable of the program, which outlives all uses.
	static data wrap(const runtime &rt, T &variable,
			 const char *name = nullptr)
	{
		data d;

		d.create(rt.get(), nullptr, &variable, name);
		return d;
	}
	struct lkdf_data *get() const
	{
		return d_.get();
	}
	// Waits for all tasks submitted so far and returns the value. Call it
	// on a thread, not in a body. Throws the error of the task that should
	// have written it.
	T read() const
	{
		void *p;

		must(lkdf_data_acquire(get(), LKDF_READ, -1, &p));
		T copy = *static_cast<const T *>(p);

		must(lkdf_data_release(get()));
		return copy;
	}
	void write(const T &value)
	{
		void *p;

		must(lkdf_data_acquire(get(), LKDF_WRITE, -1, &p));
		*static_cast<T *>(p) = value;
		must(lkdf_data_release(get()));
	}

      private:
	data() = default;
};

// A task's use of data: what the parameter of its callable refers to.
template <class T, bool Const> struct use {
	struct lkdf_data *data;
	uint32_t mode;
	using parameter = std::conditional_t<Const, const T &, T &>;

	static parameter get(void *bytes)
	{
		return *static_cast<T *>(bytes);
	}
};
// Of an array: the parameter points to the first element.
template <class T, bool Const> struct use<T[], Const> {
	struct lkdf_data *data;
	uint32_t mode;
	using parameter = std::conditional_t<Const, const T *, T *>;

	static parameter get(void *bytes)
	{
		return static_cast<T *>(bytes);
	}
};

template <class T> use<T, true> read(const data<T> &d)
{
	return { d.get(), LKDF_READ };
}
// The old value is not needed.
template <class T> use<T, false> write(const data<T> &d)
{
	return { d.get(), LKDF_WRITE };
}
template <class T> use<T, false> update(const data<T> &d)
{
	return { d.get(), LKDF_RW };
}
// In any order with other such uses, one at a time.
template <class T> use<T, false> commute(const data<T> &d)
{
	return { d.get(), LKDF_COMMUTE };
}

namespace detail
{
template <class F, class... U> struct using_data {
	F f;

	template <size_t... N>
	decltype(auto) call(struct lkdf_ctx *c, std::index_sequence<N...>)
	{
		return f(U::get(lkdf_ptr(c, N))...);
	}
	decltype(auto) operator()(struct lkdf_ctx *c)
	{
		return call(c, std::index_sequence_for<U...>{});
	}
};
} // namespace detail

template <class F, class... T, bool... Const>
auto runtime::submit(const with &w, F f, use<T, Const>... u)
{
	static_assert(
		std::is_invocable_v<F &, typename use<T, Const>::parameter...>,
		"the callable takes const T & of lk::read(), T & of "
		"other uses, in their order");
	using C = detail::using_data<F, use<T, Const>...>;
	using R = std::decay_t<decltype(std::declval<C &>()(nullptr))>;
	const struct lkdf_use v[] = { { u.data, u.mode, 0 }... };

	return detail::start<R>(home_.get(), w,
				std::make_unique<detail::job<R, C>>(
					home_.get(), C{ std::move(f) }),
				v, sizeof...(T), nullptr);
}
template <class F, class... T, bool... Const>
auto runtime::submit(F f, use<T, Const>... u)
{
	return submit(with("submit"), std::move(f), u...);
}

} // namespace lk

#endif
