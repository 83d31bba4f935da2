#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# newest.sh [FOLDER of headers...]: builds the module for the newest kernel
# whose headers are at hand, with the kernel's further warnings, of which there
# must be none. At hand are those that are given, those that are installed, and
# those that headers.sh finds or gets. Says TAP; without any it is skipped.
set -u
build=${BUILD:-build}
here=tests/kmod
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# "RELEASE FOLDER" of each folder in which modules can be built.
releases() {
	for dir; do
		f=$dir/include/config/kernel.release
		[ -f "$dir/Makefile" ] && [ -r "$f" ] &&
			echo "$(cat "$f") $(readlink -f "$dir")"
	done
}

# shellcheck disable=SC2046
newest=$({
	releases "$@" /lib/modules/*/build
	releases $(for v in 6.1 6.12; do "$here/headers.sh" $v 2>"$log"; done)
} | sort -V | tail -n 1)
if [ -z "$newest" ]; then
	echo "1..0 # SKIP $(tail -n 1 "$log")"
	exit 0
fi
release=${newest%% *} headers=${newest#* }
make --no-print-directory -s kmod BUILD="$build" KDIR="$headers" \
	KMOD_ARGS="W=1 ${KMOD_ARGS-}" >"$log" 2>&1
rc=$?
fact="the module is built for $release"
if [ $rc -ne 0 ]; then
	sed 's/^/# /' "$log"
	echo "not ok 1 - $fact"
	echo '1..1'
	exit 1
fi
echo "ok 1 - $fact"
if grep 'warning:' "$log" | sed 's/^/# /' | grep .; then
	echo 'not ok 2 - without a warning'
else
	echo 'ok 2 - without a warning'
fi
echo '1..2'
