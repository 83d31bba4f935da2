/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Text that comes from elsewhere may be no UTF-8. */
#ifndef TOOLS_UTF8_H
#define TOOLS_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character at p, which is not 0; 0: it is none. */
size_t utf8_size(const uint8_t *p, size_t left);

#endif
