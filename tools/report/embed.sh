#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The page's sources as a C file on standard output. First lines, which state
# the licence to readers of the sources, stay out of the style and the frame.
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tail -n +2 page.html >"$tmp/frame"
tail -n +2 page.css >"$tmp/style"
{
	echo '"use strict";'
	tail -n +2 timeline.js
	tail -n +2 input.js
	tail -n +2 tables.js
	tail -n +2 page.js
} >"$tmp/script"

# base64 of SHA-256: hexadecimal digits, then bytes
hash_of() {
	for byte in $(sha256sum "$1" | cut -c 1-64 | sed 's/../& /g'); do
		# shellcheck disable=SC2059
		printf "\\$(printf %03o "0x$byte")"
	done | base64
}

echo '#include "report/page.h"'
for name in frame style script; do
	echo "const char page_${name}[] = {"
	od -An -v -tu1 "$tmp/$name" | sed 's/  *\([0-9][0-9]*\)/\1,/g'
	echo '};'
	echo "const size_t page_${name}_size = sizeof(page_$name);"
done
for name in style script; do
	echo "const char page_${name}_hash[] = \"$(hash_of "$tmp/$name")\";"
done
