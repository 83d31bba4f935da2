// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Coroutines that are cancelled at each of their awaits, or before they begin.
 * Prints:
 *
 *   cancelled in sleep: ECANCELED
 *   why tells the line of a recv: yes
 *   cancelled in recv: ECANCELED
 *   cancelled in until: ECANCELED
 *   cancelled in a task: ECANCELED
 *   cancelled in children: ECANCELED
 *   cancelled in several: ECANCELED
 *   cancelled in a channel: ECANCELED
 *   deadline: ETIME
 *   cancelled before it begins: ECANCELED, its argument is gone
 *   values alive: 0
 */
#include <lkdf/co.hpp>

#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

// Counts those that live, wherever a frame keeps them.
struct value {
	static inline std::atomic<int> alive{ 0 };

	value()
	{
		alive++;
	}
	value(const value &)
	{
		alive++;
	}
	~value()
	{
		alive--;
	}
};

template <class F> static std::string thrown(F f)
{
	try {
		f();
	} catch (const std::domain_error &) {
		return "domain_error";
	} catch (const lk::error &e) {
		switch (e.code().value()) {
		case ECANCELED:
			return "ECANCELED";
		case ETIME:
			return "ETIME";
		case EIO:
			return "EIO";
		}
		return e.what();
	}
	return "nothing";
}

static lk::co<int> three()
{
	co_return 3;
}
static lk::co<> waits_for(struct lkdf_event e, std::atomic<int> *has_begun)
{
	value v;

	if (has_begun)
		*has_begun = 1;
	co_await lk::until(e);
}
static struct lkdf_event event_of(lk::runtime &rt)
{
	struct lkdf_event e;

	lk::must(lkdf_event_create(rt.get(), 1, 0, &e));
	return e;
}

static constexpr auto an_hour = std::chrono::hours(1);

static lk::co<> sleeps_long(std::atomic<int> *has_begun)
{
	value v;

	*has_begun = 1;
	co_await lk::sleep(an_hour);
}
static lk::co<> receives_long(int fd, std::atomic<int> *has_begun)
{
	value v;
	char b[1];

	*has_begun = 1;
	co_await lk::recv(fd, b);
}
static lk::co<> awaits_long(lk::runtime &rt, std::atomic<int> *has_begun)
{
	value v;

	*has_begun = 1;
	co_await rt.async(lk::sleep(an_hour));
}
static lk::co<> waits_for_child(std::atomic<int> *has_begun)
{
	value v;
	auto a = co_await lk::fork(sleeps_long(has_begun));

	co_await lk::join;
	a.get();
}
static lk::co<> waits_for_several(std::atomic<int> *has_begun)
{
	value v;

	co_await lk::all(three(), sleeps_long(has_begun));
}
static lk::co<> waits_for_value(lk::channel<int> &ch,
				std::atomic<int> *has_begun)
{
	value v;

	*has_begun = 1;
	co_await lk::receive(ch);
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

template <class Start>
static void cancelled(lk::runtime &rt, const char *where, Start start)
{
	std::atomic<int> has_begun{ 0 };
	lk::scope s(rt, "cancelled");
	lk::with w(where);

	w.in(s);
	{
		lk::future<void> f = start(w, &has_begun);

		while (!has_begun)
			usleep(100);
		if (!std::strcmp(where, "recv"))
			std::printf("why tells the line of a recv: %s\n",
				    is_told(rt, "recv at receives_long:")
					    ? "yes"
					    : "no");
		s.cancel();
		std::string what = thrown([&] { f.get(); });
		std::printf("cancelled in %s: %s\n", where, what.c_str());
	}
	thrown([&] { s.wait(); });
}

static void cancels(lk::runtime &rt)
{
	struct lkdf_event e = event_of(rt);
	lk::channel<int> ch(rt, 1);
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		std::abort();
	cancelled(rt, "sleep", [&](auto &w, auto *b) {
		return lk::start(rt, w, sleeps_long(b));
	});
	cancelled(rt, "recv", [&](auto &w, auto *b) {
		return lk::start(rt, w, receives_long(fd[0], b));
	});
	cancelled(rt, "until", [&](auto &w, auto *b) {
		return lk::start(rt, w, waits_for(e, b));
	});
	cancelled(rt, "a task", [&](auto &w, auto *b) {
		return lk::start(rt, w, awaits_long(rt, b));
	});
	cancelled(rt, "children", [&](auto &w, auto *b) {
		return lk::start(rt, w, waits_for_child(b));
	});
	cancelled(rt, "several", [&](auto &w, auto *b) {
		return lk::start(rt, w, waits_for_several(b));
	});
	cancelled(rt, "a channel", [&](auto &w, auto *b) {
		return lk::start(rt, w, waits_for_value(ch, b));
	});
	lkdf_event_signal(e, 0);
	close(fd[0]);
	close(fd[1]);
}

static lk::co<> begins_never(value v)
{
	(void)v;
	co_return;
}

static void ends(lk::runtime &rt)
{
	std::atomic<int> has_begun{ 0 };
	lk::with w("late");
	lk::scope s(rt, "over");

	w.deadline(std::chrono::milliseconds(20));
	std::printf("deadline: %s\n",
		    thrown([&] {
			    lk::start(rt, w, sleeps_long(&has_begun)).get();
		    }).c_str());
	s.cancel();
	std::string what = thrown([&] {
		lk::start(rt, lk::with("never").in(s), begins_never(value()))
			.get();
	});
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
	cancels(rt);
	ends(rt);
}
