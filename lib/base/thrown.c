/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/thrown.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

_Noreturn void thrown_end(const char *line)
{
	ssize_t ignored = write(STDERR_FILENO, line, strlen(line));

	(void)ignored;
	abort();
}

_Unwind_Reason_Code thrown_personality(int version, _Unwind_Action actions,
				       uint64_t class,
				       struct _Unwind_Exception *e,
				       struct _Unwind_Context *c);

__attribute__((used, visibility("hidden"))) _Unwind_Reason_Code
thrown_personality(int version, _Unwind_Action actions, uint64_t class,
		   struct _Unwind_Exception *e, struct _Unwind_Context *c)
{
	(void)version;
	(void)class;
	(void)e;
	(void)c;
	if (actions & _UA_FORCE_UNWIND)
		return _URC_CONTINUE_UNWIND;
	if (actions & _UA_SEARCH_PHASE)
		return _URC_HANDLER_FOUND;
	thrown_end("lkdf: an exception has left a callback\n");
}
