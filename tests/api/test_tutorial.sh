#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The programs of the tutorial compile without a warning and print what their
# first comment says, without and with a trace.
# shellcheck source=tests/api/tap.sh
. "$(dirname "$0")/tap.sh"

# The lines behind "Prints:" in the first comment of a program.
wanted() {
	awk '/^ \*\/$/ { exit } on && sub(/^ \*   /, "") { print }
		/Prints:/ { on = 1 }' "$1"
}

# compile SOURCE: the program is $dir/program
compile() {
	flags="-Wall -Wextra -Werror -O2 ${CFLAGS:-}"
	case $1 in
	*.cc) set -- "${CXX:-g++}" -std=c++17 "$1" ;;
	*) set -- "${CC:-gcc}" -std=c11 -D_GNU_SOURCE "$1" ;;
	esac
	# shellcheck disable=SC2086
	"$@" $flags -Ilib/include -o "$dir/program" -L"$build" -llkdf \
		-lpthread -Wl,-rpath,"$build" >"$dir/log" 2>&1
}

# run FACT VARIABLE...
run() {
	fact=$1
	shift
	env "$@" timeout -k 5 60 "$dir/program" >"$dir/got" 2>&1
	rc=$?
	diff "$dir/want" "$dir/got" >"$dir/log" && [ "$rc" -eq 0 ]
	ok $? "$fact" "$dir/log"
}

for f in Documentation/examples/tutorial/*.c \
	Documentation/examples/tutorial/*.cc; do
	name=$(basename "$f")
	wanted "$f" >"$dir/want"
	[ -s "$dir/want" ]
	ok $? "$name says what it prints" "$f"
	compile "$f"
	ok $? "$name compiles without a warning" "$dir/log"
	[ -x "$dir/program" ] || continue
	run "$name prints that" LKDF_TRACE=
	run "$name prints that with a trace" LKDF_TRACE="$dir/trace"
	rm -f "$dir/program"
done
echo "1..$nr"
[ "$failed" -eq 0 ]
