/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A compute engine of variables and functions, on liblkdf. A variable is a
 * name for something that functions read and write; what, the engine does not
 * know. A function says once which variables it reads and which it writes, and
 * is pushed any number of times, by any number of threads, each time with a
 * context. Pushes run as if one after another in the order of their calls;
 * those that share no variable, or only read it, run side by side.
 *
 * A body gets a completion and calls it when the work is done, then or later,
 * on any thread. A variable may stand in both lists and more than once. Calls
 * return 0 or a negative errno, and lkdf_errmsg() says why.
 */
#ifndef ENGINE_HPP
#define ENGINE_HPP

#include <lkdf/lkdf.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace engine
{

using VarHandle = lkdf_data *;

/* An error of lkdf where there is nothing to return it with. */
inline void Check(int rc)
{
	if (rc < 0)
		throw std::system_error(-rc, std::generic_category(),
					lkdf_errmsg());
}

/* Where and how one push runs. */
struct ExecContext {
	enum Type {
		kCompute,
		kIO, /* may block: runs on a thread for that */
	};
	Type type = kCompute;
	int node = -1; /* NUMA node that is wished for; -1: any */
	lkdf_prio priority = LKDF_PRIO_DEFAULT; /* launchers: LKDF_URGENT */
};

/* What the profiled pushes of a function took, from body to completion. */
struct Profile {
	uint64_t nr, ns;
};

class Completion;
using AsyncFn = std::function<void(ExecContext, Completion)>;

/* A function: lives until it is deleted and its last push has ended. */
struct Fn {
	AsyncFn body;
	std::vector<lkdf_use> uses;
	lkdf_kind *kind[2] = {}; /* by ExecContext::Type */
	std::atomic<uint64_t> nr_profiled{ 0 }, profiled_ns{ 0 };

	Fn() = default;
	Fn(const Fn &) = delete;
	Fn &operator=(const Fn &) = delete;
	~Fn()
	{
		for (const lkdf_use &u : uses)
			lkdf_data_put(u.data);
		lkdf_kind_put(kind[0]);
		lkdf_kind_put(kind[1]);
	}
};

/*
 * Ends the push when called, with 0 or a negative errno; -EALREADY: it was
 * called before. Copies are one. If none of them was called when the last one
 * goes, the push has failed with -ECANCELED, so that nothing hangs.
 */
class Completion
{
	using Clock = std::chrono::steady_clock;
	struct State {
		std::shared_ptr<Fn> fn; /* until the end; null: not profiled */
		lkdf_event event{};
		Clock::time_point start;
		std::atomic<bool> has_ended{ true }; /* not begun, too */

		~State()
		{
			End(-ECANCELED);
		}
		void Begin(lkdf_event e)
		{
			event = e;
			start = Clock::now();
			has_ended = false;
		}
		int End(int err)
		{
			if (has_ended.exchange(true))
				return -EALREADY;
			std::chrono::nanoseconds t = Clock::now() - start;
			if (fn) {
				fn->nr_profiled++;
				fn->profiled_ns += t.count();
			}
			/* The engine may close once the event has fired */
			fn.reset();
			return lkdf_event_signal(event, err);
		}
	};
	std::shared_ptr<State> state = std::make_shared<State>();
	friend class ComputeEngine;

      public:
	int operator()(int err = 0) const
	{
		return state->End(err);
	}
};

/* One push: the argument of its task, deleted with it, run or not. */
struct Push {
	std::shared_ptr<Fn> fn;
	ExecContext ctx;
	Completion done;
};

/* Names of variables. It owns them; a handle lives until its Delete(). */
class VarRegistry
{
	lkdf *rt;
	std::mutex lock;
	std::unordered_map<std::string, VarHandle> vars;

      public:
	explicit VarRegistry(lkdf *runtime) : rt(runtime)
	{
	}
	VarRegistry(const VarRegistry &) = delete;
	VarRegistry &operator=(const VarRegistry &) = delete;
	~VarRegistry()
	{
		for (auto &v : vars)
			lkdf_data_put(v.second);
	}

	/* nullptr: the name is taken, or no memory. */
	VarHandle Register(const char *name)
	{
		std::lock_guard<std::mutex> guard(lock);
		lkdf_data_attr a{};
		a.size = sizeof(a);
		a.name = name;
		/* A byte with a value, so that it may be read at once */
		a.bytes = 1;
		a.init = "";
		VarHandle v;
		if (lkdf_data_create(rt, &a, &v))
			return nullptr;
		vars[name] = v;
		return v;
	}

	/* nullptr: there is none of that name. */
	VarHandle Lookup(const char *name)
	{
		std::lock_guard<std::mutex> guard(lock);
		auto it = vars.find(name);
		return it == vars.end() ? nullptr : it->second;
	}

	/* Goes after the pushes that use it; does not wait. */
	int Delete(const char *name)
	{
		std::lock_guard<std::mutex> guard(lock);
		auto it = vars.find(name);
		if (it == vars.end())
			return -ENOENT;
		lkdf_data_put(it->second);
		vars.erase(it);
		return 0;
	}
};

using FnHandle = Fn *;

class ComputeEngine
{
	struct Closer {
		void operator()(lkdf *runtime) const
		{
			/* Somebody still pushes: not to be mended here */
			if (lkdf_close(runtime))
				std::terminate();
		}
	};
	/* Last to go, so first here */
	std::unique_ptr<lkdf, Closer> rt;
	std::mutex lock;
	std::unordered_map<FnHandle, std::shared_ptr<Fn>> fns;
	VarRegistry registry;

	static lkdf *Open(int num_cpus)
	{
		std::string o;
		if (num_cpus)
			o = "workers=" + std::to_string(num_cpus);
		lkdf *out = nullptr;
		Check(lkdf_open(o.c_str(), &out));
		return out;
	}

	static void Drop(void *arg)
	{
		delete static_cast<Push *>(arg);
	}

	/* The body of every task: holds, then calls the function. */
	static int Run(lkdf_ctx *c, void *arg)
	{
		Push *p = static_cast<Push *>(arg);
		/* The push's own copy goes, so that the last one can be seen */
		Completion done = std::move(p->done);
		lkdf_event e;
		int rc = lkdf_hold(c, &e);
		if (rc)
			return rc;
		done.state->Begin(e);
		try {
			p->fn->body(p->ctx, done);
		} catch (const std::exception &x) {
			rc = lkdf_fail(c, -EIO, "%s", x.what());
			done(rc);
		} catch (...) {
			rc = lkdf_fail(c, -EIO, "an exception");
			done(rc);
		}
		return rc;
	}

	void MakeKinds(Fn *f, const char *name)
	{
		lkdf_kind_attr a{};
		a.size = sizeof(a);
		a.name = name;
		a.fn = Run;
		a.drop = Drop;
		Check(lkdf_kind_create(rt.get(), &a, &f->kind[0]));
		a.flags = LKDF_BLOCKING;
		Check(lkdf_kind_create(rt.get(), &a, &f->kind[1]));
	}

	static void AddUses(Fn *f, const std::vector<VarHandle> &vars,
			    uint32_t mode)
	{
		for (VarHandle v : vars)
			f->uses.push_back({ lkdf_data_get(v), mode, 0 });
	}

      public:
	/* @num_cpus: workers; 0: one for each CPU there is. */
	explicit ComputeEngine(int num_cpus = 0)
	    : rt(Open(num_cpus)), registry(rt.get())
	{
	}
	/* An error that nobody has asked for is lost here. */
	~ComputeEngine()
	{
		WaitForAll();
	}

	static ComputeEngine &Global()
	{
		static ComputeEngine one;
		return one;
	}

	lkdf *Runtime()
	{
		return rt.get();
	}
	VarRegistry &Vars()
	{
		return registry;
	}
	VarHandle LookupVar(const char *name)
	{
		return registry.Lookup(name);
	}

	FnHandle NewFunc(AsyncFn fn, const std::vector<VarHandle> &read_vars,
			 const std::vector<VarHandle> &write_vars,
			 const char *name = "func")
	{
		auto f = std::make_shared<Fn>();
		f->body = std::move(fn);
		f->uses.reserve(read_vars.size() + write_vars.size());
		AddUses(f.get(), read_vars, LKDF_READ);
		AddUses(f.get(), write_vars, LKDF_RW);
		MakeKinds(f.get(), name);
		std::lock_guard<std::mutex> guard(lock);
		fns[f.get()] = f;
		return f.get();
	}

	/* Returns at once. */
	int PushAsync(FnHandle fn, ExecContext ctx = {}, bool profiled = false)
	{
		std::unique_ptr<Push> p(new Push{ Find(fn), ctx, {} });
		if (!p->fn)
			return -ENOENT;
		if (profiled)
			p->done.state->fn = p->fn;
		lkdf_task t{};
		t.size = sizeof(t);
		t.kind = p->fn->kind[ctx.type];
		t.arg = p.get();
		t.use = p->fn->uses.data();
		t.nr_use = static_cast<uint32_t>(p->fn->uses.size());
		t.prio = ctx.priority;
		if (ctx.node >= 0) {
			t.place = lkdf_place_node(rt.get(), ctx.node);
			if (!t.place)
				return -ENODEV;
		}
		int rc = lkdf_submit(rt.get(), nullptr, &t, nullptr);
		/* From here on it is the task's */
		if (!rc)
			p.release();
		return rc;
	}

	/* The pushes before this call that write it have ended. */
	int WaitForVar(VarHandle v)
	{
		int rc = lkdf_data_acquire(v, LKDF_READ, -1, nullptr);
		return rc ? rc : lkdf_data_release(v);
	}

	/* After a failed push: it may be read and written again. */
	int ResetVar(VarHandle v)
	{
		int rc = lkdf_data_acquire(v, LKDF_WRITE, -1, nullptr);
		return rc ? rc : lkdf_data_release(v);
	}

	/* All pushes have ended: 0, or the first error since the last call. */
	int WaitForAll()
	{
		return lkdf_scope_wait(rt.get(), nullptr, -1);
	}

	/* Goes after its last push; does not wait. */
	int DeleteFunc(FnHandle fn)
	{
		/* Goes behind the lock: it may have destructors of the user's
		 */
		std::shared_ptr<Fn> f = Find(fn);
		std::lock_guard<std::mutex> guard(lock);
		return fns.erase(fn) ? 0 : -ENOENT;
	}

	Profile Measured(FnHandle fn)
	{
		std::shared_ptr<Fn> f = Find(fn);
		if (!f)
			return {};
		return { f->nr_profiled, f->profiled_ns };
	}

      private:
	std::shared_ptr<Fn> Find(FnHandle fn)
	{
		std::lock_guard<std::mutex> guard(lock);
		auto it = fns.find(fn);
		return it == fns.end() ? nullptr : it->second;
	}
};

} // namespace engine

#endif
