/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf by the C calls ("c"), by lkdf.hpp ("cpp") and by coroutines ("co"), on
 * one runtime for each number of workers: the question of peer_cpp.h.
 */
#include "tests/bench/peer_cpp.h"
#include "tests/bench/cpp_group.h"

#include <lkdf/co.hpp>

#include <array>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <numeric>
#include <optional>
#include <string>
#include <unistd.h>

/* The one of this number of workers, until another one is asked for. */
static lk::runtime &runtime_of(uint32_t workers)
{
	static std::unique_ptr<lk::runtime> rt;
	static uint32_t now;

	if (now != workers) {
		now = workers;
		rt.reset();
		rt.reset(new lk::runtime(
			("workers=" + std::to_string(workers)).c_str()));
	}
	return *rt;
}

static lk::runtime *rt;

/* ---- by lkdf.hpp --------------------------------------------------------- */

static int cpp_loop(struct cpp_job *j)
{
	rt->for_each(0, j->size, [x = j->x](size_t i) { x[i] += i | 1; });
	return 0;
}

static int cpp_nested(struct cpp_job *j)
{
	rt->for_each(0, cpp_rows(j), [x = j->x](size_t row) {
		size_t i = row * CPP_ROW;

		rt->for_each(i, i + CPP_ROW,
			     [x](size_t at) { x[at] += at | 1; });
	});
	return 0;
}

static int cpp_reduce(struct cpp_job *j)
{
	j->result = rt->reduce(0, j->size, uint64_t(0),
			       [x = j->x](uint64_t sum, size_t i) {
				       return sum + x[i];
			       });
	return 0;
}

static int cpp_async(struct cpp_job *j)
{
	std::vector<lk::future<uint32_t>> done;

	done.reserve(j->size);
	for (uint32_t i = 0; i < j->size; i++)
		done.push_back(rt->async([x = &j->x[i]] { return *x + 1; }));
	j->result = 0;
	for (auto &f : done)
		j->result += f.get();
	return 0;
}

static int cpp_data(struct cpp_job *j)
{
	lk::data<uint64_t> v(*rt, uint64_t(0));

	for (uint32_t i = 0; i < j->size; i++)
		rt->submit([](uint64_t &n) { n++; }, lk::update(v));
	j->result = v.read();
	return 0;
}

static int cpp_fib(struct cpp_job *j)
{
	j->result = rt->async(group_fib<lk::group>, j->size).get();
	return 0;
}

static int cpp_skynet(struct cpp_job *j)
{
	j->result = rt->async(group_skynet<lk::group>, uint64_t(0),
			      cpp_leaves(j->size))
			    .get();
	return 0;
}

static int cpp_nqueens(struct cpp_job *j)
{
	j->result = rt->async(group_queens<lk::group>,
			      cpp_board{ j->size, 0, 0, 0 })
			    .get();
	return 0;
}

/* ---- by coroutines ------------------------------------------------------- */

static lk::co<uint64_t> co_fib(uint32_t n)
{
	if (n < 2)
		co_return n;
	auto a = co_await lk::fork(co_fib(n - 1));
	uint64_t b = co_await co_fib(n - 2);

	co_await lk::join_here;
	co_return a.get() + b;
}

static int co_fib_of(struct cpp_job *j)
{
	j->result = lk::start(*rt, co_fib(j->size)).get();
	return 0;
}

using co_children = std::array<std::optional<lk::forked<uint64_t>>, CPP_QUEENS>;

static uint64_t sum_of(co_children &child, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += child[i]->get();
	return sum;
}

static lk::co<uint64_t> co_skynet(uint64_t first, uint64_t nr)
{
	if (nr == 1)
		co_return first;
	co_children child;

	nr /= CPP_FAN;
	for (uint64_t i = 0; i < CPP_FAN; i++)
		child[i].emplace(
			co_await lk::fork(co_skynet(first + i * nr, nr)));
	co_await lk::join_here;
	co_return sum_of(child, CPP_FAN);
}

static int co_skynet_of(struct cpp_job *j)
{
	j->result = lk::start(*rt, co_skynet(0, cpp_leaves(j->size))).get();
	return 0;
}

static lk::co<uint64_t> co_queens(cpp_board b)
{
	uint32_t left = cpp_free(&b);
	size_t nr = 0;

	if (!left)
		co_return uint64_t(cpp_is_full(&b));
	co_children child;
	for (; left; left &= left - 1)
		child[nr++].emplace(co_await lk::fork(
			co_queens(cpp_put(&b, left & -left))));
	co_await lk::join_here;
	co_return sum_of(child, nr);
}

static int co_nqueens_of(struct cpp_job *j)
{
	j->result =
		lk::start(*rt, co_queens(cpp_board{ j->size, 0, 0, 0 })).get();
	return 0;
}

static lk::co<uint64_t> co_end(int fd, bool sends, uint32_t rounds)
{
	char b[CPP_MESSAGE] = "";
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < 2 * rounds; i++, sends = !sends) {
		int64_t n = sends ? co_await lk::send(fd, b)
				  : co_await lk::recv(fd, b);
		if (n != CPP_MESSAGE)
			throw lk::error(n < 0 ? int(n) : -EPIPE);
		bytes += sends ? 0 : CPP_MESSAGE;
	}
	co_return bytes;
}

static int co_ping(struct cpp_job *j)
{
	std::vector<lk::future<uint64_t>> end;

	for (auto &fd : j->fd)
		for (int i = 0; i < 2; i++)
			end.push_back(
				lk::start(*rt, co_end(fd[i], i, j->size)));
	j->result = 0;
	for (auto &e : end)
		j->result += e.get();
	return 0;
}

/* ---- questions ----------------------------------------------------------- */

static const struct cpp_shape shapes[] = {
	{ "c", "loop", cpp_c_loop },	    { "cpp", "loop", cpp_loop },
	{ "c", "nested", cpp_c_loop },	    { "cpp", "nested", cpp_nested },
	{ "c", "reduce", cpp_c_reduce },    { "cpp", "reduce", cpp_reduce },
	{ "c", "async", cpp_c_async },	    { "cpp", "async", cpp_async },
	{ "c", "data", cpp_c_data },	    { "cpp", "data", cpp_data },
	{ "c", "fib", cpp_c_fib },	    { "cpp", "fib", cpp_fib },
	{ "co", "fib", co_fib_of },	    { "c", "skynet", cpp_c_skynet },
	{ "cpp", "skynet", cpp_skynet },    { "co", "skynet", co_skynet_of },
	{ "c", "nqueens", cpp_c_nqueens },  { "cpp", "nqueens", cpp_nqueens },
	{ "co", "nqueens", co_nqueens_of }, { "c", "ping", cpp_c_ping },
	{ "co", "ping", co_ping },	    { nullptr, nullptr, nullptr },
};

/* A connection of TCP on the loopback. */
static void connect_pair(int *fd)
{
	struct sockaddr_in at = {};
	socklen_t size = sizeof(at);
	int one = 1, door = socket(AF_INET, SOCK_STREAM, 0);

	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	auto *a = reinterpret_cast<struct sockaddr *>(&at);
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (door < 0 || fd[0] < 0 || bind(door, a, size) || listen(door, 1) ||
	    getsockname(door, a, &size) || connect(fd[0], a, size))
		throw lk::error(-errno, "ping: no connection");
	fd[1] = accept(door, nullptr, nullptr);
	close(door);
	for (int i = 0; i < 2; i++)
		if (setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &one,
			       sizeof(one)))
			throw lk::error(-errno, "ping: no connection");
}

static int peer_answer(struct question *q)
{
	struct cpp_job j = {};
	bool is_ping = q->nr > 1 && !strcmp(q->word[1], "ping");
	int nr;

	rt = &runtime_of(peer_number(q, 3));
	j.rt = rt->get();
	j.size = peer_number(q, 2);
	if (is_ping)
		for (auto &fd : j.fd)
			connect_pair(fd);
	nr = cpp_answer(q, shapes, &j);
	if (is_ping)
		for (auto &fd : j.fd)
			for (int end : fd)
				close(end);
	return nr;
}

int main()
{
	return peer_loop();
}
