// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Members of lkdf.hpp that no other program here uses, and troubles that none
 * has. Prints:
 *
 *   a body has a context, the program none
 *   placed on node 0: 7
 *   asked: not yet, then ready; got: no future any more
 *   a file: 5 bytes, of "hello"
 *   a socket: accepted, "x" came
 *   a loop of 5 calls, then 1 after it
 *   a value that goes round: 32
 *   a stream of 3 waves
 *   a join that throws: domain_error
 *   captures aligned to 32, 64, 256: yes
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>
#include <netinet/in.h>
#include <stdexcept>
#include <unistd.h>

static void contexts(lk::runtime &rt)
{
	bool there = rt.async([] { return lk::context() != nullptr; }).get();

	std::printf("a body has %s context, the program %s\n",
		    there ? "a" : "no", lk::context() ? "as well" : "none");
}

static void places(lk::runtime &rt)
{
	lk::with w("there");

	w.place(lkdf_place_node(rt.get(), 0));
	std::printf("placed on node 0: %d\n",
		    rt.async(w, [] { return 7; }).get());
}

static void futures(lk::runtime &rt)
{
	struct lkdf_error e = {};
	int fd[2];

	lk::must(pipe(fd));
	e.size = sizeof(e);
	auto f = rt.async(lk::poll(fd[0], 1 /* POLLIN */));
	bool is_early = f.is_ready() || !lkdf_event_error(f.event(), &e);
	lk::must(int(write(fd[1], "x", 1)));
	f.wait();
	std::printf("asked: %s, then %s", is_early ? "ready" : "not yet",
		    f.is_ready() ? "ready" : "not yet");
	f.get();
	std::printf("; got: %s\n",
		    f.valid() ? "a future" : "no future any more");
	close(fd[0]);
	close(fd[1]);
}

static void files(lk::runtime &rt)
{
	char path[] = "/tmp/lkdf-members-XXXXXX", b[6] = "";
	struct lkdf_io back = {};

	close(mkstemp(path));
	int fd = int(rt.async(lk::open(path, O_RDWR)).get());
	rt.async(lk::write(fd, lk::const_buffer("hello", 5), 0)).get();
	lk::must(int(rt.async(lk::fsync(fd)).get()));
	back.size = sizeof(back);
	back.op = LKDF_IO_READ;
	back.fd = fd;
	back.buf = b;
	back.len = 5;
	long long n = rt.async(lk::operation("read", back)).get();
	std::printf("a file: %lld bytes, of \"%s\"\n", n, b);
	rt.async(lk::close(fd)).get();
	unlink(path);
}

static void sockets(lk::runtime &rt)
{
	int door = socket(AF_INET, SOCK_STREAM, 0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in at = {};
	socklen_t size = sizeof(at);
	char b[1] = "";

	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	auto *a = reinterpret_cast<struct sockaddr *>(&at);
	lk::must(bind(door, a, size));
	lk::must(listen(door, 1));
	lk::must(getsockname(door, a, &size));
	auto accepted = rt.async(lk::accept(door));
	lk::must(int(rt.async(lk::connect(fd, a, size)).get()));
	int other = lk::must(int(accepted.get()));
	rt.async(lk::send(fd, lk::const_buffer("x", 1))).get();
	rt.async(lk::recv(other, lk::buffer(b, 1))).get();
	std::printf("a socket: accepted, \"%c\" came\n", b[0]);
	for (int end : { door, fd, other })
		close(end);
}

static void loops(lk::runtime &rt)
{
	int nr = 0, nr_after = 0;
	lk::graph g(rt);
	auto before = g.add("before", [] {});
	auto step = g.add("step", [&nr] { return lk::branch{ ++nr == 5 }; });
	auto after = g.add("after", [&nr_after] { nr_after++; });

	g.order(before, step);
	g.back(step, 0, step);
	g.choose(step, 1, after);
	g.seal();
	g.run();
	std::printf("a loop of %d calls, then %d after it\n", nr, nr_after);
}

static void values_go_round(lk::runtime &rt)
{
	long last = 0;
	lk::graph g(rt);
	auto one = g.add("one", [] { return 1L; });
	auto twice = g.add("twice", [](long v) {
		return std::pair{ lk::branch{ v >= 16 }, 2 * v };
	});
	auto end = g.add("end", [&last](long v) { last = v; });

	// The edge of the first value is the later one, see ports.rst.
	g.connect_back(0, lk::out(twice), lk::in(twice));
	g.connect(lk::out(one), lk::in(twice));
	g.connect_branch(1, lk::out(twice), lk::in(end));
	g.seal();
	g.run();
	std::printf("a value that goes round: %ld\n", last);
}

static void streams(lk::runtime &rt)
{
	int nr = 0;
	lk::graph g(rt, 4);
	auto source = g.add("source", [] { return 1; });
	auto sink = g.add("sink", [&nr](int one) { nr += one; });

	g.connect(lk::out(source), lk::in(sink));
	g.seal();
	g.stream(lk::waves().times(3));
	std::printf("a stream of %d waves\n", nr);
}

static void joins(lk::runtime &rt)
{
	auto add = [](long sum, size_t i) { return sum + long(i); };
	auto join = [](long, long) -> long { throw std::domain_error("no"); };

	try {
		rt.reduce(0, 1000, 0L, add, join, lk::grain{ 10 });
		std::printf("a join that throws: nothing\n");
	} catch (const std::domain_error &) {
		std::printf("a join that throws: domain_error\n");
	}
}

// The task copies it, and sees it on as many bytes as its type asks for.
template <size_t Align> static bool is_aligned(lk::runtime &rt)
{
	struct alignas(Align) line {
		long v;
	} one = { 1 };
	bool is_right = true;

	for (int i = 0; i < 20; i++)
		is_right &=
			rt.async([one] {
				  return !(reinterpret_cast<uintptr_t>(&one) %
					   Align);
			  }).get();
	return is_right;
}

int main()
{
	lk::runtime rt;

	contexts(rt);
	places(rt);
	futures(rt);
	files(rt);
	sockets(rt);
	loops(rt);
	values_go_round(rt);
	streams(rt);
	joins(rt);
	std::printf("captures aligned to 32, 64, 256: %s\n",
		    is_aligned<32>(rt) && is_aligned<64>(rt) &&
				    is_aligned<256>(rt)
			    ? "yes"
			    : "no");
}
