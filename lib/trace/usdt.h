/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Probes of user space for bpftrace, perf and gdb: a nop each, and a note in
 * the library that says where it is and where its arguments are. They stand
 * where a worker rests or steals, and on the path of bodies that are recorded;
 * a body that nobody records meets none. Documentation/tools.rst lists them.
 * Without sys/sdt.h (systemtap-sdt-dev) there are none.
 */
#ifndef TRACE_USDT_H
#define TRACE_USDT_H

#if defined(HAVE_USDT) && !defined(LKDF_MC)
#include <sys/sdt.h>

#define usdt_1(name, a) DTRACE_PROBE1(lkdf, name, a)
#define usdt_2(name, a, b) DTRACE_PROBE2(lkdf, name, a, b)
#define usdt_3(name, a, b, c) DTRACE_PROBE3(lkdf, name, a, b, c)
#else
#define usdt_1(name, a) ((void)(a))
#define usdt_2(name, a, b) ((void)(a), (void)(b))
#define usdt_3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#endif

#endif
