// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Graphs of callables for C++17; lkdf.hpp includes this.
#ifndef LKDF_GRAPH_HPP
#define LKDF_GRAPH_HPP

#include <lkdf/callable.hpp>
#include <lkdf/data.hpp>
#include <lkdf/runtime.hpp>
#include <lkdf/stream.hpp>

#include <cerrno>
#include <stdexcept>

namespace lk
{

// A task of a graph: In and Out are tuples of the types of its ports; Chooses:
// its callable returns a branch.
template <class In, class Out, bool Chooses = false> struct task {
	int32_t id;
};
template <class In, class Out> struct task<In, Out, true> {
	int32_t id;

	operator task<In, Out, false>() const
	{
		return { id };
	}
};
template <class T, bool Chooses = false> struct out_port {
	int32_t id;
	uint16_t port;
};
template <class T> struct out_port<T, true> {
	int32_t id;
	uint16_t port;

	operator out_port<T, false>() const
	{
		return { id, port };
	}
};
template <class T> struct in_port {
	int32_t id;
	uint16_t port;
};

template <unsigned N = 0, class I, class O, bool C>
out_port<std::tuple_element_t<N, O>, C> out(task<I, O, C> t)
{
	return { t.id, N };
}
template <unsigned N = 0, class I, class O, bool C>
in_port<std::tuple_element_t<N, I>> in(task<I, O, C> t)
{
	return { t.id, N };
}

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
	detail::home *home_;
	std::unique_ptr<struct lkdf_graph, put> g_;
	std::shared_ptr<detail::thrown> thrown_ =
		std::make_shared<detail::thrown>();

	// What the argument of a task points to.
	template <class F> struct held {
		F f;
		std::shared_ptr<detail::thrown> thrown;
		detail::home *home;
	};

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
		} else if constexpr (detail::outs<R>::chooses) {
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
	// What f() gives, or the error of its exception, which is kept.
	template <class F>
	static int guard(struct lkdf_ctx *c, detail::thrown &t, F f) noexcept
	{
		try {
			return f();
		} catch (...) {
			t.keep(lkdf_run_arg(c));
			return detail::fail_with_current(c);
		}
	}
	template <class F, class I, class O>
	static int body(struct lkdf_ctx *c, void *arg) noexcept
	{
		auto *h = static_cast<held<F> *>(arg);

		return guard(c, *h->thrown, [=] {
			return call<F, I, O>(c, h->f,
					     std::make_index_sequence<
						     std::tuple_size_v<I>>{});
		});
	}
	template <class F>
	static int own_body(struct lkdf_ctx *c, void *arg) noexcept
	{
		auto *h = static_cast<held<F> *>(arg);

		return guard(c, *h->thrown, [=] { return h->f(c); });
	}
	template <class F>
	static int data_body(struct lkdf_ctx *c, void *arg) noexcept
	{
		auto *h = static_cast<held<F> *>(arg);

		return guard(c, *h->thrown, [=] {
			h->f(c);
			return 0;
		});
	}
	template <class F> static void destroy(void *arg)
	{
		delete static_cast<held<F> *>(arg);
	}

      public:
	// inflight: runs at a time, 1 to 64.
	explicit graph(const runtime &rt, uint32_t inflight = 1,
		       const char *name = nullptr)
	    : rt_(rt.get()), home_(rt.home())
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

		static_assert(S::is_known,
			      "a generic or overloaded callable has no ports: "
			      "give its parameters types");
		if constexpr (S::is_known) {
			using I = typename S::args;
			using R = detail::outs<typename S::result>;
			using O = typename R::type;

			if (!S::is_const && flags & LKDF_SHARED)
				throw std::invalid_argument(
					"add: calls with LKDF_SHARED overlap, "
					"but the callable is not const");
			return insert<I, O, R::chooses>(name, std::move(f),
							body<F, I, O>, flags);
		}
	}
	// A task without ports that uses data: f takes references to them, as
	// that of runtime::submit(). The library orders the tasks of a graph by
	// their data, as if they ran in the order of adding.
	template <class F, class T, bool K, class... Ts, bool... Ks>
	task<std::tuple<>, std::tuple<>> add(const char *name, F f, use<T, K> u,
					     use<Ts, Ks>... more)
	{
		using C = detail::using_data<F, use<T, K>, use<Ts, Ks>...>;
		const struct lkdf_use v[] = { { u.data, u.mode, 0 },
					      { more.data, more.mode, 0 }... };

		return insert<std::tuple<>, std::tuple<>, false>(
			name, C{ std::move(f) }, data_body<C>, 0, v,
			1 + sizeof...(Ts));
	}
	// A task that is not strict: f is called as int f(struct lkdf_ctx *),
	// returns as an lkdf_fn does, and asks lkdf_in() and lkdf_out() for the
	// ports that it wants; I and O are std::tuple of their types.
	template <class I, class O, class F>
	auto add_body(const char *name, F f, uint32_t flags = 0)
	{
		return insert<I, O, true>(name, std::move(f), own_body<F>,
					  flags);
	}
	// As add(); calls of different runs may overlap.
	template <class F> auto shared(const char *name, F f)
	{
		if constexpr (detail::signature<F>::is_known)
			static_assert(detail::signature<F>::is_const,
				      "calls of a shared task overlap: its "
				      "callable is const, or use add()");
		return add(name, std::move(f), LKDF_SHARED);
	}

	template <class T, bool C>
	void connect(out_port<T, C> from, in_port<T> to)
	{
		must(lkdf_graph_port(get(), from.id, from.port, to.id,
				     to.port));
	}
	// The value comes, and the task runs, where from chooses number.
	template <class T, bool C>
	void connect_branch(uint16_t number, out_port<T, C> from, in_port<T> to)
	{
		static_assert(C, "the callable of a task that chooses returns "
				 "lk::branch, alone or in a pair");
		must(edge(LKDF_EDGE_PORT | LKDF_EDGE_BRANCH, from, to, number,
			  nullptr));
	}
	// The value goes round a loop whose head is the task of to; the edge
	// that brings the first value there is connected after this one.
	template <class T, bool C>
	void connect_back(uint16_t number, out_port<T, C> from, in_port<T> to)
	{
		static_assert(C, "the callable of a task that chooses returns "
				 "lk::branch, alone or in a pair");
		must(edge(LKDF_EDGE_PORT | LKDF_EDGE_BACK, from, to, number,
			  nullptr));
	}
	// The value of one call is the input of the next one.
	template <class T, bool C>
	void next(out_port<T, C> from, in_port<T> to, const T &first)
	{
		must(edge(LKDF_EDGE_PORT | LKDF_EDGE_NEXT, from, to, 0,
			  &first));
	}
	template <class I, class O, bool C, class J, class P, bool D>
	void order(task<I, O, C> before, task<J, P, D> after)
	{
		must(lkdf_graph_order(get(), before.id, after.id));
	}
	template <class I, class O, bool C, class J, class P, bool D>
	void choose(task<I, O, C> from, uint16_t number, task<J, P, D> to)
	{
		static_assert(C, "the callable of a task that chooses returns "
				 "lk::branch, alone or in a pair");
		must(lkdf_graph_branch(get(), from.id, number, to.id));
	}
	template <class I, class O, bool C, class J, class P, bool D>
	void back(task<I, O, C> from, uint16_t number, task<J, P, D> head)
	{
		static_assert(C, "the callable of a task that chooses returns "
				 "lk::branch, alone or in a pair");
		must(lkdf_graph_back(get(), from.id, number, head.id));
	}

	void seal()
	{
		must(lkdf_graph_seal(get(), nullptr));
	}
	// Starts times repetitions; runtime::wait() waits for them.
	void start(uint64_t times = 1)
	{
		struct lkdf_run r = {};

		r.size = sizeof(r);
		r.times = times;
		must(lkdf_graph_run(get(), nullptr, &r, nullptr));
	}
	// The same, and waits; throws the exception that has left a callable,
	// or the run's error.
	void run(uint64_t times = 1)
	{
		struct lkdf_run r = {};

		r.size = sizeof(r);
		r.times = times;
		run_and_wait(r, nullptr);
	}
	// Runs waves side by side, up to inflight of them, until the source
	// returns lk::end or there were times of them, 0: any number; waits,
	// and throws as run(). With max_waves no more waves than
	// that are under way at a time, 0: inflight. flags: LKDF_RUN_GO_ON
	// goes on after a wave that fails.
	void stream(uint64_t times = 0, uint32_t max_waves = 0,
		    uint32_t flags = 0)
	{
		struct lkdf_run r =
			waves().times(times).at_most(max_waves).run();

		r.flags |= flags;
		run_and_wait(r, nullptr);
	}
	// The same, with a scope or a deadline.
	void stream(const waves &w)
	{
		run_and_wait(w.run(), w.of_scope());
	}

      private:
	// Runs it and waits; what a callable has thrown comes back once.
	void run_and_wait(struct lkdf_run r, struct lkdf_scope *s)
	{
		detail::thrown::entry mine = {};
		struct lkdf_event done;
		int rc;

		thrown_->begin(&mine);
		r.arg = &mine;
		rc = lkdf_graph_run(get(), s, &r, &done);
		if (!rc)
			rc = lkdf_event_wait(done, -1);
		thrown_->end(&mine);
		if (mine.first)
			std::rethrow_exception(mine.first);
		must(rc);
	}
	template <class I, class O, bool Chooses, class F>
	task<I, O, Chooses>
	insert(const char *name, F f, lkdf_fn fn, uint32_t flags,
	       const struct lkdf_use *use = nullptr, unsigned nr_use = 0)
	{
		std::unique_ptr<held<F>> copy(
			new held<F>{ std::move(f), thrown_, home_ });
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
		id = lkdf_graph_add(get(), k, copy.get(), use, nr_use);
		lkdf_kind_put(k);
		if (must(id) >= 0)
			copy.release();
		return { id };
	}
	template <class T, bool C>
	int edge(uint32_t flags, out_port<T, C> from, in_port<T> to,
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
};

} // namespace lk

#endif
