#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf check says nothing of the examples in C, each of which is right, and of some in
# C++. Bodies of two wait for what serial mode cannot give, and a line says that.
# CHECK_SHARE=I/N takes every Nth of them.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
examples=Documentation/examples

for cc in gcc clang none; do
	command -v $cc >/dev/null || continue
	echo 'int main(void) { return 0; }' >"$dir/none.c"
	$cc -fsanitize=thread -o "$dir/none" "$dir/none.c" 2>"$dir/log" && break
done
if [ ! -x "$dir/none" ]; then
	skip "examples are silent" "no compiler here has -fsanitize=thread"
	echo "1..$nr"
	exit 0
fi

# compile SOURCE...: the program is $dir/program
compile() {
	rm -f "$dir/program"
	case $1 in
	*.cc) language="-std=c++20 -x c++" ;;
	*) language=-std=c11 ;;
	esac
	# shellcheck disable=SC2086
	$cc -g -O1 -fsanitize=thread $language -D_GNU_SOURCE -Ilib/include \
		-o "$dir/program" "$@" -L"$build" -llkdf -lpthread -lm -lstdc++ \
		-Wl,-rpath,"$build" >"$dir/log" 2>&1
	[ -x "$dir/program" ] || ok 1 "$1 compiles"
}

# check ARGUMENT...: of lkdf check
check() {
	"$limit" 120 "$build/lkdf" check "$@" >"$dir/out" 2>"$dir/got"
	rc=$?
}

# silent NAME ARGUMENT...
silent() {
	name=$1
	shift
	[ -x "$dir/program" ] || return
	check -- "$dir/program" "$@"
	[ $rc -eq 0 ] && grep -qx 'lkdf check: nothing was found' "$dir/got" &&
		! grep -q 'race:' "$dir/got"
	ok $? "$name is right, and lkdf check says so" "$dir/got"
}

# Without OpenCL programs of devices do the same on CPUs; saxpy has its own driver.
export LKDF_OPENCL_LIBRARY=libno-such.so.1
share=${CHECK_SHARE:-0/1}
at=0
for source in "$examples"/*.c "$examples"/tutorial/*.c "$examples"/data/*.c \
	"$examples"/flow/*.c "$examples"/guide/*.c "$examples"/optional/*.c \
	"$examples"/device/*.c "$examples"/co/*.cc "$examples"/cpp/data.cc \
	"$examples"/cpp/tasks.cc "$examples"/cpp/file.cc "$examples"/cpp/stream.cc; do
	name=$(basename "$source")
	at=$((at + 1))
	[ $((at % ${share#*/})) -eq "${share%/*}" ] || continue
	compile "$source"
	case $name in
	blocking.c | scope.c)
		check --patience 2 -- "$dir/program"
		[ $rc -eq 125 ] && grep -q '^lkdf check: cannot check .*: no body has ended for 2 s; --patience waits longer$' "$dir/got" &&
			grep -q '^lkdf: error: stall: with one thread the program does not go on: ' "$dir/got"
		ok $? "$name waits for what does not come, and a line says so" \
			"$dir/got"
		;;
	cholesky.c) silent "$name" --n 96 --block 32 ;;
	convoy.c) silent "$name" --lock mutex --kinds 2 --seconds 0.02 ;;
	*) silent "$name" ;;
	esac
done

# Its clients send and receive beside the thread that runs bodies.
compile "$examples/tutorial/channel.c"
for i in 1 2 3 4 5 6 7 8; do
	silent "run $i of clients of a channel"
done

echo "1..$nr"
exit $failed
