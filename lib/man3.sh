#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf(3) on standard output, from the headers given: for each what its first
# comment says, all of it for base.h, which has the conventions, else the first
# paragraph; and each function with the line that its comment begins with.
set -eu
version=$1
shift
cat <<END
.\\" Made by lib/man3.sh from the public headers.
.TH LKDF 3 "" "lkdf $version" "Library Functions Manual"
.nh
.ad l
.SH NAME
lkdf \\- tasks and dataflow graphs on NUMA\\-pinned, work\\-stealing workers
.SH LIBRARY
.B cc
\\&...
.B \$(pkg\\-config \\-\\-cflags \\-\\-libs lkdf)
.SH SYNOPSIS
.B #include <lkdf/lkdf.h>
.SH DESCRIPTION
This page names the functions of each header.
Each function has a page of its own with arguments, owners and errors, as
.BR lkdf_open (3).
END
awk '
function roff(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	sub(/^[.'"'"']/, "\\\\\\&&", text)
	return text
}
FNR == 1 {
	name = FILENAME
	sub(/.*\//, "", name)
	print ".SS <lkdf/" name ">"
	comment = 0
	is_first = is_told = 1
	next
}
/^\/\*/ { comment = 1; is_head = /^\/\*\*$/; next }
!comment { next }
/\*\// { comment = is_first = has_text = 0; next }
{ sub(/^ \*[ \t]?/, "") }
is_first && /^$/ { is_told = name == "base.h"; if (is_told) print ".PP"; next }
is_first && is_told { print roff($0); next }
is_head && match($0, /^lkdf_[a-z0-9_]+\(\) - /) {
	print ".TP\n.BR " substr($0, 1, RLENGTH - 5) " ()"
	print roff(substr($0, RLENGTH + 1))
	has_text = 1
	is_head = 0
	next
}
# A line that goes on; arguments are next, or an empty line.
/^(@|$)/ { has_text = 0 }
has_text { print roff($0) }
' "$@"
cat <<END
.SH SEE ALSO
.BR lkdf (1),
.BR lkdf (4)
END
