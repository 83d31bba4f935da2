/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf report on recordings that are cut, changed, or lie with a checksum that
 * is right: it tells what it can, and the sums hold whatever it is given.
 */
#include "report/model.h"
#include "report/writers.h"
#include "tests/tap.h"
#include "trace/bytes.h"

#include <errno.h>
#include <string.h>

/* With a sanitizer each takes ten times as long: every eighth is tried, and
 * each process begins somewhere else. LIES_FIRST in the environment says where.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRIDE 8
#else
#define STRIDE 1
#endif

static FILE *nowhere;
static size_t first;

static bool sums_hold(const struct report *r)
{
	uint64_t sum = 0;
	int c;

	for (c = 0; c < NR_TIME_CLASSES; c++)
		sum += r->time[c];
	return sum == worker_time(r);
}

/* All that the verb does. 0, or what was wrong with the file. */
static int report_bytes(const uint8_t *bytes, size_t size, bool *holds)
{
	const struct report_window all = { .to = NO_TIME };
	struct report r = { .file = "lie" };
	struct trace_fault fault;
	struct json j;
	FILE *f = fmemopen((void *)(uintptr_t)bytes, size ? size : 1, "r");
	int rc = report_load(&r, f, &all, &fault);

	*holds = true;
	if ((!rc || rc == -EBADMSG) && r.nr_lanes) {
		*holds = !report_sweep(&r) && !report_kinds(&r) &&
			 !report_chain(&r) && !report_requests(&r) &&
			 sums_hold(&r);
		report_find(&r);
		json_init(&j, nowhere);
		*holds &= !text_write(&r, nowhere, NULL) &&
			  !json_write(&r, &j, false) &&
			  !html_write(&r, nowhere);
	}
	report_unload(&r);
	fclose(f);
	return rc;
}

static void put_crc(uint8_t *chunk, size_t size)
{
	uint32_t crc = trace_crc32(trace_crc32(0, chunk, 12), chunk + 16, size);
	int i;

	for (i = 0; i < 4; i++)
		chunk[12 + i] = (uint8_t)(crc >> 8 * i);
}

static void cut_files(const uint8_t *bytes, size_t size)
{
	size_t cut, nr_bad = 0;
	bool holds;

	for (cut = first; cut < size; cut += STRIDE) {
		nr_bad += report_bytes(bytes, cut, &holds) != -EBADMSG;
		nr_bad += !holds;
	}
	is(nr_bad, 0, "%zu cuts: each is told, the sums hold", size / STRIDE);
}

static void flipped_files(uint8_t *bytes, size_t size)
{
	size_t i, nr_bad = 0;
	bool holds;

	for (i = first; i < size; i += STRIDE) {
		bytes[i] ^= 1u << i / STRIDE % 8;
		nr_bad += report_bytes(bytes, size, &holds) != -EBADMSG;
		nr_bad += !holds;
		bytes[i] ^= 1u << i / STRIDE % 8;
	}
	is(nr_bad, 0, "%zu flipped bits: each is told, the sums hold",
	   size / STRIDE);
}

static void lies(const uint8_t *bytes, size_t size)
{
	static const uint8_t values[] = { 0x00, 0x7f, 0x80 };
	size_t at, i, payload, nr_bad = 0, nr_good = 0;
	uint8_t *copy = malloc(size);
	bool holds;
	int rc;

	for (at = 64; at < size; at += 16 + payload) {
		payload = trace_le(bytes + at + 4, 4);
		for (i = first; i < payload * sizeof(values); i += STRIDE) {
			memcpy(copy, bytes, size);
			copy[at + 16 + i / sizeof(values)] =
				values[i % sizeof(values)];
			put_crc(copy + at, payload);
			rc = report_bytes(copy, size, &holds);
			nr_good += !rc;
			nr_bad += !holds || (rc && rc != -EBADMSG);
		}
	}
	free(copy);
	is(nr_bad, 0, "lies with a right checksum: the sums hold");
	ok(nr_good > 100 / STRIDE, "%zu of them cannot be seen", nr_good);
}

static void try_file(const char *name, bool lies_too)
{
	static uint8_t bytes[65536];
	char path[128];
	size_t size = 0;
	bool holds;
	FILE *f;

	snprintf(path, sizeof(path), "tests/fixtures/report/%s.lkdf", name);
	f = fopen(path, "r");
	if (f)
		size = fread(bytes, 1, sizeof(bytes), f);
	if (!ok(f != NULL, "%s is there", path))
		return;
	fclose(f);
	is(report_bytes(bytes, size, &holds), 0, "%s is whole", name);
	ok(holds, "%s: the sums hold", name);
	cut_files(bytes, size);
	flipped_files(bytes, size);
	if (lies_too)
		lies(bytes, size);
}

int main(void)
{
	const char *text = getenv("LIES_FIRST");

	tap_start(280);
	first = (text ? strtoul(text, NULL, 10) : (size_t)getpid()) % STRIDE;
	printf("# LIES_FIRST=%zu\n", first);
	nowhere = fopen("/dev/null", "w");
	try_file("old", false);
	try_file("graph", true);
	try_file("small", true);
	fclose(nowhere);
	return tap_end();
}
