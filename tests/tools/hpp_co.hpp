// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// What the tests of coroutines share.
#ifndef TESTS_TOOLS_HPP_CO_HPP
#define TESTS_TOOLS_HPP_CO_HPP

#include <lkdf/co.hpp>

#include <string>

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

inline std::string name_of(int code)
{
	switch (code) {
	case ECANCELED:
		return "ECANCELED";
	case ETIME:
		return "ETIME";
	case EIO:
		return "EIO";
	}
	return std::to_string(code);
}

template <class F> std::string thrown(F f)
{
	try {
		f();
	} catch (const std::domain_error &) {
		return "domain_error";
	} catch (const lk::error &e) {
		return name_of(e.code().value());
	}
	return "nothing";
}

inline struct lkdf_event event_of(lk::runtime &rt)
{
	struct lkdf_event e;

	lk::must(lkdf_event_create(rt.get(), 1, 0, &e));
	return e;
}

inline lk::co<int> three()
{
	co_return 3;
}

inline lk::co<> waits_for(struct lkdf_event e)
{
	value v;

	co_await lk::until(e);
}

#endif
