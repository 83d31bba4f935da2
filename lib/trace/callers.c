/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/callers.h"

#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TASK_NAME 16 /* TASK_COMM_LEN */

static uint32_t find_lane(struct callers *c, uint32_t tid)
{
	uint32_t i, seen;

	for (i = 0; i < LKDF_THREAD_LANES - 1; i++) {
		seen = a_load(&c->tid[i], relaxed);
		if (!seen && a_cas(&c->tid[i], &seen, tid, relaxed, relaxed))
			return i;
		if (seen == tid)
			return i;
	}
	return i;
}

static void put_number(struct trace_note *n, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		n->payload[n->size++] = (uint8_t)(v | 0x80);
	n->payload[n->size++] = (uint8_t)v;
}

static void tell_lane(struct trace *t, uint32_t recording, uint32_t lane,
		      uint32_t tid)
{
	struct trace_note *n = malloc(sizeof(*n) + LKDF_MAX_TEXT + 64);
	char name[TASK_NAME + 1] = "", label[64];

	if (!n)
		return;
	prctl(PR_GET_NAME, name);
	if (lane % LKDF_THREAD_LANES == LKDF_THREAD_LANES - 1)
		snprintf(label, sizeof(label), "other threads");
	else
		snprintf(label, sizeof(label), "%s, thread %u", name,
			 (unsigned)tid);
	*n = (struct trace_note){
		.recording = recording,
		.type = LKDF_CHUNK_LANE,
		.lane = (uint32_t)t->nr_executors + 1 + lane,
	};
	put_number(n, n->lane);
	put_number(n, LKDF_LANE_THREAD);
	put_number(n, tid);
	put_number(n, strlen(label));
	memcpy(n->payload + n->size, label, strlen(label));
	n->size += (uint32_t)strlen(label);
	trace_note_give(t, n);
}

uint32_t callers_lane(struct trace *t)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	uint32_t recording = trace_recording(t);
	uint32_t i = find_lane(&t->callers, tid);
	uint32_t lane = LKDF_DEVICE_LANES + i;

	if (a_xchg(&t->callers.told[i], recording, relaxed) != recording)
		tell_lane(t, recording, lane, tid);
	return lane;
}
