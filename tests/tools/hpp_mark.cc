// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Marks and regions in C++, with a flight recorder that regions have written.
 * Prints:
 *
 *   nothing late: no file
 *   a region that an exception has left is late: a file
 *   without a label: EINVAL
 *   nobody records: nothing happens
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <unistd.h>

using namespace std::chrono_literals;

static const char *is_there(const std::string &file)
{
	return access(file.c_str(), F_OK) ? "no file" : "a file";
}

static std::string options_of(const std::string &file)
{
	return "workers=2,trace_last=60,trace=" + file;
}

static void in_time(const std::string &file)
{
	lk::runtime rt(options_of(file).c_str());
	lk::region all(rt, "all");

	lk::mark(rt, "queue", 3);
	lk::mark(rt, "begun");
	lk::region within(rt, "within", 24h);
}

static void late(const std::string &file)
{
	lk::runtime rt(options_of(file).c_str());

	try {
		lk::region r(rt, "late", 0ns);

		throw std::runtime_error("left");
	} catch (const std::runtime_error &) {
	}
}

static void refused()
{
	lk::runtime rt;

	try {
		lk::mark(rt, "");
	} catch (const lk::error &e) {
		std::printf("without a label: %s\n",
			    e.code().value() == EINVAL ? "EINVAL" : "?");
	}
	lk::mark(rt, "unseen", 1);
	lk::region r(rt, "unseen", 0ns);
	std::printf("nobody records: nothing happens\n");
}

int main()
{
	char dir[] = "/tmp/lkdf-mark.XXXXXX";
	std::string file;

	// Of this program's runtimes only.
	unsetenv("LKDF_TRACE");
	if (!mkdtemp(dir))
		return 1;
	file = std::string(dir) + "/last.lkdf";
	in_time(file);
	std::printf("nothing late: %s\n", is_there(file));
	late(file);
	std::printf("a region that an exception has left is late: %s\n",
		    is_there(file));
	unlink(file.c_str());
	rmdir(dir);
	refused();
	return 0;
}
