/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/request.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The first error of a request stays. */
void request_fail(struct device_req *r, int error, const char *fmt, ...)
{
	va_list ap;

	if (r->error)
		return;
	r->error = error;
	va_start(ap, fmt);
	vsnprintf(r->why, sizeof(r->why), fmt, ap);
	va_end(ap);
}

void request_fail_said(struct device_req *r, const char *what, int error)
{
	const char *said = err_text();

	request_fail(r, error, "kernel %s: %s on %s: %s", r->launch.name, what,
		     r->device->name, said[0] ? said : strerror(-error));
}

void request_fail_call(struct device_req *r, const char *what, int error)
{
	request_fail(r, error, "kernel %s: %s on %s: %s", r->launch.name, what,
		     r->device->name, strerror(-error));
}

void request_fail_lost(struct device_req *r)
{
	request_fail(r, -ENODEV, "kernel %s: device %s is lost: %s",
		     r->launch.name, r->device->name, r->device->why_lost);
}

void request_fail_bytes(struct device_req *r, int error)
{
	request_fail(r, error,
		     "kernel %s: bytes that it reads were lost with the device "
		     "that alone had them",
		     r->launch.name);
}
