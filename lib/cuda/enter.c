/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "cuda/enter.h"

/* Where a call fails here, the one that is made next says why. */
void cuda_enter_context(const struct cuda *cuda, cu_context context,
			struct cuda_before *b)
{
	cu_result r;

	*b = (struct cuda_before){ .mode = CU_CAPTURE_RELAXED };
	b->has_mode = !cuda->cuThreadExchangeStreamCaptureMode(&b->mode);
	if (!context)
		return;
	r = cuda->cuCtxGetCurrent(&b->context);
	if (!r && b->context == context)
		return;
	b->has_context = !cuda->cuCtxSetCurrent(context) && !r;
}

void cuda_leave_context(const struct cuda *cuda, const struct cuda_before *b)
{
	unsigned mode = b->mode;

	if (b->has_context)
		cuda->cuCtxSetCurrent(b->context);
	if (b->has_mode)
		cuda->cuThreadExchangeStreamCaptureMode(&mode);
}
