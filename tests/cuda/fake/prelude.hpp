// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// What a text of CUDA C knows without a word of its own, for the CPU: it stands
// in front of each text, behind kernel.h. Kernels enter a list when the image
// is loaded.
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __restrict__ __restrict

using size_t = decltype(sizeof(0));

extern "C" int usleep(unsigned us);
extern "C" int printf(const char *format, ...);
extern "C" void *memcpy(void *to, const void *from,
			unsigned long size) noexcept;

namespace fake
{
static __thread fake_place here;
static const fake_calls *calls;
static const fake_kernel *first;

static fake_place *place()
{
	return &here;
}

static void set_calls(const fake_calls *c)
{
	calls = c;
}

// Parameters in the order and at the places that they have for a card.
struct reader {
	const unsigned char *from;
	unsigned long at;

	template <class T> T take()
	{
		at = (at + alignof(T) - 1) / alignof(T) * alignof(T);
		const T *p = reinterpret_cast<const T *>(from + at);
		at += sizeof(T);
		return *p;
	}
};

// Braces: its arguments are evaluated from left to right.
struct invoke {
	template <class... A> invoke(void (*f)(A...), A... a)
	{
		f(a...);
	}
};

template <class... A> static void call(void *f, const unsigned char *params)
{
	reader r = { params, 0 };
	invoke{ reinterpret_cast<void (*)(A...)>(f), r.take<A>()... };
	(void)r;
}

template <class... A> struct params {
	static const unsigned size[sizeof...(A) + 1], align[sizeof...(A) + 1];
};
template <class... A> const unsigned params<A...>::size[] = { sizeof(A)..., 0 };
template <class... A>
const unsigned params<A...>::align[] = { alignof(A)..., 0 };

struct bounds {
	unsigned most;

	bounds(unsigned most = 0, unsigned = 0, unsigned = 0) : most(most)
	{
	}
};

struct kernel : fake_kernel {
	template <class... A>
	kernel(void (*f)(A...), const char *name, bounds b)
	    : fake_kernel{ fake::first,	       reinterpret_cast<void *>(f),
			   fake::call<A...>,   name,
			   sizeof...(A),       b.most,
			   params<A...>::size, params<A...>::align }
	{
		fake::first = this;
	}
};
} // namespace fake

#define threadIdx (fake::here.thread)
#define blockIdx (fake::here.block)
#define blockDim (fake::here.block_size)
#define gridDim (fake::here.grid)

static inline void __syncthreads()
{
	fake::calls->barrier();
}

static inline void __trap()
{
	fake::calls->fault(719);
}

#define assert(x) ((x) ? (void)0 : fake::calls->fault(710))

static inline void __threadfence()
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void __threadfence_block()
{
	__threadfence();
}

static inline void __threadfence_system()
{
	__threadfence();
}

static inline void __nanosleep(unsigned ns)
{
	usleep(ns / 1000 + 1);
}

template <class T> static inline T atomicAdd(T *p, T v)
{
	T old, sum;

	__atomic_load(p, &old, __ATOMIC_RELAXED);
	do {
		sum = old + v;
	} while (!__atomic_compare_exchange(
		p, &old, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return old;
}

template <class T> static inline T atomicExch(T *p, T v)
{
	T old;

	__atomic_exchange(p, &v, &old, __ATOMIC_RELAXED);
	return old;
}

template <class T> static inline T atomicCAS(T *p, T is, T v)
{
	__atomic_compare_exchange(p, &is, &v, false, __ATOMIC_RELAXED,
				  __ATOMIC_RELAXED);
	return is;
}

template <class T> static inline T min(T a, T b)
{
	return b < a ? b : a;
}

template <class T> static inline T max(T a, T b)
{
	return a < b ? b : a;
}

// Functions of the C library, for float also by the name of double's.
#define FAKE_MATH_1(name)                         \
	extern "C" double name(double) noexcept;  \
	extern "C" float name##f(float) noexcept; \
	static inline float name(float x)         \
	{                                         \
		return name##f(x);                \
	}
#define FAKE_MATH_2(name)                                \
	extern "C" double name(double, double) noexcept; \
	extern "C" float name##f(float, float) noexcept; \
	static inline float name(float x, float y)       \
	{                                                \
		return name##f(x, y);                    \
	}
FAKE_MATH_1(sqrt)
FAKE_MATH_1(fabs)
FAKE_MATH_1(exp)
FAKE_MATH_1(log)
FAKE_MATH_1(sin)
FAKE_MATH_1(cos)
FAKE_MATH_1(floor)
FAKE_MATH_1(ceil)
FAKE_MATH_2(pow)
FAKE_MATH_2(fmin)
FAKE_MATH_2(fmax)
FAKE_MATH_2(fmod)
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
