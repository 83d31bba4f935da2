/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * test_io_faults.c with all workers inside long bodies, see io.h.
 */
#define IO_BUSY

#include "tests/api/io/test_io_faults.c"
