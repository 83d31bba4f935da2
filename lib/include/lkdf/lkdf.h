/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf: tasks and dataflow graphs on NUMA-pinned, work-stealing workers.
 * This header includes all of the public interface.
 */
#ifndef LKDF_H
#define LKDF_H

#include <lkdf/base.h>
#include <lkdf/data.h>
#include <lkdf/event.h>
#include <lkdf/graph.h>
#include <lkdf/io.h>
#include <lkdf/kind.h>
#include <lkdf/loop.h>
#include <lkdf/pages.h>
#include <lkdf/place.h>
#include <lkdf/port.h>
#include <lkdf/runtime.h>
#include <lkdf/scope.h>
#include <lkdf/signals.h>
#include <lkdf/task.h>

#endif
