// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Operations of the system: no thread waits for them. Prints:
 *
 *   2 blocks, 8192 bytes, the first byte is a
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

int main()
{
	lk::runtime rt;
	char name[] = "/tmp/lkdf-file-XXXXXX", start[4096];
	int fd = mkstemp(name);
	std::string a(4096, 'a'), b(4096, 'b');

	auto first = rt.async(lk::write(fd, a, 0));
	auto second = rt.async(lk::write(fd, b, 4096));
	long long bytes = first.get() + second.get();
	long long got = rt.async(lk::read(fd, start, 0)).get();
	std::printf("%lld blocks, %lld bytes, the first byte is %c\n",
		    bytes / got, bytes, start[0]);
	close(fd);
	unlink(name);
}
