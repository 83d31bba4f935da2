// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Memory of coroutines and of results of tasks; lkdf.hpp includes this.
#ifndef LKDF_FRAMES_HPP
#define LKDF_FRAMES_HPP

#include <cstddef>
#include <mutex>
#include <new>

namespace lk
{

namespace detail
{
// A sanitizer is to see each use of a frame that has ended, and would take what
// is next in its memory for the same bytes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool keeps_frames = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool keeps_frames = false;
#else
inline constexpr bool keeps_frames = true;
#endif
#else
inline constexpr bool keeps_frames = true;
#endif

// Free frames by size, of this thread and, half a stock at a time, of all: a
// frame often ends on another thread than where it began. New ones are cut from
// a block of half a stock; they stay with the process.
class frames
{
	static constexpr size_t step = 64, nr_sizes = 32, most = 64;

	struct frame {
		frame *next;
	};
	struct stock {
		frame *first = nullptr;
		size_t nr = 0;

		void put(void *p)
		{
			first = new (p) frame{ first };
			nr++;
		}
		void *take()
		{
			frame *f = first;

			first = f->next;
			nr--;
			return f;
		}
		void give(stock &to, size_t how_many)
		{
			for (; how_many && nr; how_many--)
				to.put(take());
		}
	};
	struct shared {
		std::mutex lock;
		stock size[nr_sizes];
	};
	stock size_[nr_sizes];

	// It stays: threads may end after everything else.
	static shared &all()
	{
		static shared *s = new shared;

		return *s;
	}
	static frames &mine()
	{
		thread_local frames f;

		return f;
	}
	void fill(size_t n)
	{
		{
			std::lock_guard<std::mutex> hold(all().lock);

			all().size[n].give(size_[n], most / 2);
		}
		if (size_[n].nr)
			return;
		char *block =
			static_cast<char *>(::operator new(n *step *most / 2));
		for (size_t i = most / 2; i--;)
			size_[n].put(block + i * n * step);
	}
	void spill(size_t n)
	{
		std::lock_guard<std::mutex> hold(all().lock);

		size_[n].give(all().size[n], most / 2);
	}

      public:
	~frames()
	{
		std::lock_guard<std::mutex> hold(all().lock);

		for (size_t n = 0; n < nr_sizes; n++)
			size_[n].give(all().size[n], size_[n].nr);
	}
	static void *take(size_t bytes)
	{
		size_t n = (bytes + step - 1) / step;
		frames &f = mine();

		if (!keeps_frames || n >= nr_sizes)
			return ::operator new(bytes);
		if (!f.size_[n].nr)
			f.fill(n);
		return f.size_[n].take();
	}
	static void put(void *p, size_t bytes)
	{
		size_t n = (bytes + step - 1) / step;
		frames &f = mine();

		if (!keeps_frames || n >= nr_sizes) {
			::operator delete(p);
			return;
		}
		f.size_[n].put(p);
		if (f.size_[n].nr > most)
			f.spill(n);
	}
};
} // namespace detail

} // namespace lk

#endif
