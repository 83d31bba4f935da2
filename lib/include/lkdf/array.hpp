// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Arrays for C++17 whose uses order tasks; lkdf.hpp includes this.
#ifndef LKDF_ARRAY_HPP
#define LKDF_ARRAY_HPP

#include <lkdf/data.hpp>

#include <algorithm>
#include <cstddef>

namespace lk
{

// As lk::data, of a number of T: the callable of a task takes const T * of
// lk::read(), T * of other uses. A kernel of device.hpp takes them, too.
template <class T> class array
{
	static_assert(std::is_trivially_copyable_v<T>,
		      "data travel as bytes: hold plain structs or numbers");

	struct put {
		void operator()(struct lkdf_data *d) const
		{
			lkdf_data_put(d);
		}
	};
	std::unique_ptr<struct lkdf_data, put> d_;
	size_t size_ = 0;

	array(const runtime &rt, size_t size, const T *init, T *wrap,
	      const char *name)
	    : size_(size)
	{
		struct lkdf_data_attr a = {};
		struct lkdf_data *d;

		a.size = sizeof(a);
		a.name = name;
		a.bytes = size * sizeof(T);
		a.align = alignof(T) > 64 ? alignof(T) : wrap ? 0 : 64;
		a.init = init;
		a.wrap = wrap;
		must(lkdf_data_create(rt.get(), &a, &d));
		d_.reset(d);
	}

      public:
	// Without values: a task gives the first ones.
	array(const runtime &rt, size_t size, const char *name = nullptr)
	    : array(rt, size, nullptr, nullptr, name)
	{
	}
	// A copy of size elements.
	array(const runtime &rt, const T *first, size_t size,
	      const char *name = nullptr)
	    : array(rt, size, first, nullptr, name)
	{
	}
	// The elements of a vector or an array of the program, which stays
	// where it is, and outlives all uses.
	template <class C>
	static array wrap(const runtime &rt, C &c, const char *name = nullptr)
	{
		return array(rt, std::size(c), nullptr, std::data(c), name);
	}
	struct lkdf_data *get() const
	{
		return d_.get();
	}
	size_t size() const
	{
		return size_;
	}
	// Waits for all tasks submitted so far and copies the size() values to
	// an array. Call it on a thread, not in a body. Throws the
	// error of the task that should have written them.
	void read(T *to) const
	{
		void *p;

		must(lkdf_data_acquire(get(), LKDF_READ, -1, &p));
		std::copy_n(static_cast<const T *>(p), size_, to);
		must(lkdf_data_release(get()));
	}
};

template <class T> use<T[], true> read(const array<T> &d)
{
	return { d.get(), LKDF_READ };
}
template <class T> use<T[], false> write(const array<T> &d)
{
	return { d.get(), LKDF_WRITE };
}
template <class T> use<T[], false> update(const array<T> &d)
{
	return { d.get(), LKDF_RW };
}

} // namespace lk

#endif
