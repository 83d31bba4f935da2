// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Kinds that callables of C++17 make, and which body a thread is in; lkdf.hpp
// includes this.
#ifndef LKDF_BODY_HPP
#define LKDF_BODY_HPP

#include <lkdf/error.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace lk
{

namespace detail
{
using kind_maker = int (*)(struct lkdf *, const struct lkdf_kind_attr *,
			   struct lkdf_kind **);

// The kinds of a runtime's callables, one for each type, made when it is first
// needed. Any thread looks without a lock; entries stay until the end.
class kind_table
{
	struct entry {
		const void *key;
		uint32_t flags;
		struct lkdf_limit *limit;
		uint64_t tokens, site;
		struct lkdf_kind *kind;
		std::unique_ptr<entry> next;
	};
	// One without flags and limits.
	struct plain {
		std::atomic<const void *> key{ nullptr };
		struct lkdf_kind *kind = nullptr; // set before the key
	};
	static constexpr unsigned nr_buckets = 64;

	std::atomic<entry *> bucket_[nr_buckets] = {};
	plain plain_[nr_buckets];
	std::mutex lock_;
	bool is_closed_ = false;

	static bool is_like(const entry *e, const void *key, uint32_t flags,
			    const struct lkdf_limit_use &limit, uint64_t site)
	{
		return e->key == key && e->flags == flags &&
		       e->limit == limit.limit && e->tokens == limit.tokens &&
		       e->site == site;
	}
	static unsigned number(const void *key, uint64_t site)
	{
		return ((reinterpret_cast<uintptr_t>(key) ^ site) *
				0x9e3779b97f4a7c15ull >>
			32) %
		       nr_buckets;
	}
	// Keys are bytes side by side.
	static unsigned number_plain(const void *key)
	{
		return reinterpret_cast<uintptr_t>(key) % nr_buckets;
	}
	static struct lkdf_kind *look(const entry *e, const void *key,
				      uint32_t flags,
				      const struct lkdf_limit_use &limit,
				      uint64_t site)
	{
		while (e && !is_like(e, key, flags, limit, site))
			e = e->next.get();
		return e ? e->kind : nullptr;
	}
	struct lkdf_kind *make(const void *key, struct lkdf *rt,
			       struct lkdf_kind_attr a,
			       const struct lkdf_limit_use &limit,
			       uint64_t site, kind_maker create)
	{
		std::atomic<entry *> &b = bucket_[number(key, site)];
		std::lock_guard<std::mutex> hold(lock_);
		struct lkdf_kind *k = look(b, key, a.flags, limit, site);

		if (k)
			return k;
		if (is_closed_)
			throw error(-ECANCELED, "the runtime is at its end");
		auto e = std::make_unique<entry>();
		if (limit.limit) {
			a.limit = &limit;
			a.nr_limit = 1;
		}
		must(create(rt, &a, &e->kind));
		e->key = key;
		e->flags = a.flags;
		e->limit = limit.limit;
		e->tokens = limit.tokens;
		e->site = site;
		e->next.reset(b.load());
		k = e->kind;
		b.store(e.release());
		return k;
	}

      public:
	kind_table() = default;
	kind_table(const kind_table &) = delete;
	~kind_table()
	{
		for (auto &b : bucket_)
			delete b.load();
	}
	// The kind of the key, made from a if it is the first time. The number
	// site tells kinds of one key apart, for instance by name.
	struct lkdf_kind *get(const void *key, struct lkdf *rt,
			      const struct lkdf_kind_attr &a,
			      const struct lkdf_limit_use &limit = {},
			      uint64_t site = 0,
			      kind_maker create = lkdf_kind_create)
	{
		struct lkdf_kind *k = find(key, a.flags, limit, site);

		return k ? k : make(key, rt, a, limit, site, create);
	}
	struct lkdf_kind *find(const void *key, uint32_t flags,
			       const struct lkdf_limit_use &limit,
			       uint64_t site = 0) const
	{
		return look(bucket_[number(key, site)].load(
				    std::memory_order_acquire),
			    key, flags, limit, site);
	}
	// The same of a kind without flags and limits, as lk::group has them.
	struct lkdf_kind *find_plain(const void *key) const
	{
		const plain &p = plain_[number_plain(key)];

		return p.key.load(std::memory_order_acquire) == key ? p.kind
								    : nullptr;
	}
	struct lkdf_kind *get_plain(const void *key, struct lkdf *rt,
				    const struct lkdf_kind_attr &a)
	{
		struct lkdf_kind *k = get(key, rt, a);
		plain &p = plain_[number_plain(key)];
		std::lock_guard<std::mutex> hold(lock_);

		if (!p.key.load(std::memory_order_relaxed)) {
			p.kind = k;
			p.key.store(key, std::memory_order_release);
		}
		return k;
	}
	// Before the runtime closes: its kinds are given back.
	void close()
	{
		std::lock_guard<std::mutex> hold(lock_);

		is_closed_ = true;
		for (auto &b : bucket_)
			for (entry *e = b.load(); e; e = e->next.get())
				lkdf_kind_put(e->kind);
	}
};

// A name that the program may have made: two that read the same are one.
inline uint64_t number_of_text(const char *name)
{
	uint64_t n = 0xcbf29ce484222325ull;

	for (; *name; name++)
		n = (n ^ uint8_t(*name)) * 0x100000001b3ull;
	return n | 1ull << 63;
}

// The address is the key of a type.
template <class T> inline constexpr char key_of = 0;

// How many runtimes a place of the table of homes has had; never freed.
using lives = std::atomic<unsigned>;

// A runtime as its callables see it.
struct home {
	struct lkdf *rt = nullptr;
	kind_table kinds;
	const lives *life = nullptr;
};

// Whether the runtime that a future is of is still there.
class life
{
	const lives *of_ = nullptr;
	unsigned nr_ = 0;

      public:
	life() = default;
	explicit life(const home *h)
	    : of_(h->life), nr_(of_->load(std::memory_order_relaxed))
	{
	}
	bool goes_on() const
	{
		return of_->load(std::memory_order_acquire) == nr_;
	}
};

// The homes of all runtimes, for a group() that is given none. Any thread looks
// without a lock; an entry is of another runtime later on, and never freed.
class home_table
{
	struct entry {
		std::atomic<struct lkdf *> rt{ nullptr };
		home *of = nullptr;
		entry *next = nullptr;
		lives life{ 0 };
	};
	std::atomic<entry *> first_{ nullptr };
	std::mutex lock_;

	entry *free_one()
	{
		entry *e = first_.load(std::memory_order_relaxed);

		while (e && e->rt.load(std::memory_order_relaxed))
			e = e->next;
		if (e)
			return e;
		e = new entry;
		e->next = first_.load(std::memory_order_relaxed);
		first_.store(e, std::memory_order_release);
		return e;
	}

      public:
	void add(home *of)
	{
		std::lock_guard<std::mutex> hold(lock_);
		entry *e = free_one();

		e->of = of;
		of->life = &e->life;
		e->rt.store(of->rt, std::memory_order_release);
	}
	// Its runtime has closed.
	void remove(const home *of)
	{
		std::lock_guard<std::mutex> hold(lock_);
		entry *e = first_.load(std::memory_order_relaxed);

		while (e && (e->of != of || !e->rt.load()))
			e = e->next;
		if (!e)
			return;
		e->life.fetch_add(1, std::memory_order_release);
		e->of = nullptr;
		e->rt.store(nullptr, std::memory_order_relaxed);
	}
	// Of the runtime of a body that this thread is in; nullptr: lkdf_open()
	// has opened it, and no lk::runtime.
	home *find(struct lkdf *rt) const
	{
		const entry *e = first_.load(std::memory_order_acquire);

		while (e && e->rt.load(std::memory_order_acquire) != rt)
			e = e->next;
		return e ? e->of : nullptr;
	}
};
inline home_table homes;

// The context of the body that this thread is in, where it is one of the
// runtime, and else nullptr.
inline struct lkdf_ctx *context_in(struct lkdf *rt)
{
	struct lkdf *of;
	struct lkdf_ctx *c = lkdf_current(&of);

	return of == rt ? c : nullptr;
}

// False: the library refuses each wait for an event on this thread, since it is
// in a body or a callback.
inline bool may_wait()
{
	return lkdf_event_wait({}, 0) != -EDEADLK;
}
} // namespace detail

// The context of the body that this thread is in, for calls of the C interface:
// of a callable, a function in C, or a block of a loop; nullptr outside.
inline struct lkdf_ctx *context()
{
	return lkdf_current(nullptr);
}

} // namespace lk

#endif
