// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Kernels of devices for C++17; lkdf.hpp includes this.
#ifndef LKDF_DEVICE_HPP
#define LKDF_DEVICE_HPP

#include <lkdf/array.hpp>
#include <lkdf/code.h>

#include <cstring>

namespace lk
{

namespace detail
{
// What the compiler of a device calls a type.
template <class T> struct device_type;
#define LKDF_DEVICE_TYPE(type, text)                      \
	template <> struct device_type<type> {            \
		static const char *name()                 \
		{                                         \
			return text;                      \
		}                                         \
		static const char *pointer()              \
		{                                         \
			return "GLOBAL " text " *";       \
		}                                         \
		static const char *constant()             \
		{                                         \
			return "GLOBAL const " text " *"; \
		}                                         \
	};
LKDF_DEVICE_TYPE(float, "float")
LKDF_DEVICE_TYPE(double, "double")
LKDF_DEVICE_TYPE(int8_t, "char")
LKDF_DEVICE_TYPE(uint8_t, "unsigned char")
LKDF_DEVICE_TYPE(int16_t, "short")
LKDF_DEVICE_TYPE(uint16_t, "unsigned short")
LKDF_DEVICE_TYPE(int32_t, "int")
LKDF_DEVICE_TYPE(uint32_t, "unsigned int")
#undef LKDF_DEVICE_TYPE

// A parameter: a pointer is a use, all else a value. The caller gives A.
template <class P> struct kernel_parameter {
	using given = P;
	static constexpr bool is_use = false;
	static constexpr size_t bytes = sizeof(P);

	static const char *type()
	{
		return device_type<P>::name();
	}
};
template <class T> struct kernel_parameter<T *> {
	using given = use<T[], false>;
	static constexpr bool is_use = true;
	static constexpr size_t bytes = 0;

	static const char *type()
	{
		return device_type<T>::pointer();
	}
};
template <class T> struct kernel_parameter<const T *> {
	using given = use<T[], true>;
	static constexpr bool is_use = true;
	static constexpr size_t bytes = 0;

	static const char *type()
	{
		return device_type<T>::constant();
	}
};
} // namespace detail

// A loop as a kernel: P are float, int32_t and the like, or pointers to them,
// which are p0, p1 ... of its text; i is the item. The text is OpenCL C and
// CUDA C alike. The function does the same for one item on a CPU, where no
// device can run the kernel.
//
//	lk::kernel<const float *, float *, float> saxpy(
//		rt, "saxpy", "p1[i] += p2 * p0[i];",
//		[](size_t i, const float *x, float *y, float a) {
//			y[i] += a * x[i];
//		});
//	saxpy(x.size(), lk::read(x), lk::update(y), 2.0f).get();
template <class... P> class kernel
{
	template <class Q> using parameter = detail::kernel_parameter<Q>;
	using on_cpu = void (*)(size_t i, P... p);

	static constexpr unsigned nr = sizeof...(P);
	static constexpr unsigned nr_uses =
		(unsigned(parameter<P>::is_use) + ... + 0u);
	static constexpr size_t nr_bytes = (parameter<P>::bytes + ... + 0u);
	// Numbers of the use of each parameter, and where its value begins.
	template <size_t N> static constexpr unsigned place(bool of_uses)
	{
		constexpr bool is_use[] = { parameter<P>::is_use... };
		constexpr size_t bytes[] = { parameter<P>::bytes... };
		unsigned at = 0;

		for (size_t i = 0; i < N; i++)
			at += of_uses ? unsigned(is_use[i])
				      : unsigned(bytes[i]);
		return at;
	}

	// What a task has.
	struct argument {
		uint64_t items[3];
		on_cpu fn;
		char values[nr_bytes ? nr_bytes : 1];
	};
	struct put {
		void operator()(struct lkdf_kind *k) const
		{
			lkdf_kind_put(k);
		}
	};
	detail::home *home_;
	on_cpu fn_;
	std::unique_ptr<struct lkdf_kind, put> kind_;

	template <class Q, size_t N>
	static Q get(struct lkdf_ctx *c, const argument *a)
	{
		if constexpr (parameter<Q>::is_use) {
			return parameter<Q>::given::get(
				lkdf_ptr(c, place<N>(true)));
		} else {
			Q v;

			std::memcpy(&v, a->values + place<N>(false), sizeof(v));
			return v;
		}
	}
	template <size_t... N>
	static void loop(struct lkdf_ctx *c, const argument *a,
			 std::index_sequence<N...>)
	{
		std::tuple<P...> p{ get<P, N>(c, a)... };

		for (size_t i = 0; i < a->items[0]; i++)
			a->fn(i, std::get<N>(p)...);
	}
	static int run(struct lkdf_ctx *c, void *arg) noexcept
	{
		try {
			loop(c, static_cast<const argument *>(arg),
			     std::index_sequence_for<P...>{});
			return 0;
		} catch (...) {
			return detail::fail_with_current(c);
		}
	}
	template <class Q, size_t N> static struct lkdf_param param()
	{
		struct lkdf_param p = {};

		p.from =
			parameter<Q>::is_use ? LKDF_PARAM_USE : LKDF_PARAM_TASK;
		p.first = uint16_t(parameter<Q>::is_use
					   ? place<N>(true)
					   : offsetof(argument, values) +
						     place<N>(false));
		p.bytes = uint32_t(parameter<Q>::bytes);
		return p;
	}
	template <size_t... N>
	void create(const char *name, const char *text,
		    std::index_sequence<N...>)
	{
		const struct lkdf_param params[] = { param<P, N>()... };
		const char *const types[] = { parameter<P>::type()... };
		struct lkdf_code code[2] = {};
		struct lkdf_kind_attr k = {};
		struct lkdf_kernel_attr a = {};
		struct lkdf_kind *kind;

		code[0].device = "opencl";
		code[1].device = "cuda";
		code[0].image = code[1].image = text;
		k.size = sizeof(k);
		k.name = name;
		k.fn = run;
		k.arg_size = sizeof(argument);
		a.size = sizeof(a);
		a.flags = LKDF_KERNEL_LOOP;
		a.kind = &k;
		a.code = code;
		a.nr_code = 2;
		a.param = params;
		a.nr_param = nr;
		a.type = types;
		a.nr_type = nr;
		a.range_from = LKDF_RANGE_TASK;
		must(lkdf_kind_create_kernel(home_->rt, &a, &kind));
		kind_.reset(kind);
	}
	template <class Q, size_t N>
	static void set(argument &arg, struct lkdf_use *v,
			const typename parameter<Q>::given &given)
	{
		if constexpr (parameter<Q>::is_use)
			v[place<N>(true)] = { given.data, given.mode, 0 };
		else
			std::memcpy(arg.values + place<N>(false), &given,
				    sizeof(given));
	}
	template <size_t... N>
	static void set_all(argument &arg, struct lkdf_use *v,
			    std::index_sequence<N...>,
			    const typename parameter<P>::given &...given)
	{
		(set<P, N>(arg, v, given), ...);
	}

      public:
	kernel(const runtime &rt, const char *name, const char *text, on_cpu fn)
	    : home_(rt.home()), fn_(fn)
	{
		static_assert(nr > 0, "kernel: it has no parameters");
		create(name, text, std::index_sequence_for<P...>{});
	}
	struct lkdf_kind *get() const
	{
		return kind_.get();
	}
	// A task for items 0 .. items - 1, after the uses of tasks submitted
	// before it; on a device that can run it, unless w has a place.
	future<void> operator()(const with &w, size_t items,
				typename parameter<P>::given... given) const
	{
		struct lkdf_use v[nr_uses ? nr_uses : 1];
		auto result = std::make_unique<detail::result<void>>();
		detail::result<void> *mine = result.get();
		argument arg = {};
		struct lkdf_task t = w.task();

		arg.items[0] = items;
		arg.items[1] = arg.items[2] = 1;
		arg.fn = fn_;
		set_all(arg, v, std::index_sequence_for<P...>{}, given...);
		t.kind = get();
		t.arg = &arg;
		t.use = v;
		t.nr_use = nr_uses;
		auto f = detail::start_kind<void>(home_, w, std::move(result),
						  t);
		// The task has none.
		mine->put();
		return f;
	}
	future<void> operator()(size_t items,
				typename parameter<P>::given... given) const
	{
		return (*this)(with(), items, given...);
	}
};

} // namespace lk

#endif
