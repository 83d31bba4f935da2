/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf: tasks and dataflow graphs on NUMA-pinned, work-stealing workers.
 * This header includes all of the public interface.
 *
 * The headers compile as C11 and C++17. "lkdf" names a struct, so it cannot
 * name a namespace as well: the C++ interface of the library lives in namespace
 * lk, and a program leaves that name to it.
 */
#ifndef LKDF_H
#define LKDF_H

#include <lkdf/algorithm.h>
#include <lkdf/base.h>
#include <lkdf/channel.h>
#include <lkdf/data.h>
#include <lkdf/device.h>
#include <lkdf/dlpack.h>
#include <lkdf/event.h>
#include <lkdf/gang.h>
#include <lkdf/graph.h>
#include <lkdf/group.h>
#include <lkdf/io.h>
#include <lkdf/kernel.h>
#include <lkdf/kind.h>
#include <lkdf/loop.h>
#include <lkdf/mark.h>
#include <lkdf/pages.h>
#include <lkdf/place.h>
#include <lkdf/port.h>
#include <lkdf/runtime.h>
#include <lkdf/scope.h>
#include <lkdf/signals.h>
#include <lkdf/task.h>

#endif
