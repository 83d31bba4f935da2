// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
//
// lkdf for C++17, header only, above the C calls and beside them: get() gives
// the C object of each class. The namespace is lk, for struct lkdf has the name
// lkdf.
//
// Callable objects, lambdas with captures among them, are tasks: parameters are
// in ports, the result is the out port, or one out port for each element of a
// std::tuple. A connection of ports with different types does not compile. An
// exception that leaves a callable is the task's error, with its what() as the
// text. Calls that fail throw lk::error, which holds the errno and the text.
//
//	lk::runtime rt;
//	lk::graph g(rt);
//	auto x = g.add("x", [] { return 3.0; });
//	auto y = g.add("y", [](double v) { std::printf("%g\n", v * v); });
//	g.connect(lk::out(x), lk::in(y));
//	g.seal();
//	g.run();
//
#ifndef LKDF_HPP
#define LKDF_HPP

#include <lkdf/lkdf.h>

#include <array>
#include <cerrno>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace lk
{

// What a call of the C interface has returned, with its text.
class error : public std::system_error
{
      public:
	explicit error(int rc)
	    : std::system_error(-rc, std::generic_category(), lkdf_errmsg())
	{
	}
};

// rc, or an lk::error where it is negative.
inline int must(int rc)
{
	if (rc < 0)
		throw error(rc);
	return rc;
}

// A callable may return this beside or instead of values: see lkdf_fn.
struct branch {
	int value;
};
inline constexpr branch no_branch{ LKDF_NO_BRANCH };
inline constexpr branch end{ LKDF_END };

namespace detail
{
template <class F> struct signature : signature<decltype(&F::operator())> {
};
template <class R, class... A> struct signature_of {
	using result = R;
	using args = std::tuple<std::decay_t<A>...>;
};
template <class C, class R, class... A>
struct signature<R (C::*)(A...) const> : signature_of<R, A...> {
};
template <class C, class R, class... A>
struct signature<R (C::*)(A...)> : signature_of<R, A...> {
};
template <class R, class... A>
struct signature<R (*)(A...)> : signature_of<R, A...> {
};

// Out ports of a result.
template <class R> struct outs {
	using type = std::tuple<R>;
};
template <> struct outs<void> {
	using type = std::tuple<>;
};
template <> struct outs<branch> {
	using type = std::tuple<>;
};
template <class... T> struct outs<std::tuple<T...>> {
	using type = std::tuple<T...>;
};
template <class... T> struct outs<std::pair<branch, std::tuple<T...>>> {
	using type = std::tuple<T...>;
};
template <class T> struct outs<std::pair<branch, T>> {
	using type = std::tuple<T>;
};

template <class T> struct is_chosen : std::false_type {
};
template <class T> struct is_chosen<std::pair<branch, T>> : std::true_type {
};

template <class T> struct sizes;
template <class... T> struct sizes<std::tuple<T...>> {
	static_assert((std::is_trivially_copyable_v<T> && ...),
		      "a value travels as bytes: pass a pointer, or use data");
	static_assert(((sizeof(T) <= LKDF_MAX_VALUE) && ...),
		      "a value has at most LKDF_MAX_VALUE bytes");
	static constexpr std::array<uint32_t, sizeof...(T) + 1> v{
		uint32_t{ sizeof(T) }..., 0
	};
};
} // namespace detail

// A task of a graph: In and Out are tuples of the types of its ports.
template <class In, class Out> struct task {
	int32_t id;
};
template <class T> struct out_port {
	int32_t id;
	uint16_t port;
};
template <class T> struct in_port {
	int32_t id;
	uint16_t port;
};

template <unsigned N = 0, class I, class O>
out_port<std::tuple_element_t<N, O>> out(task<I, O> t)
{
	return { t.id, N };
}
template <unsigned N = 0, class I, class O>
in_port<std::tuple_element_t<N, I>> in(task<I, O> t)
{
	return { t.id, N };
}

// Owns a struct lkdf. Graphs end before it.
class runtime
{
	struct close {
		void operator()(struct lkdf *rt) const
		{
			lkdf_close(rt);
		}
	};
	std::unique_ptr<struct lkdf, close> rt_;

      public:
	// options as lkdf_open(); throws.
	explicit runtime(const char *options = nullptr)
	{
		struct lkdf *rt;

		must(lkdf_open(options, &rt));
		rt_.reset(rt);
	}
	struct lkdf *get() const
	{
		return rt_.get();
	}
	// For all there is; throws the first error.
	void wait() const
	{
		must(lkdf_scope_wait(get(), nullptr, -1));
	}
};

// Owns a struct lkdf_graph: built by one thread, sealed once, run any number
// of times.
class graph
{
	struct put {
		void operator()(struct lkdf_graph *g) const
		{
			lkdf_graph_put(g);
		}
	};
	struct lkdf *rt_;
	std::unique_ptr<struct lkdf_graph, put> g_;

	template <class T> static const T &value(struct lkdf_ctx *c, unsigned n)
	{
		return *static_cast<const T *>(lkdf_in(c, n));
	}
	template <class O, class R, size_t... N>
	static void store(struct lkdf_ctx *c, const R &r,
			  std::index_sequence<N...>)
	{
		((*static_cast<std::tuple_element_t<N, O> *>(lkdf_out(c, N)) =
			  std::get<N>(r)),
		 ...);
	}
	template <class O, class R>
	static void put_out(struct lkdf_ctx *c, const R &r)
	{
		if constexpr (std::is_same_v<O, R>)
			store<O>(c, r,
				 std::make_index_sequence<
					 std::tuple_size_v<O>>{});
		else
			*static_cast<R *>(lkdf_out(c, 0)) = r;
	}
	// What the task returns to the runtime.
	template <class O, class R>
	static int finish(struct lkdf_ctx *c, const R &r)
	{
		if constexpr (std::is_same_v<R, branch>) {
			return r.value;
		} else if constexpr (detail::is_chosen<R>::value) {
			put_out<O>(c, r.second);
			return r.first.value;
		} else {
			put_out<O>(c, r);
			return 0;
		}
	}
	template <class F, class I, class O, size_t... N>
	static int call(struct lkdf_ctx *c, F &f, std::index_sequence<N...>)
	{
		using R = typename detail::signature<F>::result;

		if constexpr (std::is_void_v<R>) {
			f(value<std::tuple_element_t<N, I>>(c, N)...);
			return 0;
		} else {
			return finish<O, R>(
				c,
				f(value<std::tuple_element_t<N, I>>(c, N)...));
		}
	}
	// What f() gives, or the error of its exception.
	template <class F> static int guard(struct lkdf_ctx *c, F f) noexcept
	{
		try {
			return f();
		} catch (const std::system_error &e) {
			int code = e.code().value();

			return lkdf_fail(c, code > 0 ? -code : -ECANCELED, "%s",
					 e.what());
		} catch (const std::exception &e) {
			return lkdf_fail(c, -ECANCELED, "%s", e.what());
		} catch (...) {
			return lkdf_fail(c, -ECANCELED,
					 "an exception of an unknown type");
		}
	}
	template <class F, class I, class O>
	static int body(struct lkdf_ctx *c, void *arg) noexcept
	{
		return guard(c, [=] {
			return call<F, I, O>(c, *static_cast<F *>(arg),
					     std::make_index_sequence<
						     std::tuple_size_v<I>>{});
		});
	}
	template <class F>
	static int own_body(struct lkdf_ctx *c, void *arg) noexcept
	{
		return guard(c, [=] { return (*static_cast<F *>(arg))(c); });
	}
	template <class F> static void destroy(void *arg)
	{
		delete static_cast<F *>(arg);
	}

      public:
	// inflight: runs at a time, 1 to 64.
	explicit graph(const runtime &rt, uint32_t inflight = 1,
		       const char *name = nullptr)
	    : rt_(rt.get())
	{
		struct lkdf_graph_attr a = {};
		struct lkdf_graph *g;

		a.size = sizeof(a);
		a.inflight = inflight;
		a.name = name;
		must(lkdf_graph_create(rt_, &a, &g));
		g_.reset(g);
	}
	struct lkdf_graph *get() const
	{
		return g_.get();
	}

	// A strict task: it needs all its inputs, and it never overlaps itself
	// unless flags, of enum lkdf_kind_flag, say LKDF_SHARED. The graph owns
	// the callable and destroys it at its end.
	template <class F> auto add(const char *name, F f, uint32_t flags = 0)
	{
		using S = detail::signature<F>;
		using I = typename S::args;
		using O = typename detail::outs<typename S::result>::type;

		return insert<I, O>(name, std::move(f), body<F, I, O>, flags);
	}
	// A task that is not strict: f is called as int f(struct lkdf_ctx *),
	// returns as an lkdf_fn does, and asks lkdf_in() and lkdf_out() for the
	// ports that it wants; I and O are std::tuple of their types.
	template <class I, class O, class F>
	auto add_body(const char *name, F f, uint32_t flags = 0)
	{
		return insert<I, O>(name, std::move(f), own_body<F>, flags);
	}
	// As add(); calls of different runs may overlap.
	template <class F> auto shared(const char *name, F f)
	{
		return add(name, std::move(f), LKDF_SHARED);
	}

	template <class T> void connect(out_port<T> from, in_port<T> to)
	{
		must(lkdf_graph_port(get(), from.id, from.port, to.id,
				     to.port));
	}
	// The value comes, and the task runs, where from chooses number.
	template <class T>
	void connect_branch(uint16_t number, out_port<T> from, in_port<T> to)
	{
		must(edge(LKDF_EDGE_PORT | LKDF_EDGE_BRANCH, from, to, number,
			  nullptr));
	}
	// The value goes round a loop whose head is the task of to.
	template <class T>
	void connect_back(uint16_t number, out_port<T> from, in_port<T> to)
	{
		must(edge(LKDF_EDGE_PORT | LKDF_EDGE_BACK, from, to, number,
			  nullptr));
	}
	// The value of one call is the input of the next one.
	template <class T>
	void next(out_port<T> from, in_port<T> to, const T &first)
	{
		must(edge(LKDF_EDGE_PORT | LKDF_EDGE_NEXT, from, to, 0,
			  &first));
	}
	template <class I, class O, class J, class P>
	void order(task<I, O> before, task<J, P> after)
	{
		must(lkdf_graph_order(get(), before.id, after.id));
	}
	template <class I, class O, class J, class P>
	void choose(task<I, O> from, uint16_t number, task<J, P> to)
	{
		must(lkdf_graph_branch(get(), from.id, number, to.id));
	}
	template <class I, class O, class J, class P>
	void back(task<I, O> from, uint16_t number, task<J, P> head)
	{
		must(lkdf_graph_back(get(), from.id, number, head.id));
	}

	void seal()
	{
		must(lkdf_graph_seal(get(), nullptr));
	}
	// Starts times repetitions; runtime::wait() waits for them.
	void start(uint64_t times = 1)
	{
		must(launch(times, 0, nullptr));
	}
	// The same, and waits; throws the run's error.
	void run(uint64_t times = 1)
	{
		struct lkdf_event done;

		must(launch(times, 0, &done));
		must(lkdf_event_wait(done, -1));
	}
	// Runs waves side by side, up to inflight of them, until the source
	// returns lk::end or there were times of them, 0: any number; waits,
	// and throws the stream's error. With max_waves no more waves than
	// that are under way at a time, 0: inflight.
	void stream(uint64_t times = 0, uint32_t max_waves = 0)
	{
		struct lkdf_event done;

		must(launch(times, LKDF_RUN_STREAM, &done, max_waves));
		must(lkdf_event_wait(done, -1));
	}

      private:
	template <class I, class O, class F>
	task<I, O> insert(const char *name, F f, lkdf_fn fn, uint32_t flags)
	{
		auto copy = std::make_unique<F>(std::move(f));
		struct lkdf_kind_attr a = {};
		struct lkdf_kind *k;
		int id;

		a.size = sizeof(a);
		a.name = name;
		a.flags = flags;
		a.fn = fn;
		a.drop = destroy<F>;
		a.nr_in = std::tuple_size_v<I>;
		a.nr_out = std::tuple_size_v<O>;
		a.in_size = detail::sizes<I>::v.data();
		a.out_size = detail::sizes<O>::v.data();
		must(lkdf_kind_create(rt_, &a, &k));
		id = lkdf_graph_add(get(), k, copy.get(), nullptr, 0);
		lkdf_kind_put(k);
		if (must(id) >= 0)
			copy.release();
		return task<I, O>{ id };
	}
	template <class T>
	int edge(uint32_t flags, out_port<T> from, in_port<T> to,
		 uint16_t number, const void *init)
	{
		struct lkdf_edge e = {};

		e.size = sizeof(e);
		e.flags = flags;
		e.from = from.id;
		e.out = from.port;
		e.to = to.id;
		e.in = to.port;
		e.branch = number;
		e.init = init;
		return lkdf_graph_edge(get(), &e);
	}
	int launch(uint64_t times, uint32_t flags, struct lkdf_event *done,
		   uint32_t max_waves = 0)
	{
		struct lkdf_run r = {};

		r.size = sizeof(r);
		r.flags = flags;
		r.times = times;
		r.max_waves = max_waves;
		return lkdf_graph_run(get(), nullptr, &r, done);
	}
};

} // namespace lk

#include <lkdf/channel.hpp>

#endif
