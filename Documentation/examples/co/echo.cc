// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A server and its client as coroutines: both wait, and no thread does.
 * Prints:
 *
 *   the server has answered 3 times, with 15 bytes
 */
#include <lkdf/co.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

static lk::co<int> serve(int fd)
{
	char b[4096];
	int nr = 0;
	int64_t n;

	while ((n = co_await lk::recv(fd, b)) > 0) {
		co_await lk::send(fd, lk::const_buffer(b, size_t(n)));
		nr++;
	}
	co_return nr;
}

static lk::co<size_t> ask(int fd)
{
	std::string said, text = "hello";
	char b[4096];

	for (int i = 0; i < 3; i++) {
		co_await lk::send(fd, text);
		int64_t n = co_await lk::recv(fd, b);
		if (n <= 0)
			throw lk::error(int(n), "the server says nothing");
		said.append(b, size_t(n));
	}
	shutdown(fd, SHUT_WR);
	co_return said.size();
}

int main()
{
	lk::runtime rt;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd))
		return EXIT_FAILURE;
	auto server = lk::start(rt, serve(fd[0]));
	auto client = lk::start(rt, ask(fd[1]));
	size_t bytes = client.get();
	std::printf("the server has answered %d times, with %zu bytes\n",
		    server.get(), bytes);
}
