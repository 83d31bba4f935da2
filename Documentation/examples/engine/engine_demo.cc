/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The engine at work, checked: each line is a fact that the program has found
 * true; "wrong:" and exit status 1 otherwise. Prints:
 *
 *   names: x is found, taken names and unknown ones are refused
 *   order: one thread's pushes read and write as in its program
 *   pushers: 2000 pushes of 4 threads, no variable shared with a writer
 *   twice: a variable in both lists, twice in each, is one write
 *   later: a device's thread ends 50 pushes
 *   context: node, priority and type arrive with each push, 8 of 24 profiled
 *   failure: readers are skipped, the reason is told, a reset heals
 *   lost: a completion that nobody calls fails its push
 *   delete: a function and a variable go with 100 pushes pending
 */
#include "engine.hpp"

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <random>
#include <stdexcept>
#include <thread>

using namespace engine;

static bool all_right = true;

static void Fact(bool is_so, const char *text)
{
	std::printf("%s%s\n", is_so ? "" : "wrong: ", text);
	all_right = all_right && is_so;
}

/* As a device: a thread that works off what it is given. */
class Device
{
	std::mutex lock;
	std::condition_variable changed;
	std::deque<std::function<void()>> queue;
	bool is_closing = false;
	std::thread thread;

	void Serve()
	{
		std::unique_lock<std::mutex> guard(lock);
		for (;;) {
			changed.wait(guard, [this] {
				return is_closing || !queue.empty();
			});
			if (queue.empty())
				return;
			std::function<void()> job = std::move(queue.front());
			queue.pop_front();
			guard.unlock();
			job();
			guard.lock();
		}
	}

      public:
	Device() : thread([this] { Serve(); })
	{
	}
	~Device()
	{
		{
			std::lock_guard<std::mutex> guard(lock);
			is_closing = true;
		}
		changed.notify_one();
		thread.join();
	}
	void Launch(std::function<void()> job)
	{
		{
			std::lock_guard<std::mutex> guard(lock);
			queue.push_back(std::move(job));
		}
		changed.notify_one();
	}
};

static void Names(ComputeEngine &e)
{
	VarHandle x = e.Vars().Register("x");

	Fact(x && e.LookupVar("x") == x && !e.Vars().Register("x") &&
		     !e.LookupVar("y"),
	     "names: x is found, taken names and unknown ones are refused");
}

/* x = 1; y = x + 1; x = 10 y; y = x + y, a hundred times. */
static void Order(ComputeEngine &e)
{
	VarHandle x = e.LookupVar("x"), y = e.Vars().Register("order.y");
	long vx = 0, vy = 0, x_now = 0, y_now = 0;
	bool is_right = true;
	FnHandle first = e.NewFunc(
		[&](ExecContext, Completion done) {
			vx = 1;
			done();
		},
		{}, { x });
	FnHandle second = e.NewFunc(
		[&](ExecContext, Completion done) {
			vy = vx + 1;
			done();
		},
		{ x }, { y });
	FnHandle third = e.NewFunc(
		[&](ExecContext, Completion done) {
			vx = 10 * vy % 977;
			done();
		},
		{ y }, { x });
	FnHandle fourth = e.NewFunc(
		[&](ExecContext, Completion done) {
			vy += vx;
			done();
		},
		{ x, y }, { y });
	for (int i = 0; i < 100; i++) {
		for (FnHandle f : { first, second, third, fourth })
			is_right = is_right && !e.PushAsync(f);
		x_now = 10 * 2 % 977;
		y_now = 2 + x_now;
	}
	is_right = is_right && !e.WaitForVar(y) && vy == y_now;
	is_right = is_right && !e.WaitForVar(x) && vx == x_now;
	for (FnHandle f : { first, second, third, fourth })
		is_right = is_right && !e.DeleteFunc(f);
	Fact(is_right && !e.WaitForAll(),
	     "order: one thread's pushes read and write as in its program");
}

/* A variable's value, and its users now. */
struct Cell {
	VarHandle var;
	long value = 0; /* of those who write it, one at a time */
	std::atomic<int> readers{ 0 }, writers{ 0 };
};

/* Reads some cells, adds one to others; counts those who were in its way. */
static void Visit(const std::vector<Cell *> &read,
		  const std::vector<Cell *> &write, std::atomic<int> &clashes)
{
	for (Cell *c : read) {
		c->readers++;
		clashes += c->writers > 0;
	}
	for (Cell *c : write) {
		clashes += c->writers++ > 0;
		clashes += c->readers > 0;
		c->value++;
	}
	std::this_thread::yield();
	for (Cell *c : write)
		c->writers--;
	for (Cell *c : read)
		c->readers--;
}

/*
 * Each thread makes functions over random cells and pushes them, in an order
 * of its own: what one reads the other writes. Counts its writes in @nr.
 */
static int PushMany(ComputeEngine &e, std::vector<Cell> &cells, int seed,
		    std::vector<long> &nr, std::atomic<int> &clashes)
{
	std::mt19937 random(seed);
	int rc = 0;

	for (int i = 0; i < 500 && !rc; i++) {
		std::vector<Cell *> read, write;
		std::vector<VarHandle> read_vars, write_vars;
		for (size_t k = 0; k < cells.size(); k++) {
			unsigned dice = random() % 8;
			if (dice == 0) {
				write.push_back(&cells[k]);
				write_vars.push_back(cells[k].var);
				nr[k]++;
			} else if (dice < 3) {
				read.push_back(&cells[k]);
				read_vars.push_back(cells[k].var);
			}
		}
		FnHandle f = e.NewFunc(
			[read, write, &clashes](ExecContext, Completion done) {
				Visit(read, write, clashes);
				done();
			},
			read_vars, write_vars, "visit");
		rc = e.PushAsync(f);
		/* It goes after its push */
		rc = rc ? rc : e.DeleteFunc(f);
	}
	return rc;
}

static void Pushers(ComputeEngine &e)
{
	constexpr int kThreads = 4;
	std::vector<Cell> cells(16);
	std::vector<std::vector<long>> nr(kThreads, std::vector<long>(16));
	std::atomic<int> clashes{ 0 }, refused{ 0 };
	std::vector<std::thread> threads;
	bool is_right = true;

	for (size_t k = 0; k < cells.size(); k++)
		cells[k].var = e.Vars().Register(
			("cell." + std::to_string(k)).c_str());
	for (int i = 0; i < kThreads; i++)
		threads.emplace_back([&, i] {
			refused += !!PushMany(e, cells, i + 1, nr[i], clashes);
		});
	for (std::thread &t : threads)
		t.join();
	for (size_t k = 0; k < cells.size(); k++) {
		long want = 0;
		for (int i = 0; i < kThreads; i++)
			want += nr[i][k];
		is_right = is_right && !e.WaitForVar(cells[k].var) &&
			   cells[k].value == want;
	}
	is_right = is_right && !e.WaitForAll() && !clashes && !refused;
	Fact(is_right, "pushers: 2000 pushes of 4 threads, no variable shared "
		       "with a writer");
}

static void Twice(ComputeEngine &e)
{
	VarHandle x = e.LookupVar("x");
	uint64_t before = lkdf_data_version(x);
	int runs = 0;
	FnHandle f = e.NewFunc(
		[&](ExecContext, Completion done) {
			runs++;
			done();
		},
		{ x, x }, { x, x });

	bool is_right = !e.PushAsync(f) && !e.WaitForVar(x) && runs == 1;
	is_right = is_right && lkdf_data_version(x) == before + 1;
	Fact(is_right && !e.DeleteFunc(f),
	     "twice: a variable in both lists, twice in each, is one write");
}

static void Later(ComputeEngine &e, Device &device)
{
	VarHandle x = e.LookupVar("x");
	std::vector<int> seen;
	ExecContext launcher;
	bool is_right = true;
	int nr = 0;

	/* The launcher only launches; the device counts, later */
	FnHandle f = e.NewFunc(
		[&](ExecContext, Completion done) {
			device.Launch([&nr, done] {
				nr++;
				done();
			});
		},
		{}, { x }, "launcher");
	FnHandle look = e.NewFunc(
		[&](ExecContext, Completion done) {
			seen.push_back(nr);
			done();
		},
		{ x }, { e.Vars().Register("later.seen") });
	launcher.priority = LKDF_URGENT;
	for (int i = 0; i < 50; i++) {
		is_right = is_right && !e.PushAsync(f, launcher);
		is_right = is_right && !e.PushAsync(look);
	}
	is_right = is_right && !e.WaitForAll() && seen.size() == 50;
	for (size_t i = 0; i < seen.size(); i++)
		is_right = is_right && seen[i] == static_cast<int>(i) + 1;
	Fact(is_right && !e.DeleteFunc(f) && !e.DeleteFunc(look),
	     "later: a device's thread ends 50 pushes");
}

static void Context(ComputeEngine &e)
{
	VarHandle v = e.Vars().Register("context");
	std::vector<ExecContext> got;
	bool is_right = true;
	FnHandle f = e.NewFunc(
		[&](ExecContext ctx, Completion done) {
			got.push_back(ctx);
			done();
		},
		{}, { v });
	int first_node = 0;
	while (!lkdf_place_node(e.Runtime(), first_node) && first_node < 1024)
		first_node++;

	auto make = [&](int i) {
		ExecContext ctx;
		ctx.type = i % 2 ? ExecContext::kIO : ExecContext::kCPU_COMMON;
		ctx.node = i % 3 ? first_node : -1;
		ctx.priority = static_cast<lkdf_prio>(LKDF_IDLE + i % 4);
		return ctx;
	};
	for (int i = 0; i < 24; i++)
		is_right = is_right && !e.PushAsync(f, make(i), i % 3 == 0);
	is_right = is_right && !e.WaitForVar(v) && got.size() == 24;
	for (int i = 0; is_right && i < 24; i++)
		is_right = got[i].type == make(i).type &&
			   got[i].node == make(i).node &&
			   got[i].priority == make(i).priority;
	is_right = is_right && e.Measured(f).nr == 8 && !e.DeleteFunc(f);
	Fact(is_right, "context: node, priority and type arrive with each "
		       "push, 8 of 24 profiled");
}

static void Failure(ComputeEngine &e)
{
	VarHandle v = e.Vars().Register("failure.v");
	VarHandle w = e.Vars().Register("failure.w");
	lkdf_error why{};
	int runs = 0;
	FnHandle fail = e.NewFunc(
		[](ExecContext, Completion) {
			throw std::runtime_error("the disk is full");
		},
		{}, { v });
	FnHandle copy = e.NewFunc(
		[&](ExecContext, Completion done) {
			runs++;
			done();
		},
		{ v }, { w });

	bool is_right = !e.PushAsync(fail) && !e.PushAsync(copy);
	is_right = is_right && e.WaitForVar(w) == -EIO && !runs;
	is_right = is_right && e.WaitForAll() == -EIO;
	why.size = sizeof(why);
	is_right = is_right && !lkdf_scope_error(e.Runtime(), nullptr, &why) &&
		   std::string(why.why).find("the disk is full") !=
			   std::string::npos;
	is_right = is_right && !e.ResetVar(v) && !e.ResetVar(w);
	is_right = is_right && !e.PushAsync(copy) && !e.WaitForVar(w) && runs;
	is_right = is_right && !e.DeleteFunc(fail) && !e.DeleteFunc(copy);
	Fact(is_right && !e.WaitForAll(),
	     "failure: readers are skipped, the reason is told, a reset heals");
}

static void Lost(ComputeEngine &e)
{
	VarHandle v = e.Vars().Register("lost");
	FnHandle f = e.NewFunc([](ExecContext, Completion) {}, {}, { v });
	bool is_right = !e.PushAsync(f) && e.WaitForVar(v) == -ECANCELED;

	/* Which is told once. */
	is_right = is_right && !e.WaitForAll();
	Fact(is_right && !e.DeleteFunc(f),
	     "lost: a completion that nobody calls fails its push");
}

static void Delete(ComputeEngine &e, Device &device)
{
	VarHandle v = e.Vars().Register("delete");
	bool is_right = true;
	int runs = 0;
	FnHandle f = e.NewFunc(
		[&](ExecContext, Completion done) {
			device.Launch([&runs, done] {
				runs++;
				done();
			});
		},
		{}, { v });

	for (int i = 0; i < 100; i++)
		is_right = is_right && !e.PushAsync(f);
	is_right = is_right && !e.DeleteFunc(f) && !e.Vars().Delete("delete");
	is_right = is_right && !e.LookupVar("delete");
	is_right = is_right && e.PushAsync(f) == -ENOENT;
	Fact(is_right && !e.WaitForAll() && runs == 100,
	     "delete: a function and a variable go with 100 pushes pending");
}

int main()
{
	try {
		Device device;
		ComputeEngine e;

		Names(e);
		Order(e);
		Pushers(e);
		Twice(e);
		Later(e, device);
		Context(e);
		Failure(e);
		Lost(e);
		Delete(e, device);
	} catch (const std::exception &x) {
		std::fprintf(stderr, "engine_demo: %s\n", x.what());
		return 1;
	}
	return all_right ? 0 : 1;
}
