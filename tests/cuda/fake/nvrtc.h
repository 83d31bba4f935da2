/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The part of NVRTC's API that fake/nvrtc.c gives, by prototypes of our own. */
#ifndef FAKE_NVRTC_H
#define FAKE_NVRTC_H

#include <stddef.h>

#define API __attribute__((visibility("default")))

typedef struct program *nvrtcProgram;

API const char *nvrtcGetErrorString(int r);
API int nvrtcVersion(int *major, int *minor);
API int nvrtcCreateProgram(nvrtcProgram *out, const char *text,
			   const char *name, int nr_headers,
			   const char *const *headers,
			   const char *const *names);
API int nvrtcDestroyProgram(nvrtcProgram *program);
API int nvrtcAddNameExpression(nvrtcProgram p, const char *expression);
API int nvrtcGetLoweredName(nvrtcProgram p, const char *expression,
			    const char **lowered);
API int nvrtcCompileProgram(nvrtcProgram p, int nr, const char *const *option);
API int nvrtcGetProgramLogSize(nvrtcProgram p, size_t *size);
API int nvrtcGetProgramLog(nvrtcProgram p, char *to);
API int nvrtcGetCUBINSize(nvrtcProgram p, size_t *size);
API int nvrtcGetCUBIN(nvrtcProgram p, char *to);
API int nvrtcGetPTXSize(nvrtcProgram p, size_t *size);
API int nvrtcGetPTX(nvrtcProgram p, char *to);
API int nvrtcGetNumSupportedArchs(int *nr);
API int nvrtcGetSupportedArchs(int *v);

/*
 * For tests: how many programs were compiled so far, what the last was compiled
 * for, and was PTX taken?
 */
API int fake_nvrtc_compiled(void);
API const char *fake_nvrtc_target(void);
API int fake_nvrtc_took_ptx(void);

#endif
