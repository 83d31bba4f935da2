// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// lk::sort(); algorithm.hpp includes this.
#ifndef LKDF_SORT_HPP
#define LKDF_SORT_HPP

#include <lkdf/parts.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <vector>

namespace lk
{

namespace detail
{
// An array beside the elements, as large; what is moved into it first is made.
template <class T> class sort_buffer
{
	T *items_;
	uint64_t nr_ = 0;

      public:
	explicit sort_buffer(uint64_t nr)
	    : items_(static_cast<T *>(::operator new (
		      nr * sizeof(T), std::align_val_t{ alignof(T) })))
	{
	}
	sort_buffer(const sort_buffer &) = delete;
	~sort_buffer()
	{
		std::destroy_n(items_, nr_);
		::operator delete (items_, std::align_val_t{ alignof(T) });
	}
	T *items() const
	{
		return items_;
	}
	void all_are_made(uint64_t nr)
	{
		nr_ = nr;
	}
};

// A stable sort by merging, as lib/api/sort.c has it. After an exception no
// comparison is called any more: what is left is moved without any, so that no
// element is lost.
template <class I, class Less> class sorter
{
	using T = typename std::iterator_traits<I>::value_type;
	static constexpr uint64_t small = 16, runs_per_worker = 4,
				  shortest_run = 1024, chunks_per_run = 4;
	// Cheap to copy: the merge has no branch that depends on a comparison.
	static constexpr bool is_plain =
		std::is_trivially_copyable_v<T> && sizeof(T) <= 16;

	struct lkdf *rt_;
	const loop_options &o_;
	I base_;
	uint64_t nr_, run_, nr_runs_, chunk_, nr_chunks_;
	Less &less_;
	sort_buffer<T> buffer_;
	std::vector<char> is_done_; // each part by who runs it
	std::vector<uint64_t> split_;
	std::atomic<bool> has_failed_{ false };
	first_thrown thrown_;
	int error_ = 0;

	bool is_less(const T &b, const T &a) noexcept
	{
		if constexpr (noexcept(less_(b, a))) {
			return less_(b, a);
		} else {
			if (has_failed_.load(std::memory_order_relaxed))
				return false;
			try {
				return less_(b, a);
			} catch (...) {
				thrown_.keep();
				has_failed_.store(true,
						  std::memory_order_relaxed);
				return false;
			}
		}
	}

	template <class A> void insert_here(A x, uint64_t nr) noexcept
	{
		for (uint64_t i = 1; i < nr; i++) {
			uint64_t at = i;

			if (!is_less(x[i], x[i - 1]))
				continue;
			T item = std::move(x[i]);
			do {
				x[at] = std::move(x[at - 1]);
				at--;
			} while (at && is_less(item, x[at - 1]));
			x[at] = std::move(item);
		}
	}
	template <class A, class B>
	void insert_into(A from, B to, uint64_t nr) noexcept
	{
		for (uint64_t i = 0; i < nr; i++) {
			uint64_t at = i;

			for (; at && is_less(from[i], to[at - 1]); at--)
				to[at] = std::move(to[at - 1]);
			to[at] = std::move(from[i]);
		}
	}
	template <class A, class B>
	void merge(A a, uint64_t nr_a, A b, uint64_t nr_b, B to) noexcept
	{
		A end_a = a + nr_a, end_b = b + nr_b;

		while (a != end_a && b != end_b) {
			bool right = is_less(*b, *a);

			if constexpr (is_plain) {
				*to = right ? *b : *a;
				a += !right;
				b += right;
			} else if (right) {
				*to = std::move(*b++);
			} else {
				*to = std::move(*a++);
			}
			++to;
		}
		to = std::move(a, end_a, to);
		std::move(b, end_b, to);
	}
	// The elements are in x; they end there, or in y.
	template <class A, class B>
	void sort_run(A x, B y, uint64_t nr, bool into_y) noexcept
	{
		uint64_t half = nr / 2;

		if (nr <= small && into_y) {
			insert_into(x, y, nr);
		} else if (nr <= small) {
			insert_here(x, nr);
		} else {
			sort_run(x, y, half, !into_y);
			sort_run(x + half, y + half, nr - half, !into_y);
			if (into_y)
				merge(x, half, x + half, nr - half, y);
			else
				merge(y, half, y + half, nr - half, x);
		}
	}
	uint64_t within(uint64_t i) const
	{
		return std::min(i, nr_);
	}
	void sort_one(uint64_t i, bool into_buffer) noexcept
	{
		uint64_t from = within(i * run_);
		uint64_t nr = within((i + 1) * run_) - from;
		I x = base_ + from;
		T *y = buffer_.items() + from;

		std::uninitialized_move_n(x, nr, y);
		sort_run(y, x, nr, !into_buffer);
	}

	// Two runs, and where a chunk begins in what they make.
	struct pair {
		uint64_t begin, nr_a, nr_b, at;
	};
	pair pair_of(uint64_t chunk, uint64_t width) const
	{
		uint64_t at = chunk * chunk_;
		uint64_t begin = within(at / (2 * width) * (2 * width));
		uint64_t middle = within(begin + width);
		uint64_t end = within(begin + 2 * width);

		return { begin, middle - begin, end - middle,
			 std::min(at - begin, end - begin) };
	}
	// How many of the first p.at elements are of the left run.
	template <class A> uint64_t split_of(A from, const pair &p) noexcept
	{
		A a = from + p.begin, b = a + p.nr_a;
		uint64_t low = p.at > p.nr_b ? p.at - p.nr_b : 0;
		uint64_t high = std::min(p.at, p.nr_a);

		while (low < high) {
			uint64_t middle = low + (high - low) / 2;

			if (is_less(b[p.at - middle - 1], a[middle]))
				high = middle;
			else
				low = middle + 1;
		}
		return low;
	}
	// A comparison that contradicts itself gives any splits.
	template <class A> void split_all(A from, uint64_t width) noexcept
	{
		uint64_t a = 0;

		for (uint64_t i = 0; i < nr_chunks_; i++) {
			pair p = pair_of(i, width);
			uint64_t low, most;

			if (!p.at)
				a = 0;
			low = std::max(a, p.at > p.nr_b ? p.at - p.nr_b : 0);
			most = std::min({ p.nr_a, p.at, a + chunk_ });
			a = std::max(low, std::min(split_of(from, p), most));
			split_[i] = a;
		}
	}
	template <class A, class B>
	void merge_chunk(A from, B to, uint64_t width, uint64_t i) noexcept
	{
		pair p = pair_of(i, width), next = pair_of(i + 1, width);
		A a = from + p.begin, b = a + p.nr_a;
		uint64_t at_a = split_[i], at_b = p.at - at_a;
		uint64_t to_a = p.nr_a, to_b = p.nr_b;

		if (i + 1 < nr_chunks_ && next.begin == p.begin) {
			to_a = split_[i + 1];
			to_b = next.at - to_a;
		}
		merge(a + at_a, to_a - at_a, b + at_b, to_b - at_b,
		      to + p.begin + p.at);
	}

	// part(i) for each i < nr, on this thread where the loop ends early.
	template <class F> void run_parts(uint64_t nr, F part)
	{
		std::fill(is_done_.begin(), is_done_.end(), 0);
		auto once = [&](uint64_t i) {
			part(i);
			is_done_[i] = 1;
		};

		try {
			for_parts(rt_, nr, once, "lk::sort", o_);
		} catch (...) {
			thrown_.keep();
			has_failed_.store(true, std::memory_order_relaxed);
		}
		if (!has_failed_.load(std::memory_order_relaxed))
			return;
		for (uint64_t i = 0; i < nr; i++)
			if (!is_done_[i])
				once(i);
	}
	template <class A, class B>
	void merge_pass(A from, B to, uint64_t width)
	{
		split_all(from, width);
		run_parts(nr_chunks_, [this, from, to, width](uint64_t i) {
			merge_chunk(from, to, width, i);
		});
	}
	void plan()
	{
		uint64_t most =
			runs_per_worker * uint64_t(lkdf_nr_workers(rt_));
		uint64_t runs = 1;

		while (runs < most && nr_ / (2 * runs) >= shortest_run)
			runs *= 2;
		chunk_ = (nr_ - 1) / (runs * chunks_per_run) + 1;
		run_ = chunk_ * chunks_per_run;
		nr_runs_ = (nr_ - 1) / run_ + 1;
		nr_chunks_ = (nr_ - 1) / chunk_ + 1;
		is_done_.resize(nr_chunks_);
		split_.resize(nr_chunks_);
	}

      public:
	sorter(struct lkdf *rt, I base, uint64_t nr, Less &less,
	       const loop_options &o)
	    : rt_(rt), o_(o), base_(base), nr_(nr), less_(less), buffer_(nr)
	{
		plan();
	}
	void sort()
	{
		bool in_buffer = false;

		for (uint64_t w = run_; w < nr_; w *= 2)
			in_buffer = !in_buffer;
		run_parts(nr_runs_, [this, in_buffer](uint64_t i) {
			sort_one(i, in_buffer);
		});
		buffer_.all_are_made(nr_);
		for (uint64_t w = run_; w < nr_; w *= 2) {
			if (in_buffer)
				merge_pass(buffer_.items(), base_, w);
			else
				merge_pass(base_, buffer_.items(), w);
			in_buffer = !in_buffer;
		}
		thrown_.rethrow(0);
	}
};
} // namespace detail

// Stable: equal elements keep their order. It needs memory for as many elements
// again. With a less that contradicts itself the elements end in any order;
// after an exception, too, and none is lost.
template <class I, class Less = std::less<>, class = detail::if_iterator<I>>
void sort(const runtime &rt, I first, I last, Less less = {},
	  const loop_options &o = {})
{
	using T = typename std::iterator_traits<I>::value_type;

	detail::check_iterator<I>();
	static_assert(std::is_same_v<decltype(*first), T &>,
		      "lk::sort needs references to elements: a "
		      "std::vector<bool> has none, take std::vector<char>; and "
		      "those of const elements cannot be moved");
	static_assert(std::is_invocable_r_v<bool, Less &, const T &, const T &>,
		      "less is called as bool less(const T &a, const T &b)");
	static_assert(std::is_nothrow_move_constructible_v<T> &&
			      std::is_nothrow_move_assignable_v<T>,
		      "lk::sort moves elements on several threads: declare "
		      "their move constructor and move assignment noexcept");
	if (last - first > 1)
		detail::sorter<I, Less>(rt.get(), first, uint64_t(last - first),
					less, o)
			.sort();
}

template <class R, class Less = std::less<>, class = detail::if_range<R>>
void sort(const runtime &rt, R &&range, Less less = {},
	  const loop_options &o = {})
{
	lk::sort(rt, std::begin(range), std::end(range), std::move(less), o);
}

} // namespace lk

#endif
