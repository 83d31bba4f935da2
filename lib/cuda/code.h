/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Code of kernels: what an image is, and texts by the compiler NVRTC. */
#ifndef CUDA_CODE_H
#define CUDA_CODE_H

#include <lkdf/device.h>

enum code_sort {
	CODE_CUDA_C, /* a text */
	CODE_PTX, /* a text for the driver's own compiler */
	CODE_BINARY, /* a cubin, or a fat binary of several */
};

/* Room for a reason, as build() is given it. */
struct code_log {
	char *text;
	uint32_t size;
};

/*
 * The sort of the image, by its first bytes. -EINVAL, and log says why: it is
 * empty, cut off, of another machine, or its bytes are not given.
 */
int code_sort(const struct lkdf_code *c, enum code_sort *out,
	      struct code_log log);

/* Text compiled for one card; free() both. */
struct code_made {
	char *image; /* a cubin, or PTX with a 0 behind it */
	uint64_t bytes;
	char *entry; /* its name in the image; NULL: none was asked for */
};

struct nvrtc_settings {
	const char *library; /* "": the usual ones */
	const char *cache; /* directory of compiled texts; "": none */
	int arch; /* of the card, 90 of sm_90 */
	int driver; /* its version, 13000; 0: it is not known */
};

/*
 * Compiles a text, or finds it compiled. The entry is named as the text has it,
 * without extern "C", too. 0; -ENOEXEC or -ENOMEM, and log says why.
 */
int nvrtc_compile(const struct nvrtc_settings *s, const struct lkdf_code *c,
		  struct code_made *out, struct code_log log);

/* Copies the log as much as fits; "name(12):" becomes "name:12:". */
void nvrtc_map_log(const char *log, struct code_log to);

#endif
