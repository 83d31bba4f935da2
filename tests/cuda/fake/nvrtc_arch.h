/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What a program is compiled for, and what tests ask of that. */
#ifndef FAKE_NVRTC_ARCH_H
#define FAKE_NVRTC_ARCH_H

#include <stdbool.h>

/* "sm_90", or "compute_90" for PTX: of the last program from now on. */
bool arch_is_known(const char *name);

void arch_note_compiled(void);
void arch_note_ptx(void);

#endif
