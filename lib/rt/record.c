/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/record.h"

#include "base/err.h"
#include "core/runtime.h"
#include "graph/tell.h"
#include "run/frame.h"
#include "run/slots.h"
#include "task/kind.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Any other file might keep its writer waiting. */
static int check_file(int fd)
{
	struct stat st;

	if (fd < 0)
		return err(-EINVAL, "record: no file was given");
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size ||
	    (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
		close(fd);
		return err(-EINVAL,
			   "record: what was given is no empty regular file "
			   "open for writing");
	}
	return 0;
}

/* Their graphs are told when a run begins, and these have begun before. */
static void tell_runs(struct lkdf *rt)
{
	struct frame *f;
	uint32_t i;

	pthread_mutex_lock(&rt->lock);
	for (i = 0; i < rt->nr_frames; i++) {
		f = slots_frame(rt, i);
		/* A free slot holds a number.
		 * [frame.look] its graph is sealed; pairs with
		 * [frame.busy]. */
		if ((uintptr_t)f > MAX_FRAMES &&
		    a_load(&f->is_busy, acquire) == FRAME_BUSY)
			frame_tell_graph(f);
	}
	pthread_mutex_unlock(&rt->lock);
}

int record_start(struct lkdf *rt, int fd)
{
	int rc = check_file(fd);

	if (!rc)
		rc = trace_record(&rt->trace, fd);
	if (rc)
		return rc;
	tell_runs(rt);
	kind_trace_all(rt, true);
	return 0;
}

int record_last(struct lkdf *rt, int fd, struct trace_sum *sum)
{
	int rc = check_file(fd);

	return rc ? rc : trace_last_into(&rt->trace, fd, sum);
}

void record_stop(struct lkdf *rt, struct trace_sum *sum)
{
	kind_trace_all(rt, false);
	trace_record_end(&rt->trace, sum);
	/* Those that were created meanwhile. */
	kind_trace_all(rt, false);
}
