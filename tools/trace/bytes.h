/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Bytes of a file *.lkdf: checksums, numbers of fixed size. */
#ifndef TOOLS_TRACE_BYTES_H
#define TOOLS_TRACE_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 as in Ethernet; crc is 0 or that of the bytes before. */
uint32_t trace_crc32(uint32_t crc, const uint8_t *p, size_t size);

/* A little-endian number of at most 8 bytes. */
uint64_t trace_le(const uint8_t *p, int size);

#endif
