#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A new user's first minutes: what README says is typed, line by line as it stands
# there, into a shell of a clean root of Debian 12 that has make and the sources,
# until an own program has a report. Each step tells how long it took. Called by make
# check-walk, as it takes root, packages and minutes:
#
#	test_walk.sh SOURCES.tar.gz
#
# make check is typed last, until it compiles: its run is that of make check itself.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/../tools/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh
# shellcheck source=tests/packaging/root.sh
. tests/packaging/root.sh
sources=$(realpath "${1:?usage: test_walk.sh SOURCES.tar.gz}")
: >"$dir/log"
reason=$(no_root bookworm)
if [ -n "$reason" ]; then
	echo "1..0 # SKIP no walk: $reason"
	exit 0
fi
{
	inside apt-get update -qq && apt_install make &&
		mkdir "$root/own" "$root/sources" &&
		tar -C "$root/sources" --strip-components=1 -xzf "$sources"
} >"$dir/log" 2>&1
rc=$?
ok $rc 'a clean root with make and the sources'
[ $rc -eq 0 ] || { echo "1..$nr" && exit 1; }
enter_root
in_all=0

# told STATUS FACT: with the time since $began
told() {
	took=$(($(date +%s) - began))
	in_all=$((in_all + took))
	ok "$1" "$2"
	echo "# which took $took s"
}

# typed FOLDER FILE [COMMAND...]: its lines, in that folder, to $dir/log; the shell is
# started by the command
typed() {
	began=$(date +%s)
	folder=$1
	{
		printf 'set -e\ncd %s\n' "$folder"
		cat "$2"
	} >"$root/typed"
	shift 2
	inside "$@" bash /typed >"$dir/log" 2>&1
}

# Lines of README that are indented: "make run", "make check", and what they do.
sed -n 's/^    \(make run\b.*\)/\1/p' README.md >"$dir/run"
sed -n 's/^    \(make check\b.*\)/\1/p' README.md >"$dir/check"
[ "$(wc -l <"$dir/run")" -eq 1 ] && [ "$(wc -l <"$dir/check")" -eq 1 ]
ok $? 'README has two commands' README.md
fenced cpp 1 >"$root/own/primes.cc"
fenced sh 1 >"$dir/install"
fenced sh 2 >"$dir/commands"

for name in run check; do
	! typed /sources "$dir/$name" unshare -n env NO_INSTALL=1 &&
		grep -q 'apt-get install .*libhwloc-dev' "$dir/log"
	told $? "make $name offline names what is missing"
done
in_all=0
typed /sources "$dir/run"
rc=$?
grep -q '^What cost most' "$dir/log" && [ $rc -eq 0 ]
told $? 'make run installs, builds, and ends with what cost most'
typed /sources "$dir/install"
told $? "README's installation"
typed /own "$dir/commands"
told $? "README's program is built, run and reported"
wanted Documentation/examples/cpp/primes.cc >"$dir/want"
grep -qxFf "$dir/want" "$dir/log" && grep -q '^What costs most' "$dir/log" &&
	grep -q '^  for  *[1-9][0-9]* ' "$dir/log"
ok $? 'it prints what README says, and its report has the loop'
echo "# from README to the report of an own program: $in_all s"

# Without root, where a package of a test is missing.
inside useradd -m -d /user user >"$dir/log" 2>&1 &&
	cp -r "$root/sources" "$root/user/sources" &&
	inside chown -R user: /user/sources
! typed /user/sources "$dir/check" setpriv --reuid user --regid user \
	--init-groups env HOME=/user &&
	grep -q '^missing packages, please: apt-get install ' "$dir/log"
told $? 'make check of a user names what is missing'

typed /sources "$dir/check" &
typing=$!
began=$(date +%s)
tail --pid="$typing" -n +1 -f "$dir/log" 2>"$dir/more" | grep -qm 1 '^  CC '
told $? 'make check installs what tests need, and builds'
kill $typing 2>>"$dir/more"
# The shell's children are those whose root is this one.
for at in /proc/[0-9]*; do
	[ "$(readlink "$at/root" 2>>"$dir/more")" != "$root" ] ||
		kill "${at#/proc/}" 2>>"$dir/more"
done
wait
echo "1..$nr"
exit $((failed != 0))
