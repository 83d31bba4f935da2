#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The example dupes against an oracle that knows nothing but SHA-256.
#
#   tests/tools/test_dupes.sh [PROGRAM]
#
# PROGRAM, or DUPES in the environment, or the one in $BUILD.
dupes=${1:-${DUPES-}}
[ -z "$dupes" ] || dupes=$(realpath "$dupes")
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
dupes=${dupes:-$build/examples/dupes}
tmp=$dir/files
mkdir "$tmp"
: >"$dir/log"
# The change test's child is ours alone
changer=
trap 'test -z "$changer" || kill "$changer" 2>/dev/null
	chmod -R u+rwx "$dir" 2>/dev/null; rm -rf "$dir"' EXIT

check() {
	python3 tests/tools/dupes/check.py "$@"
}

# is GOT WANT SENTENCE
is() {
	[ "$1" = "$2" ]
	ok $? "$3"
	[ "$1" = "$2" ] || echo "# got '$1', expected '$2'"
}

# run ARGS: JSON in $tmp/json, stderr in $tmp/err, status in $rc
run() {
	"$limit" 60 "$dupes" --json "$@" >"$tmp/json" 2>"$tmp/err"
	rc=$?
}

if ! [ -x "$dupes" ]; then
	echo "not ok 1 - there is a program $dupes"
	echo "1..1"
	exit 1
fi
if ! command -v python3 >/dev/null; then
	echo "1..0 # SKIP no python3 for the oracle"
	exit 0
fi

finds_what_sha256_finds() {
	run "$tmp/a"
	is "$rc" 0 "exit status is 0"
	check sets "$tmp/a" "$tmp/json"
	ok $? "sets, copies, links and waste are those of SHA-256"
	check totals "$tmp/a" "$tmp/json"
	ok $? "totals are those of lstat"
	is "$(wc -c <"$tmp/err")" 0 "nothing on stderr when it is no terminal"
	run --workers 1 "$tmp/a"
	check sets "$tmp/a" "$tmp/json"
	ok $? "one worker finds the same"
	run --workers 4 "$tmp/a"
	check sets "$tmp/a" "$tmp/json"
	ok $? "four workers find the same"
	run --no-hash "$tmp/a"
	check sets "$tmp/a" "$tmp/json"
	ok $? "comparing alone, without hashes, finds the same"
	run "$tmp/a" "$tmp/a/sub" "$tmp/a"
	is "$(check get "$tmp/json" totals.directories_again)" 2 \
		"a directory given twice is read once"
	check totals "$tmp/a" "$tmp/json"
	ok $? "overlapping arguments do not change the totals"
}

# same_everywhere DIR WHAT: on rings, threads, without either, with few tokens
same_everywhere() {
	for how in LKDF_IO=steal LKDF_IO=threads LKDF_SERIAL=yes; do
		env "$how" "$limit" 60 "$dupes" --json "$1" \
			>"$tmp/json.$how" 2>>"$tmp/err"
		check sets "$1" "$tmp/json.$how"
		ok $? "$2: $how finds what SHA-256 finds"
	done
	"$limit" 60 "$dupes" --json --open-files 2 --buffers 1M "$1" \
		>"$tmp/json.few" 2>>"$tmp/err"
	check same "$tmp/json.LKDF_IO=steal" "$tmp/json.LKDF_IO=threads" \
		"$tmp/json.LKDF_SERIAL=yes" "$tmp/json.few"
	ok $? "$2: result is the same, also with two open files at a time"
	rm "$tmp"/json.*
}

finds_the_same_everywhere() {
	: >"$tmp/err"
	same_everywhere "$tmp/a" "tree of every kind"
	for seed in 1 2 3; do
		mkdir "$tmp/r"
		check random "$tmp/r" $seed
		same_everywhere "$tmp/r" "random tree $seed"
		rm -rf "$tmp/r"
	done
	is "$(wc -c <"$tmp/err")" 0 "nothing on stderr in any of them"
	(
		# shellcheck disable=SC3045
		ulimit -n 80
		"$limit" 60 "$dupes" --json "$tmp/a"
	) >"$tmp/json" 2>"$tmp/err"
	check sets "$tmp/a" "$tmp/json"
	ok $? "80 descriptors are enough"
}

prints_safely() {
	"$limit" 60 "$dupes" --top 0 "$tmp/a" >"$tmp/text"
	is "$(tr -d '\n\t\040-\176\200-\377' <"$tmp/text" | wc -c)" 0 \
		"text holds no control character but newline and tab"
	is "$(LC_ALL=C grep -c "$(printf '\302\233')" "$tmp/text")" 0 \
		"nor a C1 control character"
	grep -qF 'new\nline' "$tmp/text"
	ok $? "a newline in a name is shown as \\n"
	sets=$(check get "$tmp/json" totals.sets)
	is "$(grep -c ' wasted: ' "$tmp/text")" "$sets" "--top 0 prints all sets"
	"$limit" 60 "$dupes" --top 1 "$tmp/a" >"$tmp/text"
	is "$(grep -c ' wasted: ' "$tmp/text")" 1 "--top 1 prints one set"
	grep -q "^and $((sets - 1)) sets that waste less" "$tmp/text"
	ok $? "and says how many are left out"
	grep -q 'worker.*[0-9] tasks' "$tmp/text"
	ok $? "the runtime's summary is there"
	run --min-size 1M "$tmp/a"
	is "$(check get "$tmp/json" totals.sets)" 6 \
		"--min-size leaves out smaller files"
}

refuses_bad_usage() {
	"$dupes" >/dev/null 2>&1
	is $? 2 "no argument: exit status 2"
	"$dupes" --workers x "$tmp/a" >/dev/null 2>&1
	is $? 2 "no number: exit status 2"
	"$dupes" --open-files 1 "$tmp/a" >/dev/null 2>&1
	is $? 2 "one open file cannot be compared: exit status 2"
	"$dupes" --buffers 1023K "$tmp/a" >/dev/null 2>&1
	is $? 2 "buffers too small: exit status 2"
	"$dupes" --min-size 99999999999999G "$tmp/a" >/dev/null 2>&1
	is $? 2 "a number too large: exit status 2"
	"$dupes" --help | grep -q '^usage:'
	ok $? "--help prints help"
	run "$tmp/a/sub" "$tmp/nowhere"
	is "$rc" 1 "an argument that does not exist: exit status 1"
	grep -q 'nowhere: No such file' "$tmp/err"
	ok $? "it is named"
	check sets "$tmp/a/sub" "$tmp/json"
	ok $? "the other argument's result is printed all the same"
	"$dupes" "$tmp/a" >/dev/full 2>/dev/null
	is $? 1 "a full disk behind stdout: exit status 1"
}

# Runs it as one who may not read all.
bears_unreadable_files() {
	what="unreadable files and directories are counted and named"
	mkdir "$tmp/u" "$tmp/u/dir"
	for f in 1 2 3 dir/4; do
		echo same >"$tmp/u/$f"
	done
	chmod 0 "$tmp/u/3" "$tmp/u/dir"
	chmod 755 "$dir" "$tmp" "$tmp/u"
	as=
	if [ "$(id -u)" = 0 ]; then
		as="setpriv --reuid 65534 --regid 65534 --clear-groups"
		if ! $as "$dupes" --help >/dev/null 2>&1; then
			skip "$what" "uid 65534 cannot run the program"
			return
		fi
	fi
	# shellcheck disable=SC2086
	"$limit" 60 $as "$dupes" --json "$tmp/u" >"$tmp/json" 2>"$tmp/err"
	is $? 0 "files that cannot be read do not change the exit status"
	is "$(check get "$tmp/json" totals.unreadable)" 2 "$what"
	is "$(grep -c 'Permission denied' "$tmp/err")" 2 "each has its line"
	check errors "$tmp/json"
	ok $? "and its entry in the JSON object"
	is "$(check get "$tmp/json" totals.sets)" 1 "the readable ones are found"
}

# What has no equal by its size must not cost a single open.
opens_only_what_it_must() {
	what="files of a size of their own are never opened"
	if ! command -v strace >/dev/null; then
		skip "$what" "no strace"
		return
	fi
	if ! strace -f -o "$tmp/trace" -e trace=open,openat,openat2 \
		env LKDF_IO=threads "$limit" 100 "$dupes" "$tmp/a" \
		>/dev/null 2>&1; then
		skip "$what" "strace does not work here"
		return
	fi
	is "$(grep -c '/unique[0-9]*"' "$tmp/trace")" 0 "$what"
	is "$(grep -cE '/(fifo|socket|empty.|loop|dangling|link|hard1)"' \
		"$tmp/trace")" 0 "nor special and empty files, links, lone inodes"
	grep -q '/size4096.a"' "$tmp/trace"
	ok $? "others are, so the trace sees opens"
}

stays_right_in_large_trees() {
	mkdir "$tmp/many" "$tmp/deep"
	check many "$tmp/many"
	run "$tmp/many"
	is "$rc:$(check get "$tmp/json" totals.sets)" 0:500 \
		"500 pairs among 100,000 entries of one directory"
	is "$(check get "$tmp/json" totals.unique_size)" 99000 \
		"the other 99,000 have a size of their own"
	rm -rf "$tmp/many"
	check deep "$tmp/deep"
	run "$tmp/deep"
	is "$rc:$(check get "$tmp/json" totals.directories)" 0:101 \
		"a path of 20,000 bytes is read to its end"
	is "$(check get "$tmp/json" totals.waste)" 26000 \
		"equal files at its end are found"
}

# Best effort: it must neither crash nor lose what did not change.
bears_changing_files() {
	mkdir "$tmp/c"
	for i in 1 2 3; do
		head -c 3000000 /dev/zero >"$tmp/c/stable$i"
	done
	python3 tests/tools/dupes/check.py change "$tmp/c" 60 &
	changer=$!
	bad=0
	for i in LKDF_IO=steal LKDF_IO=steal LKDF_IO=steal LKDF_IO=steal \
		LKDF_IO=threads LKDF_IO=threads LKDF_SERIAL=yes LKDF_SERIAL=yes; do
		export "${i?}"
		run "$tmp/c"
		unset "${i%=*}"
		[ "$rc" -eq 0 ] || bad=$rc
		check stable "$tmp/c" "$tmp/json" || bad=1
		check errors "$tmp/json" || bad=1
	done
	kill "$changer" 2>/dev/null
	wait "$changer" 2>/dev/null
	changer=
	ok "$bad" "files that change meanwhile do no harm to the others"
}

# Two files that nobody can read to the end.
stops_when_asked() {
	mkdir "$tmp/s"
	if ! truncate -s 1T "$tmp/s/1" "$tmp/s/2" 2>/dev/null; then
		skip "an interrupt ends it" "no sparse files here"
		return
	fi
	echo small >"$tmp/s/3"
	echo small >"$tmp/s/4"
	timeout --preserve-status -k 30 -s INT $((3 * $(slowness))) "$dupes" --workers 2 --json \
		"$tmp/s" >"$tmp/json" 2>"$tmp/err"
	is $? 130 "an interrupt ends it: exit status 130"
	is "$(check get "$tmp/json" partial)" true "the result says it is a part"
	is "$(check get "$tmp/json" totals.sets)" 1 \
		"what was proven before is in it"
	check terminal "$dupes" "$tmp/s" >"$tmp/text"
	grep -q 'read, at most .* left, [0-9]*:[0-9][0-9]' "$tmp/text"
	ok $? "a terminal sees how much is left, in bytes and time"
	check terminal "$dupes" -q "$tmp/s" >"$tmp/text"
	is "$(grep -c left "$tmp/text")" 0 "--quiet shows no progress"
	rm -r "$tmp/s"
}

uses_a_fixed_memory() {
	mkdir "$tmp/m"
	i=0
	while [ $i -lt 40 ]; do
		truncate -s 16M "$tmp/m/$i"
		i=$((i + 1))
	done
	size=$(check memory "$limit" 100 "$dupes" --workers 2 "$tmp/m")
	[ "$size" -gt 0 ] && [ "$size" -lt 64 ]
	ok $? "40 files of 16 MiB take $size MiB, less than 64"
	rm -r "$tmp/m"
}

ends_loops_of_mounts() {
	what="a directory mounted below itself is read once"
	mkdir -p "$tmp/l/below"
	echo one >"$tmp/l/1"
	echo one >"$tmp/l/2"
	if ! unshare -m mount --bind "$tmp/l" "$tmp/l/below" 2>/dev/null; then
		skip "$what" "no right to mount"
		return
	fi
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount --bind "$2" "$2/below" &&
		exec "$3" 60 "$1" --json "$2"' sh "$dupes" "$tmp/l" "$limit" \
		>"$tmp/json" 2>"$tmp/err"
	is "$?:$(check get "$tmp/json" totals.directories_again)" 0:1 "$what"
	is "$(check get "$tmp/json" totals.files)" 2 "its files count once"
}

mkdir "$tmp/a"
check make "$tmp/a"
finds_what_sha256_finds
finds_the_same_everywhere
prints_safely
refuses_bad_usage
bears_unreadable_files
opens_only_what_it_must
stays_right_in_large_trees
bears_changing_files
stops_when_asked
uses_a_fixed_memory
ends_loops_of_mounts
echo "1..$nr"
[ "$failed" -eq 0 ]
