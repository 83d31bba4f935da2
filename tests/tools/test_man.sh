#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The manual pages that lkdf help --man and lib/man3.sh write: formatted without
# a warning; each verb stands in lkdf(1), each option in the page of its verb,
# each function in lkdf(3) and in a page of its own, and nothing else. Each check is also given a page with a fault that it must find.
# shellcheck disable=SC2317
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
lkdf=$build/lkdf

# The first words of the table of verbs, or of words, of a --help.
table() {
	sed -n '/^[a-z]*:$/,/^$/s/^  \([a-z]*\).*/\1/p'
}

# The section of that name of a formatted page.
section() {
	awk -v name="$2" '/^[^ ]/ { on = $0 == name; next } on' "$1"
}

# formats PAGE: the text is in $dir/text.
formats() {
	groff -man -ww -Tascii -P-cbou "$1" 2>&1 >"$dir/text" | grep . &&
		return 1
	grep -q '^NAME' "$dir/text"
}

# "-t --to" for each option of --help, or of the page.
options() {
	sed -n 's/^ *\(-., *\)\{0,1\}\(--[a-z-]*\).*/\1\2/p' | tr -s ', ' ' ' |
		sort
}

# options_agree PAGE VERB...
options_agree() {
	formats "$1" || return 1
	section "$dir/text" OPTIONS | options >"$dir/have"
	shift
	"$lkdf" "$@" --help | sed '1,/^options:/d' | options >"$dir/want"
	[ -s "$dir/want" ] && diff "$dir/want" "$dir/have"
}

# verbs_agree PAGE NAME-OF-SECTION VERB...
verbs_agree() {
	formats "$1" || return 1
	section "$dir/text" "$2" | sed -n 's/^ \{7\}\([a-z]\+\).*/\1/p' \
		>"$dir/have"
	shift 2
	"$lkdf" "$@" --help | table >"$dir/want"
	[ -s "$dir/want" ] && diff "$dir/want" "$dir/have"
}

# functions_agree PAGE: with what the headers declare and the map exports.
functions_agree() {
	formats "$1" || return 1
	sed -n 's/^ \{7\}\(lkdf_[a-z0-9_]*\)()$/\1/p' "$dir/text" | sort \
		>"$dir/have"
	tests/lint/functions.py | cut -f 1 | sort -u >"$dir/want"
	tests/lint/mapped.sh | diff - "$dir/want" &&
		diff "$dir/want" "$dir/have"
}

# check FACT SED-EXPRESSION FUNCTION PAGE ARGUMENT...: so of the page, and not
# after the change.
check() {
	fact=$1
	change=$2
	page=$4
	shift 2
	"$@" >"$dir/log"
	ok $? "$fact"
	sed "$change" "$page" >"$dir/wrong.1"
	test=$1
	shift 2
	if "$test" "$dir/wrong.1" "$@" >"$dir/log"; then false; fi
	ok $? "$fact: a fault is found"
}

# page_of VERB...: made as $dir/page.1
page_of() {
	"$lkdf" help --man "$@" >"$dir/page.1" 2>"$dir/log"
	ok $? "lkdf help --man $*"
}

if ! command -v groff >/dev/null; then
	echo '1..0 # SKIP no groff'
	exit 0
fi
page_of
check 'lkdf(1) formats' 's/^\.SH NAME/.SX NAME/' formats "$dir/page.1"
check 'lkdf(1) has each verb' '/^\\fBtopo/d' verbs_agree "$dir/page.1" VERBS
page_of trace
check 'lkdf-trace(1) has each word' '/^\\fBcheck/d' verbs_agree \
	"$dir/page.1" WORDS trace
"$lkdf" --help | table | grep -v '^trace$' >"$dir/verbs"
"$lkdf" trace --help | table | sed 's/^/trace /' >>"$dir/verbs"
while read -r verb; do
	# shellcheck disable=SC2086
	page_of $verb
	# shellcheck disable=SC2086
	check "the page has each option of $verb" \
		's/^\\fB\\-\(h\\fR, .*\)/\\fB\\-x\1/' \
		options_agree "$dir/page.1" $verb
	grep -q "^lkdf..$(echo "$verb" | sed 's/ /../') .- [a-z]" "$dir/page.1"
	ok $? "the page of $verb says what it is" "$dir/page.1"
done <"$dir/verbs"

lib/man3.sh 0.1.0 lib/include/lkdf/*.h >"$dir/page.1" 2>"$dir/log"
ok $? 'lib/man3.sh'
check 'lkdf(3) has each function' '/^\.BR lkdf_scope_wait/d' functions_agree \
	"$dir/page.1"

# function_agrees PAGE NAME: the headings, the arguments that the header names,
# and pages that are there.
function_agrees() {
	formats "$1" || return 1
	section "$dir/text" NAME | grep -q "^ *$2 - [A-Za-z]" || return 1
	section "$dir/text" SYNOPSIS | tr -s ' \n' ' ' >"$dir/have"
	grep -q "#include <lkdf/[a-z]*\.h>.*[ *]$2(.*);" "$dir/have" || return 1
	header=$(sed -n 's/.*<lkdf\/\([a-z]*\.h\)>.*/\1/p' "$dir/text" | head -n 1)
	sed -n "/^ \* $2() - /,/\*\//s/^ \* @\([a-z0-9_]*\):.*/\1/p" \
		"lib/include/lkdf/$header" >"$dir/want"
	section "$dir/text" PARAMETERS |
		sed -n 's/^ \{7\}\([a-z0-9_]\{1,\}\).*/\1/p' >"$dir/have"
	diff "$dir/want" "$dir/have" || return 1
	if grep -q "^ \* $2() - " "lib/include/lkdf/$header" &&
		sed -n "/^ \* $2() - /,/\*\//p" "lib/include/lkdf/$header" |
		grep -q '^ \* Return:'; then
		section "$dir/text" 'RETURN VALUE' | grep -q . || return 1
	fi
	sed -n 's/^\.BR \(lkdf_[a-z0-9_]*\) (3).*/\1/p' "$1" >"$dir/have"
	while read -r other; do
		[ -s "$dir/pages/$other.3" ] || return 1
	done <"$dir/have"
}
mkdir "$dir/pages"
lib/man3_pages.sh 0.1.0 "$dir/pages" lib/include/lkdf/*.h 2>"$dir/log"
ok $? 'lib/man3_pages.sh'
find "$dir/pages" -type f -printf '%f\n' | sed 's/\.3$//' | sort >"$dir/made"
tests/lint/mapped.sh | diff - "$dir/made" >"$dir/log"
ok $? 'a page for each function that the library exports, and no other'
while read -r name; do
	function_agrees "$dir/pages/$name.3" "$name" >"$dir/log" ||
		echo "$name: $(head -n 1 "$dir/log")"
done <"$dir/made" >"$dir/odd"
cp "$dir/odd" "$dir/log"
[ ! -s "$dir/odd" ]
ok $? 'each says what, how, with which arguments and results'
check 'the page of lkdf_for()' '/^\.I fn$/d' function_agrees \
	"$dir/pages/lkdf_for.3" lkdf_for
check 'the pages that it names' 's/lkdf_for_in (3)/lkdf_for_out (3)/' \
	function_agrees "$dir/pages/lkdf_for.3" lkdf_for
if command -v mandoc >/dev/null; then
	mandoc -Tlint -W error "$dir"/pages/*.3 >"$dir/log"
	ok $? 'mandoc finds no error in them'
fi

# refused STATUS TEXT WORD...
refused() {
	want=$1
	text=$2
	shift 2
	"$lkdf" help --man "$@" >"$dir/log" 2>&1
	[ $? -eq "$want" ] && grep -q -e "$text" "$dir/log"
	ok $? "lkdf help --man $* is refused: $text"
}
refused 2 'lkdf topo' topp
refused 2 'lkdf trace check' trace check2
refused 2 'too many words at "doctor"' topo doctor
echo "1..$nr"
exit "$failed"
