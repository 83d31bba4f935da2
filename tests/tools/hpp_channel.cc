// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Channels of lkdf.hpp. Prints:
 *
 *   a stream from channel to channel: 100 values, their sum is 328350
 *   the latest value is 9
 *   a full channel: the time is up
 *   a send after the end: Broken pipe
 *   a channel that ended with an error: Protocol error
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>
#include <cstring>
#include <thread>

struct value {
	long n, square;
};

static void streams(lk::runtime &rt)
{
	using port = std::tuple<long>;
	using none = std::tuple<>;
	lk::channel<long> in(rt, 4);
	lk::channel<value> out(rt, 8, 0, "out");
	lk::graph g(rt, 4);
	long nr = 0, sum = 0;

	auto take = g.add_body<none, port>("take", [&in](struct lkdf_ctx *c) {
		int rc = in.recv(c, *static_cast<long *>(lkdf_out(c, 0)));

		return rc == -ENODATA ? LKDF_END : rc;
	});
	auto give = g.add_body<port, none>("give", [&out](struct lkdf_ctx *c) {
		long n = *static_cast<const long *>(lkdf_in(c, 0));

		return out.send(c, { n, n * n });
	});

	g.connect(lk::out(take), lk::in(give));
	g.seal();

	std::thread feeder([&in] {
		for (long n = 0; n < 100; n++)
			in.send(n);
		in.end();
	});
	std::thread reader([&] {
		while (auto v = out.recv()) {
			nr += v->square == v->n * v->n;
			sum += v->square;
		}
	});

	g.stream();
	out.end();
	feeder.join();
	reader.join();
	std::printf("a stream from channel to channel: %ld values, their sum "
		    "is %ld\n",
		    nr, sum);
}

static void latest(lk::runtime &rt)
{
	lk::channel<int> ch(rt, 1, LKDF_CHANNEL_LATEST);

	for (int i = 0; i < 10; i++)
		ch.send(i);
	std::printf("the latest value is %d\n", *ch.recv());
}

static void errors(lk::runtime &rt)
{
	lk::channel<int> ch(rt, 1);

	ch.send(1);
	std::printf("a full channel: %s\n",
		    ch.send(2, 1000) ? "sent" : "the time is up");
	ch.end(-EPROTO);
	try {
		ch.send(3);
	} catch (const lk::error &e) {
		std::printf("a send after the end: %s\n",
			    std::strerror(e.code().value()));
	}
	ch.recv();
	try {
		ch.recv();
	} catch (const lk::error &e) {
		std::printf("a channel that ended with an error: %s\n",
			    std::strerror(e.code().value()));
	}
}

int main()
{
	lk::runtime rt("log=none");

	streams(rt);
	latest(rt);
	errors(rt);
	return 0;
}
