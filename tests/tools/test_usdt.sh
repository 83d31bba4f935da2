#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The probes for bpftrace, perf and gdb: those that Documentation/tools.rst
# names are in the library; gdb counts a program at them, and finds what the
# recording of the very run holds; bodies that nobody records meet none.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"

# Lines "NAME ARGUMENTS" of the notes.
readelf -n "$build/liblkdf.so" >"$dir/log" 2>&1
awk '/Provider:/ { ours = $2 == "lkdf" } /Name:/ { name = $2 }
	/Arguments:/ && ours { print name, NF - 1 }' "$dir/log" | sort -u \
	>"$dir/have"
if [ ! -s "$dir/have" ]; then
	skip 'probes' 'the library was built without sys/sdt.h'
	echo "1..$nr"
	exit 0
fi
# Lines of the table: ``name``  arguments, with commas between them
sed -n '/^Probes$/,$s/^``\([a-z_]*\)``  *\(.*\)$/\1,\2/p' \
	Documentation/tools.rst | awk -F, '{ print $1, NF - 1 }' | sort |
	diff - "$dir/have" >"$dir/log"
ok $? 'the probes and their arguments are those of the documentation'

if ! command -v gdb >/dev/null; then
	skip 'a program at its probes' 'no gdb'
	echo "1..$nr"
	exit "$failed"
fi
cat >"$dir/commands" <<'EOT'
set pagination off
set confirm off
set debuginfod enabled off
break main
run
EOT
for probe in body__begin body__end; do
	cat >>"$dir/commands" <<EOT
break -probe-stap lkdf:$probe
commands
silent
printf "$probe %s\n", (char *)\$_probe_arg0
continue
end
EOT
done
for probe in park unpark steal; do
	cat >>"$dir/commands" <<EOT
break -probe-stap lkdf:$probe
commands
silent
printf "$probe %d\n", \$_probe_arg0
continue
end
EOT
done
echo continue >>"$dir/commands"

# at_probes PROGRAM...: what it meets, "PROBE WORD" a line, to $dir/met.
at_probes() {
	"$limit" 300 gdb -q -nx -batch -x "$dir/commands" --args "$@" \
		>"$dir/log" 2>&1 </dev/null
	grep -q 'exited normally' "$dir/log" || return
	grep -oE '(body__begin|body__end|park|unpark|steal) [a-z0-9]+$' \
		"$dir/log" >"$dir/met"
}

# met PROBE [WORD]: how often.
met() {
	grep -c "^$1 ${2-}" "$dir/met"
}

if ! "$limit" 60 gdb -q -nx -batch -ex run --args true 2>&1 |
	grep -q 'exited normally'; then
	skip 'a program at its probes' 'gdb may not trace here'
	echo "1..$nr"
	exit "$failed"
fi
# as_recorded LEAST PROBE WORD ROW: as often as the recording has such rows.
as_recorded() {
	want=$(grep -c "$4" "$dir/csv")
	have=$(met "$2" "$3")
	echo "recorded: $want, at the probe: $have" >"$dir/log"
	[ "$want" -ge "$1" ] && [ "$want" -eq "$have" ]
	ok $? "$name: $2 $3: as often as recorded"
}

# compare PROGRAM...: the probes against the recording.
compare() {
	name=$(basename "$1")
	export LKDF_TRACE="$dir/$name.lkdf"
	at_probes "$@"
	ok $? "$name ends in gdb, recorded"
	"$build/lkdf" trace check "$LKDF_TRACE" >"$dir/check" 2>&1
	grep -q '(0 lost), .*(0 lost)' "$dir/check"
	ok $? "$name: the recording is whole" "$dir/check"
	"$build/lkdf" trace convert --to csv "$LKDF_TRACE" >"$dir/csv"
	kinds=$(sed -n 's/^body,[0-9]*,\([^,]*\),.*/\1/p' "$dir/csv" | sort -u)
	for kind in $kinds; do
		for probe in body__begin body__end; do
			as_recorded 1 $probe "$kind" "^body,[0-9]*,$kind,"
		done
	done
	# Nothing makes a worker of a short run rest or steal.
	for probe in park unpark steal; do
		as_recorded 0 $probe '' "^event,[0-9]*,$probe,"
	done
	unset LKDF_TRACE
	at_probes "$@"
	ok $? "$name ends in gdb, not recorded"
	[ "$(grep -c '^Breakpoint [2-6] at' "$dir/log")" -eq 5 ] &&
		[ "$(met body__)" -eq 0 ]
	ok $? "$name: bodies that are not recorded meet no probe"
}

# Tasks of a graph, and tasks that are submitted.
compare "$build/examples/hello"
compare "$build/examples/cholesky" --n 256 --block 64
echo "1..$nr"
exit "$failed"
