// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The compute engine with devices: which threads it has, and when, and what
 * runs there. Two devices are emulated, or OpenCL's where an argument says so.
 * Prints:
 *
 *   none: no launcher and no IO thread before the first push for a device
 *   launcher: one for each device, which 100 pushes run on, with a queue
 *   io: 3 IO threads at a time for each of 2 devices, of 24 pushes
 *   order: copy, kernel, copy back and sum, 50 times as in the program
 *   failure: what a body on a launcher throws is the push's error
 *   lost: a completion that is not called on a launcher fails its push
 *   refused: a device that the engine was not given
 */
#include "engine.hpp"

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <pthread.h>
#include <set>
#include <stdexcept>

extern "C" {
struct lkdf_place *emu_device_add(struct lkdf *rt);
void emu_device_give(void *queue, void (*fn)(void *arg), void *arg);
}

using namespace engine;

static bool all_right = true;
static bool is_opencl;

static void Fact(bool is_so, const char *text)
{
	std::printf("%s%s\n", is_so ? "" : "wrong: ", text);
	all_right = all_right && is_so;
}

/* Threads of this process whose names begin so. */
static int CountThreads(const char *prefix)
{
	DIR *d = opendir("/proc/self/task");
	int nr = 0;

	while (dirent *e = readdir(d)) {
		std::ifstream f(std::string("/proc/self/task/") + e->d_name +
				"/comm");
		std::string name;

		std::getline(f, name);
		nr += !name.compare(0, std::strlen(prefix), prefix);
	}
	closedir(d);
	return nr;
}

static int Launchers()
{
	return CountThreads("lkdf/d");
}

static int IoThreads()
{
	return CountThreads("lkdf/b");
}

static ExecContext On(ExecContext::Type type, int device)
{
	ExecContext ctx;

	ctx.type = type;
	ctx.device_id = device;
	return ctx;
}

/* A function of the device's queue; OpenCL has kernels for that, not these. */
static void Give(void *queue, void (*fn)(void *arg), void *arg)
{
	if (is_opencl)
		fn(arg);
	else
		emu_device_give(queue, fn, arg);
}

static void NoThreads(ComputeEngine &e)
{
	FnHandle f =
		e.NewFunc([](ExecContext, Completion done) { done(); }, {}, {});
	bool is_right = !e.PushAsync(f) && !e.WaitForAll();

	Fact(is_right && !Launchers() && !IoThreads(),
	     "none: no launcher and no IO thread before the first push for a "
	     "device");
}

static void OneLauncher(ComputeEngine &e)
{
	std::set<std::string> names;
	std::atomic<int> nr{ 0 };
	std::mutex lock;
	bool is_right = true;
	FnHandle f = e.NewFunc(
		[&](ExecContext ctx, Completion done) {
			char name[16];

			pthread_getname_np(pthread_self(), name, sizeof(name));
			std::lock_guard<std::mutex> guard(lock);
			names.insert(std::to_string(ctx.device_id) + name);
			nr += ctx.queue != nullptr;
			done();
		},
		{}, {});

	for (int i = 0; i < 100; i++)
		is_right = is_right &&
			   !e.PushAsync(f, On(ExecContext::kGPU_COMMON, i % 2));
	is_right = is_right && !e.WaitForAll() && nr == 100;
	Fact(is_right && Launchers() == 2 && !IoThreads() &&
		     names == std::set<std::string>{ "0lkdf/d0", "1lkdf/d1" },
	     "launcher: one for each device, which 100 pushes run on, with a "
	     "queue");
}

/* All wait until 3 of each device are there, and then go on one by one. */
static void SomeIo(ComputeEngine &e)
{
	constexpr int kIo = 3;
	std::mutex lock;
	std::condition_variable changed;
	int inside[2] = {}, most[2] = {}, total = 0, threads = 0;
	bool is_right = true;
	FnHandle f = e.NewFunc(
		[&](ExecContext ctx, Completion done) {
			std::unique_lock<std::mutex> guard(lock);

			inside[ctx.device_id]++;
			total++;
			most[ctx.device_id] = std::max(most[ctx.device_id],
						       inside[ctx.device_id]);
			changed.notify_all();
			changed.wait(guard, [&] { return total >= 2 * kIo; });
			threads = std::max(threads, IoThreads());
			inside[ctx.device_id]--;
			guard.unlock();
			done();
		},
		{}, {});

	for (int i = 0; i < 24; i++)
		is_right =
			is_right &&
			!e.PushAsync(f,
				     On(i % 4 < 2 ? ExecContext::kIO_CPU_to_GPU
						  : ExecContext::kIO_GPU_to_CPU,
					i % 2));
	is_right = is_right && !e.WaitForAll() && total == 24;
	Fact(is_right && most[0] == kIo && most[1] == kIo &&
		     threads >= 2 * kIo && Launchers() == 2,
	     "io: 3 IO threads at a time for each of 2 devices, of 24 pushes");
}

/* What the pushes of one program work on. */
struct Numbers {
	long host = 1, there = 0, sum = 0;
};

static void Order(ComputeEngine &e)
{
	VarHandle host = e.Vars().Register("host");
	VarHandle there = e.Vars().Register("there");
	VarHandle sum = e.Vars().Register("sum");
	Numbers n;
	long want = 0, x = 1;
	FnHandle up = e.NewFunc(
		[&](ExecContext, Completion done) {
			n.there = n.host;
			done();
		},
		{ host }, { there });
	FnHandle kernel = e.NewFunc(
		[&](ExecContext ctx, Completion done) {
			Give(
				ctx.queue,
				[](void *arg) {
					auto *m = static_cast<Numbers *>(arg);
					m->there = m->there * 3 % 1009;
				},
				&n);
			done();
		},
		{}, { there });
	FnHandle down = e.NewFunc(
		[&](ExecContext, Completion done) {
			n.host = n.there;
			done();
		},
		{ there }, { host });
	FnHandle add = e.NewFunc(
		[&](ExecContext, Completion done) {
			n.sum += n.host;
			done();
		},
		{ host }, { sum });
	bool is_right = true;

	for (int i = 0; i < 50; i++) {
		is_right = is_right &&
			   !e.PushAsync(up,
					On(ExecContext::kIO_CPU_to_GPU, i % 2));
		is_right = is_right &&
			   !e.PushAsync(kernel,
					On(ExecContext::kGPU_COMMON, i % 2));
		is_right = is_right &&
			   !e.PushAsync(down,
					On(ExecContext::kIO_GPU_to_CPU, i % 2));
		is_right = is_right && !e.PushAsync(add);
		x = x * 3 % 1009;
		want += x;
	}
	is_right = is_right && !e.WaitForVar(sum) && n.sum == want;
	Fact(is_right && !e.WaitForAll(),
	     "order: copy, kernel, copy back and sum, 50 times as in the "
	     "program");
}

static void Failures(ComputeEngine &e)
{
	VarHandle v = e.Vars().Register("failure");
	FnHandle fail = e.NewFunc(
		[](ExecContext, Completion) {
			throw std::runtime_error("the fan has stopped");
		},
		{}, { v });
	FnHandle lose = e.NewFunc([](ExecContext, Completion) {}, {}, { v });
	ExecContext ctx = On(ExecContext::kGPU_COMMON, 0);
	lkdf_error why{};
	bool is_right = !e.PushAsync(fail, ctx) && e.WaitForAll() == -EIO;

	why.size = sizeof(why);
	is_right = is_right && !lkdf_scope_error(e.Runtime(), nullptr, &why) &&
		   std::strstr(why.why, "the fan has stopped");
	e.ResetVar(v);
	Fact(is_right, "failure: what a body on a launcher throws is the "
		       "push's error");
	is_right = !e.PushAsync(lose, ctx) && e.WaitForAll() == -ECANCELED;
	e.ResetVar(v);
	Fact(is_right, "lost: a completion that is not called on a launcher "
		       "fails its push");
	is_right =
		e.PushAsync(lose, On(ExecContext::kGPU_COMMON, 2)) == -ENODEV &&
		e.PushAsync(lose, On(ExecContext::kIO_GPU_to_CPU, 2)) ==
			-ENODEV;
	Fact(is_right && !e.WaitForAll(),
	     "refused: a device that the engine was not given");
}

int main(int argc, char **)
{
	is_opencl = argc > 1;
	try {
		ComputeEngine e(2, { 0, 1 }, 3,
				is_opencl ? "devices=opencl" : "");
		lkdf_place *v[2];

		for (int i = 0; i < 2 && !is_opencl; i++)
			emu_device_add(e.Runtime());
		if (is_opencl &&
		    lkdf_places(e.Runtime(), LKDF_PLACE_GPU, v, 2) < 2) {
			std::printf("SKIP %s\n", lkdf_errmsg());
			return 0;
		}
		NoThreads(e);
		OneLauncher(e);
		SomeIo(e);
		Order(e);
		Failures(e);
	} catch (const std::exception &x) {
		std::printf("wrong: %s\n", x.what());
		return 1;
	}
	return all_right ? 0 : 1;
}
