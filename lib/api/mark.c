/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/mark.h>

#include "api/border.h"
#include "base/clock.h"

#include <inttypes.h>

/* Labels leave half of all names to kinds. */
static uint32_t label_name(struct trace *t, const char *label)
{
	return a_load(&t->nr_names, relaxed) < MAX_NAMES / 2
		       ? trace_name(t, label)
		       : 0;
}

static void tell_span(struct lkdf *rt, enum lkdf_span_sort sort,
		      const char *label, uint64_t begin, uint64_t end,
		      int64_t value)
{
	struct executor *ex = runtime_executor(rt);
	const struct lkdf_stats_slice s = {
		.begin = begin,
		.end = max_u64(begin, end),
		.task = NO_SLICE_TASK,
		.name = label_name(&rt->trace, label),
		.by = ex ? ex->now : 0,
		.number = (uint64_t)sort << 48,
		.value = (uint64_t)value,
	};

	if (ex)
		trace_slice(ex->ring, &s);
	else
		trace_slice_outside(trace_outside(&rt->trace), &s);
}

static int check_label(const struct lkdf *rt, const char *label)
{
	int rc = border_runtime(rt);

	if (!rc && (!label || !label[0]))
		return err(-EINVAL, "mark: it has no label");
	return rc;
}

int lkdf_mark(struct lkdf *rt, const char *label, int64_t value)
{
	int rc = check_label(rt, label);
	uint64_t now;

	if (rc || likely(!trace_is_recording(&rt->trace)))
		return rc;
	now = clock_ticks();
	tell_span(rt, LKDF_SPAN_MARK, label, now, now, value);
	return 0;
}

uint64_t lkdf_region_begin(struct lkdf *rt)
{
	if (border_runtime(rt) || likely(!trace_is_recording(&rt->trace)))
		return 0;
	return clock_ticks();
}

/* In ticks from begin on; UINT64_MAX: never. */
static uint64_t end_of(const struct lkdf *rt, uint64_t begin, int64_t limit_ns)
{
	double end = (double)begin +
		     (double)limit_ns * rt->trace.ticks_per_1024ns / 1024;

	return end < (double)INT64_MAX ? (uint64_t)end : UINT64_MAX;
}

uint64_t lkdf_region_begin_by(struct lkdf *rt, int64_t limit_ns)
{
	uint64_t region = lkdf_region_begin(rt);

	if (unlikely(region) && rt->trace.last_ns && limit_ns >= 0)
		limits_begin(&rt->trace.limits, region,
			     end_of(rt, region, limit_ns));
	return region;
}

/* True: it was late while it ran, and the flight recorder was asked for. */
static bool leave_region(struct lkdf *rt, uint64_t region)
{
	return rt->trace.last_ns && limits_end(&rt->trace.limits, region);
}

int lkdf_region_end(struct lkdf *rt, const char *label, uint64_t region)
{
	int rc = check_label(rt, label);

	if (!rc && region)
		leave_region(rt, region);
	if (!rc && region && trace_is_recording(&rt->trace))
		tell_span(rt, LKDF_SPAN_REGION, label, region, clock_ticks(),
			  0);
	return rc;
}

static bool is_longer(const struct lkdf *rt, uint64_t ticks, int64_t limit_ns)
{
	return (double)ticks * 1024 / rt->trace.ticks_per_1024ns >
	       (double)limit_ns;
}

int lkdf_region_end_by(struct lkdf *rt, const char *label, uint64_t region,
		       int64_t limit_ns)
{
	int rc = check_label(rt, label);
	bool was_told;
	uint64_t now;

	if (!rc && limit_ns < 0)
		return err(-EINVAL, "mark: a limit of %" PRId64 " ns",
			   limit_ns);
	if (rc || !region || !trace_is_recording(&rt->trace))
		return rc;
	was_told = leave_region(rt, region);
	now = max_u64(clock_ticks(), region);
	tell_span(rt, LKDF_SPAN_REGION, label, region, now, 0);
	if (!is_longer(rt, now - region, limit_ns))
		return 0;
	if (!was_told)
		trace_is_late(&rt->trace);
	return 1;
}

int lkdf_record_last(struct lkdf *rt)
{
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!rt->trace.last_ns)
		return err(-ENOENT, "record: there is no flight recorder, see "
				    "option trace_last");
	trace_ask_last(&rt->trace);
	return 0;
}
