/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * For programs that test streaming_node.hpp: a Factory that notes the calls it
 * gets as texts. C++.
 */
#ifndef TESTS_API_STREAMING_NOTES_HPP
#define TESTS_API_STREAMING_NOTES_HPP

#include "streaming_node.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>

using namespace lk::flow;
using std::tuple;

static bool all_right = true;

static void fact(bool is_so, const char *text)
{
	std::printf("%s%s\n", is_so ? "" : "wrong: ", text);
	all_right = all_right && is_so;
}

// ---- a factory that notes

template <class T> struct noted_msg : async_msg<T> {
	noted_msg() = default;
	explicit noted_msg(T v)
	{
		this->set(std::move(v));
	}
};

struct note_range {
	int x = 0, y = 0;

	note_range(std::initializer_list<int> n)
	{
		auto at = n.begin();

		x = at[0];
		y = n.size() > 1 ? at[1] : 1;
	}
};

// What was called, as text.
struct notes {
	std::mutex lock;
	std::vector<std::string> said;
	std::atomic<int> nr_chosen{ 0 };

	void say(std::string s)
	{
		std::lock_guard<std::mutex> guard(lock);

		said.push_back(std::move(s));
	}
	std::vector<std::string> take()
	{
		std::lock_guard<std::mutex> guard(lock);

		return std::exchange(said, {});
	}
	static std::string str(int v)
	{
		return std::to_string(v);
	}
	static std::string str(const note_range &r)
	{
		return str(r.x) + "x" + str(r.y);
	}
	template <class T> static std::string text(const noted_msg<T> &m)
	{
		return " const " + str(m.get());
	}
	template <class T> static std::string text(noted_msg<T> &m)
	{
		return " " + str(m.get());
	}
};

class factory : public notes
{
      public:
	template <typename T> using async_msg_type = noted_msg<T>;
	using device_type = int;
	using kernel_type = const char *;
	using range_type = note_range;

	device_type get_somehow_an_available_device()
	{
		nr_chosen++;
		return 7;
	}
	template <typename... Args> void send_data(device_type d, Args &...args)
	{
		say("data " + std::to_string(d) + (text(args) + ... + ""));
	}
	template <typename... Args>
	void send_kernel(device_type, const kernel_type &k, const range_type &r,
			 Args &...args)
	{
		say(std::string(k) + " " + str(r) + (text(args) + ... + ""));
	}
	template <typename Fn, typename... Args>
	void finalize(device_type, Fn fn, Args &...)
	{
		say("finalize");
		fn();
	}
};

using device_type = factory::device_type;

// The calls below stand as they do in the documentation of streaming_node.
// clang-format off
struct external_device_selector { device_type operator()( factory& f ) { return f.get_somehow_an_available_device(); } };
// clang-format on

using three = streaming_node<tuple<int, int, note_range>, queueing, factory>;

static bool says(const std::vector<std::string> &said, const char *kernel)
{
	return std::find(said.begin(), said.end(), kernel) != said.end();
}

#endif
