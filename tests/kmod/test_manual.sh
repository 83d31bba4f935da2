#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf(4) against the header and the module: formatted without a warning, every
# call, field, constant, errno and parameter is there, none that is not; its
# example compiles. Each check is also given a page with a fault that it must
# find.
set -u
cd "$(dirname "$0")/../.." || exit 1
page=Documentation/lkdf.4
header=kmod/uapi/lkdf_kmod.h
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/lkdf" && cp "$header" "$work/lkdf/"
nr=0 failed=0

result() {
	nr=$((nr + 1))
	echo "$1 $nr - $2"
	[ "$1" = ok ] || failed=$((failed + 1))
}

# Both lists sorted; what is in one of them only is an error.
same() {
	diff "$1" "$2" >"$work/diff" && [ -s "$1" ] && return
	sed -n 's/^[<>]/&/p' "$work/diff"
	return 1
}

# "struct field" for each field of each struct of C text.
fields() {
	sed -e 's|/\*[^*]*\*/||g' "$1" | tr '\n' ' ' | sed 's/};/&\n/g' |
		awk 'match($0, /struct [a-z_]+ \{[^}]*\}/) {
			text = substr($0, RSTART, RLENGTH)
			split(text, w, /[ {]+/)
			sub(/^[^{]*\{/, "", text)
			n = split(text, line, ";")
			for (i = 1; i < n; i++) {
				sub(/^[ \t]+/, "", line[i])
				type = line[i]
				sub(/ .*/, "", type)
				sub(/^[^ ]+ /, "", line[i])
				m = split(line[i], name, /, */)
				for (k = 1; k <= m; k++)
					print w[2], type, name[k]
			}
		}'
}

structs_agree() {
	fields "$header" >"$work/want"
	fields "$1" >"$work/have"
	same "$work/want" "$work/have"
}

# Names that the header defines, but its own tools.
constants_agree() {
	sed -n 's/^#define \(LKDF_[A-Z_]*\) .*/\1/p' "$header" |
		grep -vE '^LKDF_KMOD_(ABI_.*|IOC|H|ASSERT)$' | sort -u \
		>"$work/want"
	grep -oE 'LKDF_(KMOD|MAP|BLOCK)_[A-Z_]*' "$1" | sort -u >"$work/have"
	same "$work/want" "$work/have"
}

# Of the section ERRORS; the modes of the device give one more.
errnos_agree() {
	{
		grep -ohE -- '-E[A-Z0-9]+' kmod/*.c | tr -d -
		echo EACCES
	} | sort -u >"$work/want"
	sed -n '/^\.SH ERRORS/,/^\.SH LIMITS/s/^\.B \(E[A-Z0-9]*\)$/\1/p' "$1" |
		sort -u >"$work/have"
	same "$work/want" "$work/have"
}

# The errnos of a call in the page are at least those of the header's text.
calls_agree() {
	for call in SETUP ADD DEL REFRESH QUERY; do
		awk -v call="LKDF_KMOD_$call" '
			$1 == "*" && $2 ~ /^LKDF_KMOD_/ { on = $2 == call }
			$0 ~ /^ \*$/ { on = 0 }
			on' "$header" | grep -oE -- '-E[A-Z0-9]+' | tr -d - |
			sort -u >"$work/want"
		awk -v call="LKDF_KMOD_$call:" '
			/^\.SH ERRORS/ { is_here = 1 }
			is_here && (/^LKDF_KMOD_/ || /^\.SH LIMITS/) {
				on = $0 == call
			}
			on && /^\.B E/ { print $2 }' "$1" | sort -u \
			>"$work/have"
		[ -s "$work/want" ] && [ -s "$work/have" ] || return 1
		comm -23 "$work/want" "$work/have" | sed "s/^/$call: /" \
			>"$work/missing"
		cat "$work/missing"
		[ ! -s "$work/missing" ] || return 1
	done
}

parameters_agree() {
	sed -n 's/^module_param_named(\([a-z_]*\),.*/\1/p' kmod/main.c |
		sort >"$work/want"
	sed -n '/^\.SS Module/,/^\.SH/s/^\.IR \([a-z_]*\) .*/\1/p' "$1" | sort \
		>"$work/have"
	same "$work/want" "$work/have"
}

example_compiles() {
	sed -n '/example: begin/,/example: end/p' "$1" | grep -v '^\.\\"' |
		sed -e 's/\\-/-/g' -e 's/\\e/\\/g' >"$work/example.c"
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$work" \
		-o "$work/example" "$work/example.c" 2>&1
}

# Every errno of the page is provoked by a test of the module.
errnos_are_tested() {
	errnos_agree "$1" || return 1
	while read -r e; do
		grep -qw "$e" tests/kmod/*.[ch] && continue
		echo "$e"
		return 1
	done <"$work/have"
}

formats() {
	groff -man -ww -Tutf8 "$1" 2>&1 >"$work/text" | grep . && return 1
	[ -s "$work/text" ]
}

# check NAME SED-EXPRESSION: the page is right, and wrong after the change.
check() {
	if "$1" "$page" >"$work/why"; then
		result ok "$1"
	else
		result 'not ok' "$1"
		sed 's/^/# /' "$work/why"
	fi
	sed "$2" "$page" >"$work/wrong.4"
	if cmp -s "$page" "$work/wrong.4" ||
		"$1" "$work/wrong.4" >"$work/why"; then
		result 'not ok' "$1 finds a fault"
	else
		result ok "$1 finds a fault"
	fi
}

check structs_agree 's/__u32 max_blocks; .*0: no such/__u32 max_block; \/* no/'
check constants_agree 's/LKDF_BLOCK_PARTIAL/LKDF_BLOCK_PART/'
check errnos_agree '/^\.B ENXIO/d'
check calls_agree '/^LKDF_KMOD_DEL:/,/^LKDF_KMOD_REFRESH:/{/^\.B ENOENT/d}'
check errnos_are_tested 's/^\.B EBUSY/.B EMLINK/'
check parameters_agree '/^\.IR max_files/d'
check example_compiles 's/memory = mmap/memories = mmap/'
if command -v groff >/dev/null; then
	check formats 's/^\.SS poll(2)/.SX poll(2)/'
else
	result ok 'formats # SKIP no groff'
fi
echo "1..$nr"
[ "$failed" = 0 ]
