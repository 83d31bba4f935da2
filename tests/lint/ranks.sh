#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Layering: an include in lib written "folder/file.h" names the own folder or
# a strictly lower rank. Each .c includes its own header first; one without a
# header of its own starts with another of its folder, in api with a public
# one. Rooms of tools have ranks of their own: a verb sees what is below it.
set -u

# Lowest first. Folders of one rank do not see each other.
ranks='
0	base
1	check topo trace
2	mem
3	ring signal policy opencl cuda
4	device sched
5	mechanism
6	core
7	scope
8	channel data
9	task
10	graph
11	run
12	io offload
13	seal
14	rt
15	api malloc mpi gomp
'

# Rooms of the program lkdf. A file above the rooms sees none of them.
tools='
1	cli
2	stat
3	trace
4	pages probe run
5	check doctor report
6	bench top
7	main
'

export ranks tools
# shellcheck disable=SC2016
tests/lint/files.sh lib | grep '^lib/.*\.[ch]$' | tr '\n' '\0' |
	xargs -0 -r awk '
BEGIN {
	nr = split(ENVIRON["ranks"], line, "\n")
	for (i = 1; i <= nr; i++) {
		nr_folders = split(line[i], word, "[ \t]+")
		for (j = 2; j <= nr_folders; j++)
			rank[word[j]] = word[1]
	}
	bad = 0
}
function say(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}
function exists(path,    line, rc)
{
	rc = (getline line < path) >= 0
	close(path)
	return rc
}
function check_first(inc,    own)
{
	own = base
	sub(/\.c$/, ".h", own)
	if (exists("lib/" own)) {
		if (inc != "\"" own "\"")
			say("include \"" own "\" first, not " inc)
	} else if (folder == "api") {
		if (inc !~ /^<lkdf\// && inc !~ /^"api\//)
			say("include a public header <lkdf/...> first")
	} else if (index(inc, "\"" folder "/") != 1) {
		say("no header of its own: include one of " folder "/ first")
	}
}
function check_rank(inc,    to)
{
	if (split(inc, part, "/") < 2) {
		if (inc != "mc_atomic.h" && inc != "rmw_atomic.h")
			say("write \"folder/file.h\", not \"" inc "\"")
		return
	}
	to = part[1]
	if (to == folder)
		return
	if (!(to in rank))
		say("\"" inc "\": " to "/ is no folder with a rank")
	else if (rank[to] + 0 >= rank[folder] + 0)
		say("rank " rank[folder] " (" folder ") must not see rank " \
		    rank[to] " (" to "): pass a function pointer down, or " \
		    "move what is shared to a lower rank")
}
FNR == 1 {
	base = FILENAME
	sub(/^lib\//, "", base)
	folder = base
	sub(/\/.*/, "", folder)
	seen = 0
}
folder == "include" { next }
folder == base || !(folder in rank) {
	if (FNR == 1)
		say("not in a folder that has a rank")
	next
}
/^[ \t]*#[ \t]*include[ \t]*["<]/ {
	inc = $0
	sub(/^[^"<]*/, "", inc)
	match(inc, /^(<[^>]*>|"[^"]*")/)
	inc = substr(inc, 1, RLENGTH)
	if (!seen++ && base ~ /\.c$/)
		check_first(inc)
	if (inc ~ /^"/)
		check_rank(substr(inc, 2, length(inc) - 2))
}
END { exit bad }' || exit 1
# shellcheck disable=SC2016
tests/lint/files.sh tools | grep '^tools/.*\.[ch]$' | tr '\n' '\0' |
	xargs -0 -r awk '
BEGIN {
	nr = split(ENVIRON["tools"], line, "\n")
	for (i = 1; i <= nr; i++) {
		nr_folders = split(line[i], word, "[ \t]+")
		for (j = 2; j <= nr_folders; j++)
			rank[word[j]] = word[1] + 0
	}
	bad = 0
}
function say(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}
FNR == 1 {
	nr = split(FILENAME, part, "/")
	folder = nr > 2 ? part[2] : ""
	if (nr > 2 && !(folder in rank))
		say(folder "/ is no room of tools that has a rank")
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
	inc = $0
	sub(/^[^"]*"/, "", inc)
	sub(/".*/, "", inc)
	if (split(inc, part, "/") != 2 || !(part[1] in rank) || part[1] == folder)
		next
	if (!folder)
		say("a file above the rooms must not see \"" inc "\"")
	else if (rank[part[1]] >= rank[folder])
		say("rank " rank[folder] " (" folder ") must not see rank " \
		    rank[part[1]] " (" part[1] ")")
}
END { exit bad }'
