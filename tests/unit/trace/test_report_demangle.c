/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Names of C++ that tools find in files: whole, odd and too long ones. */
#include "tests/tap.h"

#include "probe/demangle.h"

#include <dlfcn.h>
#include <string.h>

static bool becomes(const char *name, const char *want, size_t size)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s", name);
	demangle(text, size);
	if (!strcmp(text, want))
		return true;
	printf("# %s\n", text);
	return false;
}

static void names_of_others_stay(void)
{
	ok(becomes("main", "main", 64), "a name of C stays");
	ok(becomes("", "", 64), "so does none");
	ok(becomes("_Zzz", "_Zzz", 64), "and one that only begins so");
	ok(becomes("_ZN2lk4wor", "_ZN2lk4wor", 64), "and one that was cut");
}

static void names_of_cpp_are_read(void)
{
	ok(becomes("_ZN5table6lookupERKSs", "table::lookup(std::string const&)",
		   64),
	   "a method, with what it takes");
	ok(becomes("_ZN5table6lookupERKSs", "table::lo", 10),
	   "it is cut where there is no room");
	ok(becomes("_ZGVZN5tableC4EvE4lock",
		   "guard variable for table::table()"
		   "::lock",
		   64),
	   "the guard of a static variable");
}

int main(void)
{
	tap_start(10);
	names_of_others_stay();
	if (dlopen("libstdc++.so.6", RTLD_NOW) ||
	    dlopen("libc++abi.so.1", RTLD_NOW))
		names_of_cpp_are_read();
	else
		skip("names of C++", "no libstdc++.so.6, no libc++abi.so.1");
	return tap_end();
}
