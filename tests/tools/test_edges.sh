#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Small faults of verbs: what is asked for and cannot be is refused by name.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/target.sh
. tests/tools/target.sh
lkdf=$build/lkdf
hello=$build/examples/hello
pid=
trap 'kill -9 $pid 2>/dev/null; rm -rf "$dir"' EXIT

LKDF_TRACE=$dir/run.lkdf "$hello" >"$dir/log" 2>&1
ok $? 'a recording'
cp "$dir/run.lkdf" "$dir/copy"
ln "$dir/run.lkdf" "$dir/other.lkdf"
try 2 'convert does not write over its input' \
	"$lkdf" trace convert "$dir/run.lkdf" -o "$dir/run.lkdf"
holds 'run.lkdf: it is the recording itself'
try 2 'by another name neither' \
	"$lkdf" trace convert "$dir/run.lkdf" -o "$dir/other.lkdf"
cmp "$dir/run.lkdf" "$dir/copy" >"$dir/log" 2>&1
ok $? 'the recording is as it was'
try 0 'convert --json' "$lkdf" trace convert --json "$dir/run.lkdf"
python3 -m json.tool "$dir/log" >/dev/null 2>"$dir/err"
ok $? 'is JSON' "$dir/err"
try 2 'convert --json --to csv is refused' \
	"$lkdf" trace convert --json --to csv "$dir/run.lkdf"
holds 'csv is no JSON'

try 2 'a number that is none' "$lkdf" stat -n 5x -p $$
holds '"5x" is no number'
# bad VERB OPTION VALUE REASON
bad() {
	# shellcheck disable=SC2086
	try 2 "$1 $2 $3 is refused" "$lkdf" $1 $2 "$3" -p $$
	holds "\"$3\" $4"
}
for verb in 'trace record -d' 'futex -d' 'run -T' 'stat -I' 'top -I' \
	'report --from' 'report --to'; do
	bad "${verb% *}" "${verb##* }" 5x 'has a unit that is none of ns, us'
	bad "${verb% *}" "${verb##* }" -1 'is no time, as 1.5s, 250ms'
	# shellcheck disable=SC2086
	"$lkdf" ${verb% *} --help >"$dir/log"
	holds 'A TIME is 1.5s, 250ms, .*a number alone is in'
done
try 2 'an interval of less than a millisecond' "$lkdf" stat -I 0.5 -p $$
holds 'an interval is 1ms to 24h'
try 2 'one of an hour and a bit' "$lkdf" top -I 1.01h -p $$
holds 'an interval is 10ms to 1h'
try 124 'run --timeout 0.25 ends a command' "$lkdf" run -T 0.25 sleep 60
holds 'not over after 0.25 s'
try 124 'run --timeout 250ms, too' "$lkdf" run -T 250ms sleep 60
holds 'not over after 0.25 s'
for value in '--workers abc' '--workers 3.5' '--cpus x' '--place maybe'; do
	# shellcheck disable=SC2086
	try 2 "run $value is refused" "$lkdf" run $value "$hello"
	holds "\"${value#* }\""
done
try 0 'run --workers 2 is not' "$lkdf" run --workers 2 "$hello"

LKDF_TRACE=$dir/none/run.lkdf "$hello" >"$dir/out" 2>"$dir/log"
ok $? 'a program runs though LKDF_TRACE names no place for a file'
holds 'nothing is recorded'

ask_target
start_target "$dir/ask_target" stuck 1
try 0 'stat -x' "$lkdf" stat -x, -p "$pid"
[ "$(head -n 1 "$dir/log")" = 'name,value,unit' ]
ok $? 'has a header'
try 0 'stat -x -I' "$lkdf" stat -x, -I 0.02s -n 3 -p "$pid"
[ "$(grep -c '^seconds,name,came,unit$' "$dir/log")" = 1 ]
ok $? 'has one, too'
! grep -q ',steals.far,' "$dir/log" && grep -q ',parks,' "$dir/log"
ok $? 'and no rows of what never came'
stop_target KILL

try 5 'a process without a runtime is named' "$lkdf" stat -p $$
holds "process $$ has no lkdf runtime"
"$lkdf" doctor >"$dir/log" 2>&1
holds 'load: .* threads ran or wanted to'

# A quota of the group above ours, in either version of cgroups.
cpu=/sys/fs/cgroup/cpu group=lkdf-edges-$$
[ -d "$cpu" ] || cpu=/sys/fs/cgroup
limit() {
	if [ -e "$cpu/$group/cpu.cfs_quota_us" ]; then
		echo 50000 >"$cpu/$group/cpu.cfs_quota_us"
	else
		echo '50000 100000' >"$cpu/$group/cpu.max"
	fi
}
if { mkdir -p "$cpu/$group/inner" && limit &&
	sh -c "echo \$\$ >$cpu/$group/inner/cgroup.procs"; } 2>"$dir/err"; then
	sh -c "echo \$\$ >$cpu/$group/inner/cgroup.procs &&
		exec '$lkdf' doctor" >"$dir/log" 2>&1
	holds 'cgroup: quota of 0.50 CPUs; below 2 workers do not spin'
else
	skip 'doctor with a quota' "$(tail -n 1 "$dir/err")"
fi
rmdir "$cpu/$group/inner" "$cpu/$group" 2>/dev/null
"$lkdf" doctor >"$dir/log" 2>&1
holds 'cgroup: no CPU quota\|cgroup: quota of'

# exits HOW NR: that program, whose recording is $dir/HOW.lkdf.
exits() {
	LKDF_TRACE=$dir/$1.lkdf "$limit" 60 "$dir/exit_target" "$1" "$2" \
		>"$dir/log" 2>&1
	ok $? "exit_target $1 $2 ends"
	try 0 'and its recording is whole' "$lkdf" trace check "$dir/$1.lkdf"
}

"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -Ilib/include -o "$dir/exit_target" \
	tests/tools/exit_target.c -L"$build" -llkdf -lpthread \
	-Wl,-rpath,"$build" >"$dir/log" 2>&1
ok $? 'a program that ends by exit() is compiled'
exits main 20
holds 'whole, 20 slices'
exits body 20
exits child 20
holds 'whole, 20 slices'
exits late 300
holds 'whole, 300 slices'

try 0 'a diff of recordings of different length' \
	"$lkdf" trace diff "$dir/main.lkdf" "$dir/late.lkdf"
holds 'the lengths differ: what is counted is compared per second'
holds '^  count  *20  *300  *+1400.0 %$'
holds '^  count/s '
try 1 'a rate may be a condition' "$lkdf" trace diff -q "$dir/main.lkdf" \
	"$dir/late.lkdf" --fail-on 'count/s:rest<2000,lost/s>0'
holds 'count/s:rest<2000$'
"$lkdf" trace diff --json "$dir/main.lkdf" "$dir/late.lkdf" >"$dir/log"
python3 - "$dir/log" <<'EOT' 2>"$dir/err"
import json, sys
d = json.load(open(sys.argv[1]))
whole, rest = (next(k for k in d["kinds"] if k["kind"] == name)
               for name in ("recording", "rest"))
assert d["lengths_differ"] is True
for i in 0, 1:
    for what in "count", "total":
        rate = rest[what][i] / whole["wall"][i] * 1e9
        assert abs(rest[what + "_per_s"][i] / rate - 1) < 1e-3, (what, i)
EOT
ok $? 'as JSON, too' "$dir/err"
try 0 'a diff of recordings of one length' \
	"$lkdf" trace diff "$dir/late.lkdf" "$dir/late.lkdf"
! grep -q /s "$dir/log"
ok $? 'has no rates'

echo "1..$nr"
exit $failed
