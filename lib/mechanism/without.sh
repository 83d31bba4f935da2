#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What make WITHOUT=NAME[,NAME] builds in place of mechanisms of workers.
#
#	without.sh rows		the names in mechanism/rows.h
#	without.sh check NAME..	what is wrong with leaving these out, or nothing
#	without.sh write NAME	C: a row with data and nothing else, and an empty
#				version of each function of the header
#
# An empty version returns 0, false or NULL. One that has to answer otherwise
# is in lib/mechanism/NAME/absent.c.
set -eu
here=${0%/*}

rows() {
	sed -n 's/^\tROW(\(.*\), .*/\1/p' "$here/rows.h"
}

# row NAME: the lines of its fields
row() {
	sed -n "/^const struct mechanism $1_mechanism = {/,/^};/p" "$here/$1"/*.c
}

# field ROW NAME: the string of one field of a row
field() {
	row "$1" | sed -n "s/^\t\.$2 = \"\(.*\)\",\$/\1/p"
}

check() {
	for name; do
		rows | grep -qx -- "$name" || {
			echo "WITHOUT=$name: no such mechanism; there are" \
				"$(rows | sort | xargs)"
			return
		}
		why=$(field "$name" stays)
		[ -z "$why" ] || {
			echo "WITHOUT=$name: it cannot be left out: $why"
			return
		}
	done
	also=
	for other in $(rows); do
		case " $* " in *" $other "*) continue ;; esac
		for needed in $(field "$other" needs); do
			case " $* " in *" $needed "*) also="$also,$other" ;; esac
		done
	done
	[ -z "$also" ] || echo "WITHOUT=$(echo "$*" | tr ' ' ,): $(echo \
		"${also#,}" | sed 's/,/ and /g') cannot work then; leave that" \
		"out as well: WITHOUT=$(echo "$*" | tr ' ' ,)$also"
}

# The functions that a header declares, a line each, without those in absent.c.
declared() {
	sed 's,/\*.*\*/,,; /\/\*/,/\*\//d; /^#/d' "$1" | tr '\n\t' '  ' | awk '
	{
		for (i = 1; i <= length($0); i++) {
			c = substr($0, i, 1)
			if (c == "}" && !--depth)
				c = ";"
			else if (c == "{")
				depth++
			if (!depth)
				out = out c
		}
		nr = split(out, part, ";")
		for (i = 1; i <= nr; i++) {
			gsub(/ +/, " ", part[i])
			sub(/^ /, "", part[i])
			if (part[i] ~ /^[a-z].*\)$/ && part[i] !~ /^static /)
				print part[i]
		}
	}'
}

write() {
	own=$here/$1/absent.c
	[ -e "$own" ] || own=/dev/null
	echo "#include \"mechanism/$1/$1.h\""
	[ "$own" = /dev/null ] || echo "#include \"mechanism/$1/absent.c\""
	printf '\nconst struct mechanism %s_mechanism = {\n' "$1"
	row "$1" | awk '
	/^\t\./ { is_in = /^\t\.(name|of_[a-z]+) =/ }
	is_in && /^\t/ { print }'
	echo '};'
	declared "$here/$1/$1.h" | while read -r line; do
		name=${line%%(*}
		name=${name##*[ *]}
		grep -q "^[a-z].*[ *]$name(" "$own" && continue
		case $line in
		"void $name("*) body='' ;;
		*) body='return 0;' ;;
		esac
		printf '\n%s\n{\n\t%s\n}\n' "$line" "$body"
	done
}

what=$1
shift
"$what" "$@"
