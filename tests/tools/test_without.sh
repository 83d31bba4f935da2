#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# make WITHOUT=: what cannot be left out is refused with the reason; a library
# without one mechanism, whose turn it is by commit, or WITHOUT_ROW, runs programs
# and what the oracle makes. A program that tests the mechanism itself is skipped.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
top=$build
program=tests/api

# refuses ROWS WORDS
refuses() {
	! make -s CC="${CC:-gcc}" BUILD="$dir/b" WITHOUT="$1" config \
		>"$dir/log" 2>&1 && grep -qF "$2" "$dir/log"
	ok $? "make WITHOUT=$1: $2"
}

refuses gates 'no such mechanism; there are client crew due'
refuses home 'it cannot be left out: nobody else takes'
refuses quota 'leave that out as well: WITHOUT=quota,lend,team'

row=${WITHOUT_ROW:-$(tests/turn.sh 6 gate client crew far gate holdoff lend \
	publish unpin victims team due,part lend,quota,team)}
make -s CC="${CC:-gcc}" BUILD="$top" WITHOUT="$row" config >"$dir/log" 2>&1 &&
	grep -q "^# without the mechanisms $(echo "$row" | tr , ' ')\$" "$dir/log"
ok $? "make config says that $row is left out"
lib=liblkdf.so.$(sed -n 's/^VERSION := //p' Makefile)
# Objects of the library are those of $top, if make has nothing to do there.
make -n V=1 CC="${CC:-gcc}" BUILD="$top" "$top/$lib" >"$dir/log" 2>&1
if grep -q -e ' -c -o ' "$dir/log"; then
	skip "a library without $row" "$top was built with other flags"
	echo "1..$nr"
	exit "$failed"
fi
without=$top/without-$(echo "$row" | tr , -)
make -s QUIET=1 CC="${CC:-gcc}" BUILD="$top" WITHOUT="$row" \
	"$without/$lib" >"$dir/log" 2>&1
ok $? "make WITHOUT=$row builds the library"
make -n V=1 -W lib/lkdf.map CC="${CC:-gcc}" BUILD="$top" WITHOUT="$row" \
	"$without/$lib" >"$dir/log" 2>&1 && grep -q mechanism/home "$dir/log" &&
	! grep -E "mechanism/($(echo "$row" | tr , '|'))/" "$dir/log"
ok $? 'and links none of its objects'

# needs ROW PROGRAM...: programs whose facts are those of the mechanism.
needs() {
	case ",$row," in *",$1,"*) ;; *) return ;; esac
	shift
	needed="$needed $*"
}

needed=
needs crew task/test_loop_crew
needs gate task/test_gate
needs lend task/test_lend
needs part place/test_place task/test_gang oracle
needs team task/test_team
# Members of a gang and those who lend their seats leave work to thieves.
needs victims task/test_gang task/test_lend

# Workers leave CPUs without the quota, too.
more=
case ",$row," in *,quota,*) more=rt/test_pin ;; esac

for t in $more graph/test_graph graph/test_loops place/test_place scope/test_scope \
	task/test_gang task/test_gate task/test_join task/test_lend \
	task/test_loop_crew task/test_many task/test_spawn task/test_team; do
	case " $needed " in *" $t "*)
		skip "$t" "it tests what $row does"
		continue
		;;
	esac
	[ -x "$top/$program/$t" ] || make -s QUIET=1 CC="${CC:-gcc}" \
		BUILD="$top" "$top/$program/$t" >"$dir/log" 2>&1
	LD_LIBRARY_PATH=$without "$limit" 120 "$top/$program/$t" \
		>"$dir/log" 2>&1
	ok $? "$t passes"
done
fact='100 programs of the oracle do what the model does'
case "$needed " in
*" oracle "*) skip "$fact" 'they have places that are parts of nodes' ;;
*)
	LD_LIBRARY_PATH=$without "$limit" 240 "$top/tests/oracle/oracle" \
		--programs 100 --base "${ORACLE_BASE:-1}" >"$dir/log" 2>&1
	ok $? "$fact"
	;;
esac
echo "1..$nr"
exit "$failed"
