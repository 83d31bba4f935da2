#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A page in section 3 for each function of the headers given, as FOLDER/NAME.3,
# from the comment above its declaration: man3_pages.sh VERSION FOLDER HEADER...
set -eu
version=$1
folder=$2
shift 2
awk -v version="$version" -v folder="$folder" '
# Text of a comment: @name in italics, nothing a command of roff.
function roff(text,    out) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	sub(/^[.'"'"']/, "\\\\\\&&", text)
	while (match(text, /@[a-z_][a-z0-9_]*/)) {
		out = out substr(text, 1, RSTART - 1) "\\fI" \
			substr(text, RSTART + 1, RLENGTH - 1) "\\fR"
		text = substr(text, RSTART + RLENGTH)
	}
	return out text
}
# Other functions that a line names, in their order.
function note_names(text,    word) {
	while (match(text, /lkdf_[a-z0-9_]+\(\)/)) {
		word = substr(text, RSTART, RLENGTH - 2)
		text = substr(text, RSTART + RLENGTH)
		if (word == name || word in seen)
			continue
		seen[word] = 1
		also[++nr_also] = word
	}
}
function put(text) {
	if (needs_break && body[section] != "" && section != "PARAMETERS")
		body[section] = body[section] ".PP\n"
	needs_break = 0
	body[section] = body[section] roff(text) "\n"
	note_names(text)
}
function begin(line,    at) {
	at = index(line, "() - ")
	name = substr(line, 1, at - 1)
	split("", body)
	split("", seen)
	nr_also = needs_break = 0
	what = roff(substr(line, at + 5))
	note_names(substr(line, at + 5))
	prototype = ""
	section = "NAME"
}
function take_line(line,    arg) {
	if (line == "") {
		if (section == "NAME" || section == "PARAMETERS")
			section = "DESCRIPTION"
		needs_break = 1
	} else if (match(line, /^@[a-z_0-9]+:/)) {
		section = "PARAMETERS"
		arg = substr(line, 2, RLENGTH - 2)
		body[section] = body[section] ".TP\n.I " arg "\n"
		line = substr(line, RLENGTH + 1)
		sub(/^[ \t]+/, "", line)
		put(line)
	} else if (line ~ /^(Context|Return):/) {
		section = line ~ /^C/ ? "CONTEXT" : "RETURN VALUE"
		sub(/^[A-Za-z]+:[ \t]*/, "", line)
		needs_break = 0
		if (section == "CONTEXT" && line !~ /^lkdf_/)
			line = toupper(substr(line, 1, 1)) substr(line, 2)
		if (line != "")
			put(line)
	} else if (section == "NAME") {
		what = what " " roff(line)
	} else if (line ~ /^\t/) {
		body[section] = body[section] ".br\n"
		needs_break = 0
		sub(/^\t/, "", line)
		put(line)
	} else {
		sub(/^[ \t]+/, "", line)
		put(line)
	}
}
function print_section(title, text, page) {
	if (text != "")
		printf ".SH %s\n%s", title, text > page
}
function print_page(    page, i, text) {
	page = folder "/" name ".3"
	text = prototype
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	printf ".\\\" Made by lib/man3_pages.sh from lkdf/%s.\n", header > page
	printf ".TH %s 3 \"\" \"lkdf %s\" \"Library Functions Manual\"\n", \
		toupper(name), version > page
	printf ".nh\n.ad l\n.SH NAME\n%s \\- %s\n", name, what > page
	printf ".SH SYNOPSIS\n.nf\n.B #include <lkdf/%s>\n.PP\n", header > page
	printf ".ft B\n%s.ft R\n.fi\n", text > page
	print_section("PARAMETERS", body["PARAMETERS"], page)
	print_section("DESCRIPTION", body["DESCRIPTION"], page)
	print_section("CONTEXT", body["CONTEXT"], page)
	print_section("RETURN VALUE", body["RETURN VALUE"], page)
	print ".SH SEE ALSO" > page
	for (i = 1; i <= nr_also; i++)
		print ".BR " also[i] " (3)," > page
	print ".BR lkdf (3)" > page
	close(page)
	name = ""
}
FNR == 1 {
	header = FILENAME
	sub(/.*\//, "", header)
	in_comment = 0
	name = ""
}
/^\/\*\*$/ { in_comment = is_head = 1; next }
in_comment && /\*\// { in_comment = is_head = 0; next }
is_head {
	sub(/^ \* ?/, "")
	is_head = 0
	name = ""
	if (/^lkdf_[a-z0-9_]+\(\) - /)
		begin($0)
	next
}
in_comment && name != "" { sub(/^ \* ?/, ""); take_line($0); next }
in_comment || name == "" || /^#/ || /^$/ { next }
{
	prototype = prototype $0 "\n"
	if (/;[ \t]*$/)
		print_page()
}
' "$@"
