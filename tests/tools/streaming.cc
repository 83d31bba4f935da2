// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * streaming_node.hpp as its users write it: the calls of its documentation,
 * with a Factory that notes what it is asked for, and with that for devices of
 * lkdf, here the emulated one, or OpenCL's where an argument says so. Each line
 * is a fact that the program has found true. Prints:
 *
 *   ranges and arguments: constants, ports, mixed, in their order
 *   constants: sent to a device once, again after set_args()
 *   selector: once a wave, at its first input
 *   unused: an input that no argument names passes through
 *   finalize: only where nobody takes the results
 *   later: a message is pending until it is set, once
 *   no ranges: a factory without them has no set_range()
 *   copies: a copied node has kernel, arguments and range, no edges
 *   device: 3 nodes, one after another, on 1000 elements
 *   uploads: an input goes to the device when it comes, before the others do
 *   queueing: 10000 messages of two threads, each meets its partner
 *   key_matching: 10000 messages in two random orders, each does so
 */
#include "tests/api/streaming_notes.hpp"

#include "device_factory.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <thread>

extern "C" {
struct lkdf_place *emu_device_add(struct lkdf *rt);
}

class rangeless : public notes
{
      public:
	template <typename T> using async_msg_type = noted_msg<T>;
	using device_type = int;
	using kernel_type = int;

	template <typename... Args> void send_data(device_type, Args &...)
	{
	}
	template <typename... Args>
	void send_kernel(device_type, const kernel_type &, Args &...args)
	{
		say("kernel" + (text(args) + ... + ""));
	}
	template <typename Fn, typename... Args>
	void finalize(device_type, Fn fn, Args &...)
	{
		fn();
	}
};

// One wave of 1, 2 and a range of 30 x 40, and what the factory has said.
static std::vector<std::string> wave(graph &g, factory &f, three &node)
{
	input_port<0>(node).try_put(1);
	input_port<1>(node).try_put(2);
	input_port<2>(node).try_put(note_range{ 30, 40 });
	g.wait_for_all();
	return f.take();
}

static void arguments_and_ranges(graph &g)
{
	factory f;
	three node(g, "k", external_device_selector(), f);
	int width = 5, height = 6;
	bool is_so;

	// clang-format off
	node.set_range( {{ width, height }} ); node.set_args(/* stride_x */ 1, /* stride_y */ 0, /* stride_z */ 0, /* dim */ 1 );
	is_so = says(wave(g, f, node), "k 5x6 const 1 const 0 const 0 const 1");
	node.set_range( port_ref<2> ); node.set_args( port_ref<0, 1> );
	is_so = is_so && says(wave(g, f, node), "k 30x40 1 2");
	node.set_range( port_ref<2>() ); node.set_args( port_ref<0, 1>() );
	is_so = is_so && says(wave(g, f, node), "k 30x40 1 2");
	node.set_range( port_ref<2> ); node.set_args( port_ref<0, 1>() );
	is_so = is_so && says(wave(g, f, node), "k 30x40 1 2");
	node.set_range( port_ref<2> ); node.set_args( port_ref<0, 1>(), /* stride_x */ 1, /* stride_y */ 0, /* stride_z */ 0, /* dim */ 1 );
	is_so = is_so && says(wave(g, f, node), "k 30x40 1 2 const 1 const 0 const 0 const 1");
	// clang-format on
	node.set_args(9, port_ref<1>, 8, port_ref<0>());
	is_so = is_so && says(wave(g, f, node), "k 30x40 const 9 2 const 8 1");
	node.set_range(note_range{ 3, 4 });
	is_so = is_so && says(wave(g, f, node), "k 3x4 const 9 2 const 8 1");
	fact(is_so,
	     "ranges and arguments: constants, ports, mixed, in their order");

	node.set_args(4, port_ref<0>);
	is_so = says(wave(g, f, node), "data 7 const 4");
	is_so = is_so && !says(wave(g, f, node), "data 7 const 4");
	node.set_args(4, port_ref<0>);
	is_so = is_so && says(wave(g, f, node), "data 7 const 4");
	fact(is_so, "constants: sent to a device once, again after set_args()");
}

static void selectors(graph &g)
{
	factory f;
	three node(g, "k", external_device_selector(), f);
	bool is_so = true;

	node.set_range(note_range{ 1 });
	node.set_args();
	for (int i = 1; i <= 5; i++) {
		input_port<1>(node).try_put(i);
		is_so = is_so && f.nr_chosen == i;
	}
	for (int i = 1; i <= 5; i++) {
		input_port<0>(node).try_put(i);
		input_port<2>(node).try_put(note_range{ 1 });
	}
	g.wait_for_all();
	fact(is_so && f.nr_chosen == 5, "selector: once a wave, at its first "
					"input");
}

static void unused_inputs(graph &g)
{
	factory f;
	three node(g, "k", external_device_selector(), f);
	std::atomic<int> got{ 0 };
	function_node<int> tell(g, [&](const int &v) { got = v; });
	bool is_so;

	node.set_range(port_ref<2>);
	node.set_args(port_ref<0>);
	is_so = node.uses_port(0) && !node.uses_port(1) && node.uses_port(2);
	is_so = is_so && says(wave(g, f, node), "finalize");
	make_edge(output_port<1>(node), tell);
	auto said = wave(g, f, node);
	fact(is_so && got == 2 && says(said, "k 30x40 1"),
	     "unused: an input that no argument names passes through");
	fact(!says(said, "finalize"),
	     "finalize: only where nobody takes the results");
}

static void messages(graph &g)
{
	factory f;
	three node(g, "k", external_device_selector(), f);
	noted_msg<note_range> range;
	noted_msg<int> twice(1);
	bool is_so, is_refused = false;

	node.set_range(port_ref<2>);
	node.set_args();
	input_port<0>(node).try_put(1);
	input_port<1>(node).try_put(noted_msg<int>(2));
	input_port<2>(node).try_put(range);
	std::this_thread::yield();
	is_so = f.take().empty() && !range.is_set();
	range.set(note_range{ 2, 2 });
	g.wait_for_all();
	is_so = is_so && says(f.take(), "k 2x2");
	try {
		twice.set(2);
	} catch (const std::logic_error &) {
		is_refused = true;
	}
	fact(is_so && is_refused && twice.get() == 1,
	     "later: a message is pending until it is set, once");
}

template <class Node, class = void> struct has_range : std::false_type {
};
template <class Node>
struct has_range<Node, std::void_t<decltype(std::declval<Node &>().set_range(
			       port_ref<0>()))>> : std::true_type {
};

static void without_ranges(graph &g)
{
	using node_type = streaming_node<tuple<int>, queueing, rangeless>;
	rangeless f;
	node_type node(
		g, 0, [](rangeless &) { return 0; }, f);

	input_port<0>(node).try_put(5);
	g.wait_for_all();
	fact(!has_range<node_type>::value && has_range<three>::value &&
		     says(f.take(), "kernel 5"),
	     "no ranges: a factory without them has no set_range()");
}

static void copies(graph &g)
{
	factory f;
	three node(g, "k", external_device_selector(), f);
	std::atomic<int> nr{ 0 };
	function_node<int> tell(g, [&](const int &) { nr++; });

	node.set_range(port_ref<2>);
	node.set_args(port_ref<1>, 3);
	make_edge(output_port<0>(node), tell);
	three copy(node);
	three moved(std::move(copy));
	fact(says(wave(g, f, moved), "k 30x40 2 const 3") && nr == 0,
	     "copies: a copied node has kernel, arguments and range, no edges");
}

// ---- on a device

static const char text[] =
	"kernel void axpy(global long *x, global long *y, int a)\n"
	"{\n\tsize_t i = get_global_id(0);\n\ty[i] += a * x[i];\n}\n"
	"kernel void pair(global long *x, global long *y)\n"
	"{\n\ty[0] = x[0] == y[0] ? 0 : 1;\n}\n";

static device_kernel kernel(lk::runtime &rt, const char *name)
{
	struct lkdf_code c[2] = {};

	c[0].device = "emu";
	c[0].image = name;
	c[1].device = "opencl";
	c[1].image = text;
	c[1].entry = name;
	return device_kernel(rt, name, { c[0], c[1] });
}

using longs = buffer<long>;
using two = streaming_node<tuple<longs, longs>, queueing, device_factory>;

// y += 2 x; then x += 3 y; then y += x.
static void three_nodes(lk::runtime &rt, graph &g)
{
	device_factory f(g);
	auto last = [](device_factory &d) { return d.devices().back(); };
	two a(g, kernel(rt, "axpy"), last, f), b(a), c(a);
	std::vector<long> x(1000), y(1000, 1), want(1000);
	std::atomic<long> wrong{ -1 };

	std::iota(x.begin(), x.end(), 0);
	for (size_t i = 0; i < x.size(); i++) {
		long vx = x[i], vy = y[i];

		vy += 2 * vx;
		vx += 3 * vy;
		want[i] = vy + vx;
	}
	a.set_args(port_ref<0, 1>, 2);
	b.set_args(port_ref<1>, port_ref<0>, 3);
	c.set_args(port_ref<0, 1>, 1);
	for (two *n : { &a, &b, &c })
		n->set_range({ 1000 });
	make_edge(output_port<0>(a), input_port<0>(b));
	make_edge(output_port<1>(a), input_port<1>(b));
	make_edge(output_port<0>(b), input_port<0>(c));
	make_edge(output_port<1>(b), input_port<1>(c));
	function_node<longs> check(g, [&](const longs &v) {
		wrong = 0;
		for (size_t i = 0; i < v.size(); i++)
			wrong += v[i] != want[i];
	});
	make_edge(output_port<1>(c), check);
	input_port<0>(a).try_put(longs(rt, x));
	input_port<1>(a).try_put(longs(rt, y));
	g.wait_for_all();
	fact(wrong == 0,
	     "device: 3 nodes, one after another, on 1000 elements");
}

static uint64_t uploaded(lk::runtime &rt)
{
	uint64_t nr = 0;

	lkdf_stat(rt.get(), "lkdf.device.uploaded_bytes", &nr);
	return nr;
}

// Nothing else runs: what has gone there when the runtime is at rest has gone
// because the input came. An input that is no argument does not go.
static void uploads_begin(lk::runtime &rt, graph &g)
{
	const uint64_t bytes = 1000 * sizeof(long);
	device_factory f(g);
	auto last = [](device_factory &d) { return d.devices().back(); };
	two a(g, kernel(rt, "axpy"), last, f);
	longs x(rt, std::vector<long>(1000, 1)),
		y(rt, std::vector<long>(1000, 2));
	uint64_t begin = uploaded(rt);
	bool is_so;

	a.set_args(port_ref<0, 1>, 2);
	a.set_range({ 1000 });
	input_port<1>(a).try_put(y);
	rt.wait();
	is_so = uploaded(rt) - begin == bytes;
	input_port<0>(a).try_put(x);
	g.wait_for_all();
	is_so = is_so && uploaded(rt) - begin == 2 * bytes;
	is_so = is_so && y.read() == std::vector<long>(1000, 4);

	a.set_args(port_ref<0>, port_ref<0>, 2);
	begin = uploaded(rt);
	input_port<1>(a).try_put(y);
	rt.wait();
	is_so = is_so && uploaded(rt) == begin;
	input_port<0>(a).try_put(x);
	g.wait_for_all();
	fact(is_so,
	     "uploads: an input goes to the device when it comes, before the others do");
}

// Two threads send numbers, each in an order of its own.
template <class JP>
static long mismatches(lk::runtime &rt, graph &g, bool is_shuffled)
{
	constexpr int nr = 5000; // of each port
	device_factory f(g);
	streaming_node<tuple<longs, longs>, JP, device_factory> node(
		g, kernel(rt, "pair"),
		[](device_factory &d) { return d.devices().front(); }, f);
	std::atomic<long> bad{ 0 }, seen{ 0 };
	function_node<longs> check(g, [&](const longs &v) {
		bad += v[0];
		seen++;
	});
	std::vector<int> order[2];
	std::vector<std::thread> threads;
	auto send = [&](auto &port, const std::vector<int> &all) {
		for (int i : all)
			port.try_put(longs(rt, { i }, i));
	};

	for (int i = 0; i < 2; i++) {
		order[i].resize(nr);
		std::iota(order[i].begin(), order[i].end(), 0);
		if (is_shuffled)
			std::shuffle(order[i].begin(), order[i].end(),
				     std::mt19937(i + 1));
	}
	node.set_range({ 1 });
	make_edge(output_port<1>(node), check);
	threads.emplace_back([&] { send(input_port<0>(node), order[0]); });
	threads.emplace_back([&] { send(input_port<1>(node), order[1]); });
	for (auto &t : threads)
		t.join();
	g.wait_for_all();
	return seen == nr ? bad.load() : -1;
}

int main(int argc, char **)
{
	lk::runtime rt(argc > 1 ? "devices=opencl" : nullptr);
	try {
		graph g(rt);

		if (argc == 1)
			emu_device_add(rt.get());
		if (device_factory(g).devices().empty()) {
			std::printf("SKIP %s\n", lkdf_errmsg());
			return 0;
		}
		arguments_and_ranges(g);
		selectors(g);
		unused_inputs(g);
		messages(g);
		without_ranges(g);
		copies(g);
		three_nodes(rt, g);
		uploads_begin(rt, g);
		fact(!mismatches<queueing>(rt, g, false),
		     "queueing: 10000 messages of two threads, each meets its partner");
		fact(!mismatches<key_matching<uint64_t>>(rt, g, true),
		     "key_matching: 10000 messages in two random orders, each does so");
	} catch (const std::exception &x) {
		std::printf("wrong: %s\n", x.what());
		return 1;
	}
	return all_right ? 0 : 1;
}
