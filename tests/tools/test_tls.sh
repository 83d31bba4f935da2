#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Thread-local storage of a library that is loaded late comes from a small
# reserve of the loader: ours take a pointer and a thread's number each, of the
# initial-exec kind, and a program can load both that was not linked with them.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"

cat >"$dir/load.c" <<'EOF'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static const char *(*text)(void);

static void *in_thread(void *arg)
{
	return text() ? arg : NULL;
}

int main(int argc, char **argv)
{
	void *lib = dlopen(argv[1], RTLD_NOW);
	pthread_t t;
	void *good;

	if (!lib)
		return puts(dlerror()), 1;
	if (argc < 3)
		return 0;
	text = (const char *(*)(void))dlsym(lib, argv[2]);
	if (!text || !text())
		return puts("no symbol"), 2;
	pthread_create(&t, NULL, in_thread, &t);
	pthread_join(t, &good);
	return good ? 0 : 3;
}
EOF
"${CC:-gcc}" -o "$dir/load" "$dir/load.c" -ldl -lpthread >"$dir/log" 2>&1
ok $? 'a program that is linked with nothing of ours builds'
for lib in liblkdf.so liblkdf-malloc.so; do
	readelf -lW "$build/$lib" >"$dir/log"
	size=$(awk '$1 == "TLS" { print $6 }' "$dir/log")
	[ "$((size))" -le 16 ]
	ok $? "$lib has at most 16 bytes of thread-local storage"
	readelf -dW "$build/$lib" >"$dir/log"
	grep -q 'STATIC_TLS' "$dir/log"
	ok $? "$lib has it of the initial-exec kind"
	readelf -rW "$build/$lib" >"$dir/log"
	! grep -q 'DTPMOD\|TLSDESC' "$dir/log"
	ok $? "$lib has no other kind"
done
"$dir/load" "$build/liblkdf.so" lkdf_errmsg >"$dir/log" 2>&1
ok $? 'liblkdf.so can be loaded late, and its word used in two threads'
"$dir/load" "$build/liblkdf-malloc.so" >"$dir/log" 2>&1
ok $? 'liblkdf-malloc.so can be loaded late'
echo "1..$nr"
[ "$failed" -eq 0 ]
