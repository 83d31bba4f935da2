// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Channels for C++17; lkdf.hpp includes this.
#ifndef LKDF_CHANNEL_HPP
#define LKDF_CHANNEL_HPP

#include <lkdf/runtime.hpp>

#include <cerrno>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <type_traits>

namespace lk
{

// Owns a struct lkdf_channel of depth values of T, which travel as bytes. It
// ends before its runtime, and after the graphs whose bodies use it.
template <class T> class channel
{
	static_assert(std::is_trivially_copyable_v<T>,
		      "a value travels as bytes: pass a pointer, or use data");
	static_assert(sizeof(T) <= LKDF_MAX_VALUE,
		      "a value has at most LKDF_MAX_VALUE bytes");

	struct put {
		void operator()(struct lkdf_channel *ch) const
		{
			lkdf_channel_put(ch);
		}
	};
	std::unique_ptr<struct lkdf_channel, put> ch_;

	// What the body returns if it has nothing else to do.
	static int told(int rc)
	{
		return rc == -EAGAIN ? LKDF_AGAIN : rc;
	}

      public:
	// flags: of enum lkdf_channel_flag; first: values that it holds
	// already.
	channel(const runtime &rt, uint32_t depth, uint32_t flags = 0,
		const char *name = nullptr, std::initializer_list<T> first = {})
	{
		struct lkdf_channel_attr a = {};
		struct lkdf_channel *ch;

		a.size = sizeof(a);
		a.flags = flags;
		a.name = name;
		a.value_size = sizeof(T);
		a.depth = depth;
		a.init = first.size() ? std::data(first) : nullptr;
		a.nr_init = uint32_t(first.size());
		must(lkdf_channel_create(rt.get(), &a, &ch));
		ch_.reset(ch);
	}
	struct lkdf_channel *get() const
	{
		return ch_.get();
	}

	// On a thread: waits for room. False: the time is up; -1 is for ever.
	bool send(const T &value, int64_t timeout_ns = -1)
	{
		return must(lkdf_channel_send(get(), &value, timeout_ns)) == 0;
	}
	// On a thread: waits for a value. None: the channel has ended; throws
	// the error that it was ended with.
	std::optional<T> recv()
	{
		T value{};
		int rc = lkdf_channel_recv(get(), &value, -1);

		if (rc == -ENODATA)
			return std::nullopt;
		must(rc);
		return value;
	}
	// In the body of add_body(): 0, or what the body returns then. That is
	// LKDF_AGAIN where there is no room, or no value, yet; a receiver may
	// do something else at the end, -ENODATA.
	int send(struct lkdf_ctx *c, const T &value)
	{
		return told(lkdf_send(c, get(), &value));
	}
	int recv(struct lkdf_ctx *c, T &value)
	{
		return told(lkdf_recv(c, get(), &value));
	}

	// Ends the channel; error: 0, or what receivers get at the end.
	void end(int error = 0)
	{
		must(lkdf_channel_end(get(), error));
	}
};

} // namespace lk

#endif
