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

#include "registry.hpp"

#include <algorithm>
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
		kCPU_COMMON,
		kIO, /* may block: runs on a thread for that */
		kGPU_COMMON, /* gives work to a queue of the device */
		kIO_CPU_to_GPU, /* may block: on an IO thread of the device */
		kIO_GPU_to_CPU, /* likewise */
	};
	Type type = kCPU_COMMON;
	int device_id = 0; /* of the engine's gpu_ids */
	/* kGPU_COMMON, set for the body: CUstream, cl_command_queue ... */
	void *queue = nullptr;
	int node = -1; /* NUMA node that is wished for; -1: any */
	lkdf_prio priority = LKDF_PRIO_DEFAULT; /* launchers: LKDF_URGENT */
};

/* Times of the profiled pushes of a function, from body to completion. */
struct Profile {
	uint64_t nr, ns;
};

class Completion;
using AsyncFn = std::function<void(ExecContext, Completion)>;

/* A function: lives until it is deleted and its last push has ended. */
struct Fn {
	AsyncFn body;
	std::vector<lkdf_use> uses;
	std::string name;
	/* By ExecContext::Type, up to kGPU_COMMON; then for IO of each device.
	 * Made with the first push, so that a type costs nothing before. */
	std::vector<lkdf_kind *> kind;
	std::mutex lock; /* of kind */
	std::atomic<uint64_t> nr_profiled{ 0 }, profiled_ns{ 0 };

	Fn() = default;
	Fn(const Fn &) = delete;
	Fn &operator=(const Fn &) = delete;
	~Fn()
	{
		for (const lkdf_use &u : uses)
			lkdf_data_put(u.data);
		for (lkdf_kind *k : kind)
			lkdf_kind_put(k);
	}
};

/*
 * Ends the push when called, with 0 or a negative errno; -EALREADY: it was
 * called before. Copies are one. If none of them was called when the last one
 * goes, the push has failed with -ECANCELED, so that nothing hangs. A push of
 * type kGPU_COMMON calls it before its body returns, and ends when the device
 * has done what its queue was given.
 */
class Completion
{
	using Clock = std::chrono::steady_clock;
	struct State {
		std::shared_ptr<Fn> fn; /* until the end; null: not profiled */
		lkdf_event event{};
		Clock::time_point start;
		std::atomic<bool> has_ended{ true }; /* not begun, too */
		bool is_on_device = false; /* its queue ends the push */
		int error = 0;

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
			error = err;
			std::chrono::nanoseconds t = Clock::now() - start;
			if (fn) {
				fn->nr_profiled++;
				fn->profiled_ns += t.count();
			}
			/* The engine may close once the event has fired */
			fn.reset();
			return is_on_device ? 0 : lkdf_event_signal(event, err);
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

/* A push: the argument of its task, deleted with it, run or not. */
struct Push {
	std::shared_ptr<Fn> fn;
	ExecContext ctx;
	Completion done;
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
	/* For each device: how many of its IO threads are free */
	const std::vector<int> gpus;
	std::vector<lkdf_limit *> io_threads;

	/* Threads that may block: the launchers and IO threads besides others
	 */
	static lkdf *Open(int num_cpus, const std::vector<int> &gpu_ids,
			  int num_io, std::string o)
	{
		auto add = [&o](const char *name, size_t value) {
			o += (o.empty() ? "" : ",") + std::string(name) + "=" +
			     std::to_string(value);
		};
		if (num_cpus)
			add("workers", num_cpus);
		if (!gpu_ids.empty())
			add("blocking", 16 + gpu_ids.size() * (num_io + 1));
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

	/* The body of kGPU_COMMON: on the device's launcher, with a queue. */
	static int Give(lkdf_ctx *c, void *arg, void *queue)
	{
		Push *p = static_cast<Push *>(arg);
		Completion done = std::move(p->done);
		ExecContext ctx = p->ctx;
		ctx.queue = queue;
		done.state->is_on_device = true;
		done.state->Begin({});
		try {
			p->fn->body(ctx, done);
		} catch (const std::exception &x) {
			return lkdf_fail(c, -EIO, "%s", x.what());
		} catch (...) {
			return lkdf_fail(c, -EIO, "an exception");
		}
		done(-ECANCELED);
		return done.state->error;
	}

	static constexpr size_t kFirstIo = ExecContext::kGPU_COMMON + 1;

	int MakeKernel(const lkdf_kind_attr &a, lkdf_kind **out)
	{
		lkdf_kernel_attr k{};
		k.size = sizeof(k);
		k.kind = &a;
		k.enqueue = Give;
		return lkdf_kind_create_kernel(rt.get(), &k, out);
	}

	/* The kind of that number of a function: made when it is first asked.
	 */
	int Kind(Fn *f, size_t nr, lkdf_kind **out)
	{
		std::lock_guard<std::mutex> guard(f->lock);
		lkdf_kind_attr a{};
		lkdf_limit_use use{};
		int rc = 0;
		a.size = sizeof(a);
		a.name = f->name.c_str();
		a.drop = Drop;
		if (nr == ExecContext::kIO || nr >= kFirstIo)
			a.flags = LKDF_BLOCKING;
		if (nr >= kFirstIo) {
			use = { io_threads[nr - kFirstIo], 1 };
			a.limit = &use;
			a.nr_limit = 1;
		}
		if (nr != ExecContext::kGPU_COMMON)
			a.fn = Run;
		if (!f->kind[nr])
			rc = a.fn ? lkdf_kind_create(rt.get(), &a, &f->kind[nr])
				  : MakeKernel(a, &f->kind[nr]);
		*out = f->kind[nr];
		return rc;
	}

	/* Device @id: those of the library first, then those registered. */
	lkdf_place *Device(int id)
	{
		lkdf_place *v[LKDF_MAX_DEVICES];
		for (auto kind : { LKDF_PLACE_GPU, LKDF_PLACE_USER }) {
			int nr = lkdf_places(rt.get(), kind, v,
					     LKDF_MAX_DEVICES);
			if (id < nr)
				return v[id];
			id -= nr > 0 ? nr : 0;
		}
		return nullptr;
	}

	/* Which queue a push goes to: its kind, and its place. */
	int Route(const ExecContext &ctx, Fn *f, lkdf_task *t)
	{
		size_t nr = ctx.type;
		auto at = std::find(gpus.begin(), gpus.end(), ctx.device_id);
		if (ctx.type >= ExecContext::kGPU_COMMON && at == gpus.end())
			return -ENODEV;
		if (ctx.type == ExecContext::kGPU_COMMON)
			t->place = Device(ctx.device_id);
		else if (ctx.type > ExecContext::kGPU_COMMON)
			nr = kFirstIo + (at - gpus.begin());
		else if (ctx.node >= 0)
			t->place = lkdf_place_node(rt.get(), ctx.node);
		if (!t->place && (ctx.type == ExecContext::kGPU_COMMON ||
				  (nr < kFirstIo && ctx.node >= 0)))
			return -ENODEV;
		return Kind(f, nr, &t->kind);
	}

	static void AddUses(Fn *f, const std::vector<VarHandle> &vars,
			    uint32_t mode)
	{
		for (VarHandle v : vars)
			f->uses.push_back({ lkdf_data_get(v), mode, 0 });
	}

      public:
	/*
	 * @num_cpus: workers; 0: one for each CPU there is.
	 * @gpu_ids: devices that pushes may name, by their order in the system
	 * @num_gpu_io_thread_per_device: pushes of the types kIO_CPU_to_GPU and
	 * kIO_GPU_to_CPU that run at a time, for each device
	 * @options: more of the runtime, "devices=opencl"
	 *
	 * A device has one thread that gives it work, and as many for IO; no
	 * thread is made before the first push that needs it.
	 */
	explicit ComputeEngine(int num_cpus = 0, std::vector<int> gpu_ids = {},
			       int num_gpu_io_thread_per_device = 1,
			       const char *options = "")
	    : rt(Open(num_cpus, gpu_ids, num_gpu_io_thread_per_device,
		      options)),
	      registry(rt.get()), gpus(std::move(gpu_ids))
	{
		for (size_t i = 0; i < gpus.size(); i++) {
			io_threads.push_back(nullptr);
			Check(lkdf_limit_create(rt.get(),
						num_gpu_io_thread_per_device,
						&io_threads.back()));
		}
	}
	/* An error that nobody has asked for is lost here. */
	~ComputeEngine()
	{
		WaitForAll();
		for (lkdf_limit *l : io_threads)
			lkdf_limit_put(l);
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
		f->name = name;
		f->kind.resize(kFirstIo + gpus.size());
		/* A name that will not do is told here */
		lkdf_kind *k;
		Check(Kind(f.get(), ExecContext::kCPU_COMMON, &k));
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
		int rc = Route(ctx, p->fn.get(), &t);
		if (rc)
			return rc;
		t.arg = p.get();
		t.use = p->fn->uses.data();
		t.nr_use = static_cast<uint32_t>(p->fn->uses.size());
		t.prio = ctx.priority;
		rc = lkdf_submit(rt.get(), nullptr, &t, nullptr);
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
