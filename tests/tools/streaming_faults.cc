// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * streaming_node.hpp where a selector, a factory or a message fails: the graph
 * is told, nothing hangs, and the node works on. Each line is a fact that the
 * program has found true. Prints:
 *
 *   no device: a selector that throws is asked again, and told
 *   waiting: a selector waits for the kernel of the wave before
 *   failed kernel: told, its outputs fail, the next wave runs
 *   failed message: told, no function is called, nothing hangs
 *   failed range: told, the next wave runs
 *   failed constants: told, and sent with the next wave
 *   no range: told, the wave runs once there is one
 */
#include "tests/api/streaming_notes.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

// What wait_for_all() throws.
static std::string error_of(graph &g)
{
	try {
		g.wait_for_all();
	} catch (const std::exception &x) {
		return x.what();
	}
	return "";
}

// The next call of that function throws.
struct failing : factory {
	const char *fails = "";

	void try_call(const char *name)
	{
		if (std::string(fails) == name) {
			fails = "";
			throw std::runtime_error(name);
		}
	}
	template <typename... Args> void send_data(device_type d, Args &...args)
	{
		try_call("send_data");
		factory::send_data(d, args...);
	}
	template <typename... Args>
	void send_kernel(device_type d, const kernel_type &k,
			 const range_type &r, Args &...args)
	{
		try_call("send_kernel");
		factory::send_kernel(d, k, r, args...);
	}
};

using faulty = streaming_node<tuple<int, int>, queueing, failing>;

static int always_seven(failing &)
{
	return 7;
}

static void selector_throws(graph &g)
{
	failing f;
	int nr = 0;
	faulty node(
		g, "k",
		[&](failing &) {
			if (nr++ < 2)
				throw std::runtime_error("none is free");
			return 7;
		},
		f);
	bool is_so;

	node.set_range(note_range{ 2 });
	input_port<0>(node).try_put(1);
	is_so = error_of(g) == "none is free" && f.take().empty();
	input_port<1>(node).try_put(2);
	is_so = is_so && error_of(g) == "none is free";
	is_so = is_so && says(f.take(), "k 2x1 1 2") && nr == 3;
	input_port<1>(node).try_put(4);
	input_port<0>(node).try_put(3);
	is_so = is_so && error_of(g).empty() && says(f.take(), "k 2x1 3 4");
	fact(is_so,
	     "no device: a selector that throws is asked again, and told");
}

// The wave before cannot be sent while the selector holds the node's lock.
static void selector_waits(graph &g)
{
	failing f;
	int nr_chosen = 0;
	bool is_so = true;
	faulty node(
		g, "k",
		[&](failing &all) {
			int tries = 0;

			while (nr_chosen && all.take().empty() &&
			       tries++ < 10000)
				std::this_thread::sleep_for(
					std::chrono::milliseconds(1));
			is_so = is_so && tries < 10000;
			nr_chosen++;
			return 7;
		},
		f);

	node.set_range(note_range{ 1 });
	node.set_args(port_ref<0, 1>());
	for (int i = 0; i < 3; i++) {
		std::thread first([&] { input_port<0>(node).try_put(i); });
		// On one thread waits run the tasks.
		if (i)
			error_of(g);
		first.join();
		input_port<1>(node).try_put(i);
	}
	is_so = is_so && error_of(g).empty() && nr_chosen == 3;
	fact(is_so, "waiting: a selector waits for the kernel of the wave "
		    "before");
}

static void kernel_fails(graph &g)
{
	failing f;
	faulty node(g, "k", always_seven, f), behind(g, "b", always_seven, f);
	std::vector<std::string> said;
	bool is_so;

	for (faulty *n : { &node, &behind })
		n->set_range(note_range{ 1 });
	make_edge(output_port<0>(node), input_port<0>(behind));
	make_edge(output_port<1>(node), input_port<1>(behind));
	f.fails = "send_kernel";
	for (int i = 0; i < 2; i++) {
		input_port<0>(node).try_put(10 + i);
		input_port<1>(node).try_put(20 + i);
	}
	is_so = error_of(g) == "send_kernel";
	said = f.take();
	is_so = is_so && says(said, "k 1x1 11 21") && says(said, "b 1x1 11 21");
	is_so = is_so && !says(said, "b 1x1 10 20") && error_of(g).empty();
	fact(is_so, "failed kernel: told, its outputs fail, the next wave "
		    "runs");
}

static void message_fails(graph &g)
{
	std::atomic<int> got{ 0 };
	function_node<int> tell(g, [&](const int &) { got++; });
	sender<noted_msg<int>> from;
	noted_msg<int> before, after;
	bool is_so;

	make_edge(from, tell);
	from.send(before);
	before.fail();
	is_so = error_of(g) == "async_msg: failed";
	after.fail(std::make_exception_ptr(std::runtime_error("why")));
	from.send(after);
	is_so = is_so && error_of(g) == "why" && error_of(g).empty();
	fact(is_so && got == 0,
	     "failed message: told, no function is called, nothing hangs");
}

static void range_fails(graph &g)
{
	factory f;
	three node(g, "k", external_device_selector(), f);
	noted_msg<note_range> early, late;
	bool is_so;

	node.set_range(port_ref<2>);
	node.set_args(port_ref<0>);
	early.fail();
	for (const auto &m : { early, late, noted_msg<note_range>({ 2, 2 }) }) {
		input_port<0>(node).try_put(1);
		input_port<1>(node).try_put(2);
		input_port<2>(node).try_put(m);
	}
	std::this_thread::yield();
	late.fail();
	is_so = error_of(g) == "async_msg: failed";
	fact(is_so && says(f.take(), "k 2x2 1"),
	     "failed range: told, the next wave runs");
}

static void constants_fail(graph &g)
{
	failing f;
	faulty node(g, "k", always_seven, f);
	std::vector<std::string> said;
	bool is_so;

	node.set_range(note_range{ 1 });
	node.set_args(4, port_ref<0>);
	f.fails = "send_data";
	for (int i = 0; i < 2; i++) {
		input_port<0>(node).try_put(i);
		input_port<1>(node).try_put(i);
	}
	is_so = error_of(g) == "send_data";
	said = f.take();
	is_so = is_so && says(said, "data 7 const 4");
	fact(is_so && says(said, "k 1x1 const 4 1"),
	     "failed constants: told, and sent with the next wave");
}

static void range_missing(graph &g)
{
	failing f;
	faulty node(g, "k", always_seven, f);
	bool is_so;

	input_port<0>(node).try_put(1);
	input_port<1>(node).try_put(2);
	is_so = error_of(g).find("set_range()") != std::string::npos;
	is_so = is_so && f.take().empty();
	node.set_range(note_range{ 3 });
	is_so = is_so && error_of(g).empty();
	fact(is_so && says(f.take(), "k 3x1 1 2"),
	     "no range: told, the wave runs once there is one");
}

int main()
{
	lk::runtime rt;
	graph g(rt);

	selector_throws(g);
	selector_waits(g);
	kernel_fails(g);
	message_fails(g);
	range_fails(g);
	constants_fail(g);
	range_missing(g);
	return all_right ? 0 : 1;
}
