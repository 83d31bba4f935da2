// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Operations of the system: no thread waits for them. Prints:
 *
 *   8192 bytes, 4096 of them read: a
 */
#include <lkdf/lkdf.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

// An operation gives a number, or -errno.
static size_t bytes_of(long long result)
{
	if (result < 0)
		throw lk::error(int(result), "the file");
	return size_t(result);
}

int main()
{
	char name[] = "/tmp/lkdf-file-XXXXXX", start[4096];
	std::string a(4096, 'a'), b(4096, 'b');
	int fd = mkstemp(name);

	if (fd < 0) {
		std::perror(name);
		return EXIT_FAILURE;
	}
	unlink(name); // its bytes are there until close()
	try {
		lk::runtime rt;
		auto first = rt.async(lk::write(fd, a, 0));
		auto second = rt.async(lk::write(fd, b, 4096));
		size_t bytes = bytes_of(first.get()) + bytes_of(second.get());
		size_t got = bytes_of(rt.async(lk::read(fd, start, 0)).get());
		std::printf("%zu bytes, %zu of them read: %c\n", bytes, got,
			    start[0]);
	} catch (const lk::error &e) {
		std::fprintf(stderr, "%s\n", e.what());
		return EXIT_FAILURE;
	}
	close(fd);
}
