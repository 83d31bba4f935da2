# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=sh disable=SC2154
# Examples as a user would compile and run them: sourced behind tap.sh, whose
# $build, $dir and ok() it uses.

# The lines behind "Prints:" in the first comment of a program.
wanted() {
	awk '/^ \*\/$/ { exit } on && sub(/^ \*   /, "") { print }
		/Prints:/ { on = 1 }' "$1"
}

# fenced LANGUAGE NR: the lines of a fenced block of README
fenced() {
	awk -v fence="\`\`\`$1" -v nr="$2" '
		/^```$/ { on = 0 }
		on && at == nr
		$0 == fence { on = 1; at++ }' README.md
}

# compile SOURCE...: the program is $dir/program; C++ is $std, or C++17
compile() {
	flags="-Wall -Wextra -Werror -O2 ${CFLAGS:-}"
	case $1 in
	*.cc) set -- "${CXX:-g++}" -std="${std:-c++17}" "$@" ;;
	*) set -- "${CC:-gcc}" -std=c11 -D_GNU_SOURCE "$@" ;;
	esac
	rm -f "$dir/program"
	# shellcheck disable=SC2086
	"$@" $flags -Ilib/include -o "$dir/program" -L"$build" -llkdf \
		-lpthread -lm -Wl,-rpath,"$build" >"$dir/log" 2>&1
}

# run FACT VARIABLE...: it prints $dir/want
run() {
	fact=$1
	shift
	env "$@" "$limit" 60 "$dir/program" >"$dir/got" 2>&1
	rc=$?
	diff "$dir/want" "$dir/got" >"$dir/log" && [ "$rc" -eq 0 ]
	ok $? "$fact" "$dir/log"
}

# as_it_says SOURCE: a program of one file that says what it prints
as_it_says() {
	name=$(basename "$1")
	wanted "$1" >"$dir/want"
	[ -s "$dir/want" ]
	ok $? "$name says what it prints" "$1"
	compile "$1"
	ok $? "$name compiles without a warning"
	[ -x "$dir/program" ] || return
	run "$name prints that" LKDF_TRACE=
	run "$name prints that with a trace" LKDF_TRACE="$dir/trace"
	run "$name prints that with one worker" LKDF_WORKERS=1
}

# quotes PAGE DIRECTORY: the C code on the page is code of a program in it. A
# block is code where it has a semicolon.
quotes() {
	python3 tests/tools/quotes.py "$1" "$2" >"$dir/log" 2>&1
	ok $? "$(basename "$1") shows code that its programs have"
}

# is_judged NAME: the report of $dir/program has no finding of a recording that does
# not tell why, and lkdf try no kind that is slower together
is_judged() {
	rm -f "$dir"/judged*
	LKDF_TRACE="$dir/judged.lkdf" "$limit" 60 "$dir/program" >"$dir/got" 2>&1 &&
		"$build/lkdf" report "$dir/judged.lkdf" >"$dir/log" 2>&1 &&
		grep -q '^What costs most' "$dir/log" &&
		! grep -qE 'record again with|^  (1|2)  .*(Everybody waits|starve while)' "$dir/log"
	ok $? "$1: its report is true" "$dir/log"
	(cd "$dir" && "$limit" 120 "$build/lkdf" try -q -w 1,2 -- ./program) \
		>"$dir/log" 2>"$dir/err" && ! grep -q 'meet in memory' "$dir/log"
	ok $? "$1: lkdf try names no kind" "$dir/log"
}

# page_programs PAGE LINES LINES_OF_C VARIABLE...: each literal block of the page
# that has a main() is a program of so many lines at most, and the next block is
# what it prints, with each variable. $programs of them. A block ends where a
# line of text begins. $judge, where it is set, is called for each.
page_programs() {
	page=$1 lines=$2 lines_of_c=$3
	shift 3
	awk -v to="$dir/block." '
		/^\t/ { nr += !on; on = 1; sub(/^\t/, ""); print >(to nr); next }
		/^$/ && on { print >(to nr); next }
		{ on = 0 }' "$page"
	programs=0
	at=1
	while [ -e "$dir/block.$at" ]; do
		block=$dir/block.$at
		at=$((at + 1))
		grep -q '^int main' "$block" || continue
		programs=$((programs + 1))
		page_program "$block" "$dir/block.$at" "$@"
	done
}

# page_program BLOCK NEXT VARIABLE...: see page_programs
page_program() {
	source=$dir/page.cc most=$lines
	grep -q '\.hpp>' "$1" || source=$dir/page.c most=$lines_of_c
	sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$1" >"$source"
	sed '/^$/d' "$2" >"$dir/want"
	shift 2
	[ "$(wc -l <"$source")" -le "$most" ]
	ok $? "program $programs has at most $most lines" "$source"
	compile "$source"
	ok $? "program $programs compiles without a warning" "$dir/log"
	[ -x "$dir/program" ] || return
	for v in "$@"; do
		run "program $programs prints what the page says, $v" "$v"
	done
	[ -z "${judge:-}" ] || "$judge" "program $programs"
}
