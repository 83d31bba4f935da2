/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf doctor PROGRAM: which OpenMP a program and its libraries use, and what
 * lkdf run --openmp makes of it. The files are read; the program is not run.
 * Libraries that it loads itself when it runs are not seen.
 */
#ifndef TOOLS_DOCTOR_PROGRAM_H
#define TOOLS_DOCTOR_PROGRAM_H

#include "doctor/doctor.h"

#define PROGRAM_ROWS 5

/*
 * Findings of the program of that name, found as a shell finds it; how many.
 * -ENOENT, -EBADMSG: there is no such program, or it is none of this machine.
 */
int program_look(const char *name, struct finding found[PROGRAM_ROWS]);

#endif
