/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/reader.h"

#include "trace/bytes.h"
#include "utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int reader_damaged(struct reader *r, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	r->fault->offset = offset;
	va_start(ap, fmt);
	vsnprintf(r->fault->why, sizeof(r->fault->why), fmt, ap);
	va_end(ap);
	return -EBADMSG;
}

int reader_number(struct reader *r, uint64_t *out)
{
	uint32_t first = r->at;
	unsigned shift = 0;
	uint64_t v = 0;
	uint8_t byte;

	do {
		if (r->at == r->size)
			return reader_damaged(r, r->offset + first,
					      "a number goes beyond its chunk");
		byte = r->chunk[r->at++];
		if (shift == 63 && byte > 1)
			return reader_damaged(r, r->offset + first,
					      "a number of more than 64 bits");
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*out = v;
	return 0;
}

int reader_below(struct reader *r, uint64_t limit, const char *what,
		 uint32_t *out)
{
	uint64_t at = r->offset + r->at, v;
	int rc = reader_number(r, &v);

	*out = 0;
	if (rc)
		return rc;
	if (v >= limit)
		return reader_damaged(r, at, "%s %llu, there are %llu", what,
				      (unsigned long long)v,
				      (unsigned long long)limit);
	*out = (uint32_t)v;
	return 0;
}

int reader_signed(struct reader *r, uint64_t *out)
{
	uint64_t v;
	int rc = reader_number(r, &v);

	if (!rc)
		*out = v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
	return rc;
}

int reader_int32(struct reader *r, const char *what, int32_t *out)
{
	uint64_t at = r->offset + r->at, v;
	int rc = reader_signed(r, &v);

	if (rc)
		return rc;
	if ((int64_t)v < -1 || (int64_t)v > INT32_MAX)
		return reader_damaged(r, at, "%s %lld", what, (long long)v);
	*out = (int32_t)v;
	return 0;
}

int reader_text(struct reader *r, char to[TRACE_TEXT])
{
	uint32_t size;
	int rc = reader_below(r, TRACE_TEXT, "a text of size", &size);

	if (rc)
		return rc;
	if (size > r->size - r->at)
		return reader_damaged(r, r->offset + r->at,
				      "a text goes beyond its chunk");
	memcpy(to, r->chunk + r->at, size);
	to[size] = '\0';
	utf8_tame_bytes(to, size, "");
	r->at += size;
	return 0;
}

int reader_executor(struct reader *r, uint32_t *out)
{
	return reader_below(r, r->info->header.nr_executors + 1ull, "executor",
			    out);
}

int reader_lane(struct reader *r, uint32_t *out)
{
	const uint32_t first = r->info->header.nr_executors + 1;
	uint64_t at = r->offset + r->at;
	int rc = reader_below(r, first + LKDF_MAX_LANES, "lane", out);
	uint32_t i = *out - first;

	if (!rc && *out >= first && !(r->lanes[i / 8] & 1u << i % 8))
		return reader_damaged(r, at, "lane %u was not told", *out);
	return rc;
}

int reader_name(struct reader *r, uint32_t *out)
{
	uint64_t at = r->offset + r->at;
	int rc = reader_below(r, LKDF_MAX_NAMES, "name", out);

	if (!rc && !r->info->name[*out])
		return reader_damaged(r, at, "name %u was not told", *out);
	return rc;
}
