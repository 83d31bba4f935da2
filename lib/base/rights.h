/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Whose rights this process has, and whom it trusts. A program with raised
 * rights is run by somebody who lacks them: nothing that this caller says may
 * choose what code runs or which files are read and written. The rules and the
 * doors are in Documentation/security.rst.
 */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

#include <stdbool.h>

/*
 * Why the rights of this process count as raised: AT_SECURE is set, or it is
 * not dumpable, as after a change of user and where the program cannot be read.
 * NULL: they are not raised. The text is constant.
 */
const char *rights_raised(void);

/*
 * May the process at the other end of a socket of AF_UNIX be told what is in
 * our memory? Root of our user namespace may; so may our user where we are
 * dumpable, as the kernel has it for ptrace(2), without what Yama adds. A user
 * whom our namespace does not map may not, whatever number stands for that
 * user.
 */
bool rights_trust(int socket);

#endif
