#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf probe where something is forbidden or lacking: capabilities, bpf(2), a
# place for the pins. Each time one line says what, with the fix; nothing is left
# behind, nothing of others is taken away, and programs run as without it.
# shellcheck source=tests/tools/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/tools/probe.sh
. "${0%/*}/probe.sh"
lkdf=$build/lkdf
convoy=$build/examples/convoy
pins=$dir/a/b/bpf
export LKDF_WORKERS=2

# refused RC PATTERN COMMAND...: it ends with RC, says such a line and leaves
# nothing behind.
refused() {
	want=$1
	say=$2
	shift 2
	"$@" >"$dir/log" 2>&1
	[ $? -eq "$want" ] && grep -qE "$say" "$dir/log" && [ ! -e "$dir/a" ]
}

"$lkdf" probe start --dir "$pins" >"$dir/log" 2>&1 ||
	probe_absent 'what is forbidden is told'
"$lkdf" probe stop --dir "$pins" >/dev/null
rm -r "$dir/a"
trap '"$lkdf" probe stop --dir "$pins" >/dev/null 2>&1
	"$lkdf" probe stop --dir "$dir/own" >/dev/null 2>&1
	umount "$dir/own" 2>/dev/null
	rm -rf "$dir"' EXIT

# cap_39: CAP_BPF, cap_38: CAP_PERFMON; they are in CAP_SYS_ADMIN, too.
for less in sys_admin sys_admin,-cap_39 sys_admin,-cap_38; do
	refused 3 'needs: .*CAP_PERFMON' setpriv --bounding-set=-$less \
		"$lkdf" probe start --dir "$pins"
	ok $? "without $less: which capabilities it needs"
done
for file in /proc/lkdf /dev/null; do
	refused 4 'try: .*--dir' "$lkdf" probe start --dir $file
	ok $? "$file is no place for pins"
done

mkdir "$dir/own"
if mount -t bpf none "$dir/own" 2>"$dir/log"; then
	setpriv --bounding-set=-sys_admin "$lkdf" probe start \
		--dir "$dir/own" >"$dir/log" 2>&1
	ok $? 'a bpffs that is there needs no right to mount'
	setpriv --bounding-set=-sys_admin,-cap_39 "$lkdf" probe stop \
		--dir "$dir/own" >"$dir/log" 2>&1
	[ ! -e "$dir/own/head" ]
	ok $? 'pins go without any right but to the directory'
	"$lkdf" probe start --dir "$dir/own" >/dev/null 2>&1
	"$lkdf" probe stop --dir "$dir/own" >"$dir/log" 2>&1
	ok $? 'it starts and stops there again'
	mountpoint -q "$dir/own"
	ok $? 'and the bpffs of somebody else stays'
	umount "$dir/own"
else
	skip 'a bpffs that is there' 'it cannot be mounted'
fi

no_call=$dir/no_call
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -I. -o "$no_call" tests/tools/no_call.c \
	>"$dir/log" 2>&1
ok $? 'a command without a system call'
"$lkdf" probe start --dir "$pins" >"$dir/log" 2>&1
for errno in 1 38; do
	want=$([ $errno = 1 ] && echo 3 || echo 4)
	"$no_call" bpf $errno "$lkdf" probe start --dir "$dir/c" >"$dir/log" 2>&1
	[ $? -eq "$want" ] && grep -q 'needs: .*seccomp' "$dir/log" &&
		[ ! -e "$dir/c" ]
	ok $? "seccomp says $errno: start names it"
	LKDF_PROBE=$pins "$no_call" bpf $errno "$convoy" --seconds 0.3 \
		>/dev/null 2>"$dir/log"
	ok $? 'a program runs'
	[ "$(wc -l <"$dir/log")" -eq 1 ]
	ok $? 'and says nothing of it'
	"$no_call" bpf $errno "$lkdf" doctor >"$dir/log" 2>&1
	grep -A 1 'probe: ' "$dir/log" | grep -q "fix: .*seccomp"
	ok $? 'doctor tells the fix'
done
"$lkdf" probe stop --dir "$pins" >"$dir/log" 2>&1

# hooks: those of the status, in one line
hooks() {
	"$lkdf" probe status --dir "$pins" --json >"$dir/json"
	sed -n 's/^ *"\(switch\|sample\|place\)": true.*/\1/p' "$dir/json" |
		xargs
}

# A kernel without one of the events has all others.
no_hook=$dir/no_hook.so
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -shared -fPIC -o "$no_hook" \
	tests/tools/no_hook.c -ldl >"$dir/log" 2>&1
ok $? 'a kernel that does not take some program'
while read -r program name left; do
	NO_HOOK=lkdf_$program LD_PRELOAD=$no_hook \
		"$lkdf" probe start --dir "$pins" >"$dir/log" 2>&1
	ok $? "not lkdf_$program: it starts"
	if [ "$name" = - ]; then
		! grep -q '^without' "$dir/log"
	else
		grep -q "^without $name: [^;]*$" "$dir/log"
	fi
	ok $? 'and says what it is without'
	[ "$(hooks)" = "$left" ]
	ok $? "the others are there: $left" "$dir/json"
	LKDF_PROBE=$pins "$convoy" --seconds 0.3 >"$dir/log" 2>&1
	ok $? 'and a program runs with them'
	"$lkdf" probe stop --dir "$pins" >"$dir/log" 2>&1
done <<END
switch sched_switch sample place
sample cpu-clock switch place
moved mm_migrate_pages switch sample
cpus - switch sample place
END
NO_HOOK=lkdf_register LD_PRELOAD=$no_hook \
	"$lkdf" probe start --dir "$pins" >"$dir/log" 2>&1
[ $? -eq 4 ] && ! "$lkdf" probe status --dir "$pins" >"$dir/log.2" 2>&1
ok $? 'without the program that registers it does not'

# Without a clock of CPUs switches still beat, long after the start.
"$no_call" perf_event_open 1 "$lkdf" probe start --dir "$pins" >"$dir/log" 2>&1
ok $? 'seccomp forbids perf_event_open: it starts' "$dir/log"
grep -q 'without .*cpu-clock' "$dir/log"
ok $? 'and says what is missing' "$dir/log"
LKDF_PROBE=$pins "$convoy" --lock sem --seconds 30 >/dev/null 2>&1 &
pid=$!
sleep 3
"$lkdf" probe status --dir "$pins" --json >"$dir/json"
grep -q '"live": true' "$dir/json" && grep -q '"sample": false' "$dir/json"
ok $? 'three seconds later it is alive' "$dir/json"
"$lkdf" futex -p $pid --dir "$pins" -d 1 >"$dir/log" 2>&1
ok $? 'and lkdf futex looks at it' "$dir/log"
kill $pid
wait $pid 2>/dev/null
echo "1..$nr"
exit "$failed"
