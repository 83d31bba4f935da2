/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where NVRTC is: a name for the dynamic linker, the toolkit that CUDA_HOME or
 * CUDA_PATH names, the packages of pip and conda. A driver loads the images of
 * NVRTC of its own major version, so all of these places are searched for that
 * version before another one is taken.
 */
#ifndef CUDA_RTC_H
#define CUDA_RTC_H

#define NVRTC_OLDEST 11 /* major versions that have all calls */
#define NVRTC_NEWEST 13

/*
 * library: "" for the usual ones. driver: version of the driver, 13000; 0: it
 * is not known. The handle for dlsym(), which stays open; NULL: dlerror() has
 * the reason of the last one that was tried.
 */
void *rtc_find(const char *library, int driver);

#endif
