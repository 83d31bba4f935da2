/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/rows.h"

_Static_assert(NR_MECHANISMS <= MAX_MECHANISMS, "data[] has room for each row");

#define ROW_DECLARE(name, NAME) extern const struct mechanism name##_mechanism;
MECHANISMS(ROW_DECLARE)

#define ROW_POINTER(name, NAME) &name##_mechanism,
const struct mechanism *const mechanism_rows[] = { MECHANISMS(ROW_POINTER)
							   NULL };
