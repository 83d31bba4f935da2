// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
//
// lkdf for C++17, header only, above the C calls and beside them: get() gives
// the C object of each class. The namespace is lk, for struct lkdf has the name
// lkdf.
//
// Callable objects, lambdas with captures among them, are tasks: parameters are
// in ports, the result is the out port, or one out port for each element of a
// std::tuple. A connection of ports with different types does not compile. An
// exception that leaves a callable is the task's error, with its what() as the
// text; run() and stream() throw it again, once. Calls that fail throw
// lk::error, which holds the errno and the text.
//
//	lk::runtime rt;
//	lk::graph g(rt);
//	auto x = g.add("x", [] { return 3.0; });
//	auto y = g.add("y", [](double v) { std::printf("%g\n", v * v); });
//	g.connect(lk::out(x), lk::in(y));
//	g.seal();
//	g.run();
//
#ifndef LKDF_HPP
#define LKDF_HPP

#include <lkdf/array.hpp>
#include <lkdf/callable.hpp>
#include <lkdf/channel.hpp>
#include <lkdf/data.hpp>
#include <lkdf/device.hpp>
#include <lkdf/graph.hpp>
#include <lkdf/io.hpp>
#include <lkdf/mark.hpp>
#include <lkdf/runtime.hpp>

#endif
