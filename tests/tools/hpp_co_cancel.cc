// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Coroutines that are cancelled at each of their awaits, or before they begin.
 * Prints:
 *
 *   cancelled in sleep: ECANCELED, which it has seen
 *   why tells the line of a recv: yes
 *   cancelled in recv: ECANCELED, which it has seen
 *   cancelled in poll: ECANCELED, which it has seen
 *   cancelled in until: ECANCELED, which it has seen
 *   cancelled in a future: ECANCELED, which it has seen
 *   cancelled in a coroutine: ECANCELED, which it has seen
 *   cancelled in all: ECANCELED, which it has seen
 *   cancelled in join: ECANCELED, which it has seen
 *   cancelled in join_here: ECANCELED, which it has seen
 *   cancelled in a group: ECANCELED, which it has seen
 *   cancelled in receive: ECANCELED, which it has seen
 *   cancelled in deliver: ECANCELED, which it has seen
 *   cancelled in a stubborn one: nothing, which it has seen
 *   deadline in sleep: ETIME, in a channel: ETIME
 *   a value for one that is cancelled: stays in the channel
 *   cancelled before it begins: ECANCELED, its argument is gone
 *   values alive: 0
 */
#include "hpp_co.hpp"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

static constexpr auto an_hour = std::chrono::hours(1);

// Of one coroutine: it is about to wait, and what has come out of the wait.
struct witness {
	std::atomic<int> is_there{ 0 };
	int seen = 0;
	lk::scope *scope = nullptr; // it is in
};

// Awaits what make() gives.
template <class Make> static lk::co<> awaits(Make make, witness *w)
{
	value v;

	w->is_there = 1;
	try {
		co_await make();
	} catch (const lk::error &e) {
		w->seen = e.code().value();
		throw;
	}
}

static lk::co<> sleeps_long()
{
	value v;

	co_await lk::sleep(an_hour);
}
static lk::co<> receives_long(int fd)
{
	char b[1];

	co_await lk::recv(fd, b);
}
// A child that cancels its parent, and succeeds.
static lk::co<> cancels_all(lk::scope *s)
{
	s->cancel();
	co_return;
}
static lk::co<> joins(lk::scope *s)
{
	value v;
	auto a = co_await lk::fork(cancels_all(s));

	co_await lk::join;
	a.get();
}
static lk::co<> joins_here(lk::scope *s)
{
	value v;
	auto a = co_await lk::fork(cancels_all(s));

	co_await lk::join_here;
	a.get();
}
static lk::co<> awaits_group(lk::scope *s)
{
	value v;
	lk::group g;

	g.run([s] { s->cancel(); });
	co_await g;
}
// Waits again and again, though it is told each time.
static lk::co<> receives_stubbornly(lk::channel<int> &ch, witness *w)
{
	value v;

	w->is_there = 1;
	for (int i = 0; i < 3; i++) {
		try {
			co_await lk::receive(ch);
			co_return;
		} catch (const lk::error &e) {
			w->seen = e.code().value();
		}
	}
}

// Does lkdf_why() come to tell that text?
static bool is_told(lk::runtime &rt, const char *text)
{
	static char all[1 << 16];

	for (int i = 0; i < 10000; i++) {
		FILE *f = std::tmpfile();
		lkdf_why(rt.get(), "text", fileno(f));
		std::rewind(f);
		all[std::fread(all, 1, sizeof(all) - 1, f)] = 0;
		std::fclose(f);
		if (std::strstr(all, text))
			return true;
		usleep(1000);
	}
	std::printf("%s", all);
	return false;
}

// Cancels what start() starts in a scope, once it is there.
template <class Start>
static void cancels(lk::runtime &rt, const char *where, Start start)
{
	witness w;
	lk::scope s(rt, "cancelled");
	w.scope = &s;
	lk::future<void> f = start(lk::with(where).in(s), &w);

	while (!w.is_there)
		usleep(100);
	if (!std::strcmp(where, "recv"))
		std::printf("why tells the line of a recv: %s\n",
			    is_told(rt, "recv at receives_long:") ? "yes"
								  : "no");
	s.cancel();
	std::string what = thrown([&] { f.get(); });
	std::printf("cancelled in %s: %s, which it has %s\n", where,
		    what.c_str(), w.seen == ECANCELED ? "seen" : "not seen");
	thrown([&] { s.wait(); });
}
template <class Make>
static void awaited(lk::runtime &rt, const char *where, Make make)
{
	cancels(rt, where, [&](const lk::with &with, witness *w) {
		return lk::start(rt, with, awaits(make, w));
	});
}
// The same of an await whose child cancels the scope.
template <class Make>
static void cancelled_by_child(lk::runtime &rt, const char *where, Make make)
{
	cancels(rt, where, [&](const lk::with &with, witness *w) {
		auto in = [=] { return make(w->scope); };

		return lk::start(rt, with, awaits(in, w));
	});
}

static void operations(lk::runtime &rt)
{
	struct lkdf_event e = event_of(rt);
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		std::abort();
	awaited(rt, "sleep", [] { return lk::sleep(an_hour); });
	awaited(rt, "recv", [&] { return receives_long(fd[0]); });
	awaited(rt, "poll", [&] { return lk::poll(fd[0], 1 /* POLLIN */); });
	awaited(rt, "until", [&] { return lk::until(e); });
	awaited(rt, "a future", [&] { return rt.async(lk::sleep(an_hour)); });
	lkdf_event_signal(e, 0);
	close(fd[0]);
	close(fd[1]);
}

static void children(lk::runtime &rt)
{
	awaited(rt, "a coroutine", sleeps_long);
	awaited(rt, "all", [] { return lk::all(three(), sleeps_long()); });
	cancelled_by_child(rt, "join", joins);
	cancelled_by_child(rt, "join_here", joins_here);
	cancelled_by_child(rt, "a group", awaits_group);
}

static void channels(lk::runtime &rt)
{
	lk::channel<int> empty(rt, 1), full(rt, 1, 0, "full", { 1 });

	awaited(rt, "receive", [&] { return lk::receive(empty); });
	awaited(rt, "deliver", [&] { return lk::deliver(full, 2); });
	cancels(rt, "a stubborn one", [&](const lk::with &with, witness *w) {
		return lk::start(rt, with, receives_stubbornly(empty, w));
	});
}

// Where its time was up before it began it has seen nothing.
static std::string seen_by(const witness &w)
{
	return name_of(w.is_there ? w.seen : ETIME);
}

static void deadlines(lk::runtime &rt)
{
	lk::channel<int> empty(rt, 1);
	witness w, at_channel;
	lk::with soon("late");

	soon.deadline(std::chrono::milliseconds(20));
	thrown([&] { lk::start(rt, soon, awaits(sleeps_long, &w)).get(); });
	thrown([&] {
		auto receives = [&] { return lk::receive(empty); };
		lk::start(rt, soon, awaits(receives, &at_channel)).get();
	});
	std::printf("deadline in sleep: %s, in a channel: %s\n",
		    seen_by(w).c_str(), seen_by(at_channel).c_str());
}

static lk::co<> receives_cancelled(lk::channel<int> &ch, lk::scope &s)
{
	s.cancel();
	co_await lk::receive(ch);
}
static lk::co<> begins_never(value v)
{
	(void)v;
	co_return;
}

static void ends(lk::runtime &rt)
{
	lk::channel<int> ch(rt, 1, 0, "one", { 1 });
	lk::scope s(rt, "over");
	lk::with in = lk::with("in").in(s);

	thrown([&] { lk::start(rt, in, receives_cancelled(ch, s)).get(); });
	std::printf("a value for one that is cancelled: %s\n",
		    lkdf_channel_count(ch.get()) ? "stays in the channel"
						 : "is gone");
	std::string what =
		thrown([&] { lk::start(rt, in, begins_never(value())).get(); });
	std::printf("cancelled before it begins: %s, its argument is %s\n",
		    what.c_str(), value::alive ? "alive" : "gone");
	thrown([&] { s.wait(); });
	thrown([&] { rt.wait(); });
	std::printf("values alive: %d\n", value::alive.load());
}

int main()
{
	lk::runtime rt("log=none");

	setvbuf(stdout, nullptr, _IOLBF, 0);
	operations(rt);
	children(rt);
	channels(rt);
	deadlines(rt);
	ends(rt);
}
