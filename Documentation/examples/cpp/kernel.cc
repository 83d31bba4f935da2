// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A kernel from text, for OpenCL and CUDA, and for a CPU where there is no
 * device. Prints:
 *
 *   y[0] is 1, y[999] is 1999
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>
#include <vector>

int main()
{
	std::vector<float> from(1000), to(1000, 1.0f), seen(1000);
	lk::runtime rt;

	for (size_t i = 0; i < from.size(); i++)
		from[i] = float(i);
	auto x = lk::array<float>::wrap(rt, from);
	auto y = lk::array<float>::wrap(rt, to);
	lk::kernel<const float *, float *, float> saxpy(
		rt, "saxpy", "p1[i] += p2 * p0[i];",
		[](size_t i, const float *x, float *y, float a) {
			y[i] += a * x[i];
		});

	saxpy(from.size(), lk::read(x), lk::update(y), 2.0f);
	auto last =
		rt.submit([](const float *v) { return v[999]; }, lk::read(y));
	y.read(seen.data());
	std::printf("y[0] is %g, y[999] is %g\n", seen[0], last.get());
}
