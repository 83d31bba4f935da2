#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# judge.awk itself: what a machine says, made up, must be judged right. And vm.sh:
# a machine that hangs is booted again, three times at most.
set -u
here=$(dirname "$0")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
nr=0
failed=0

# judged WHAT GOOD PLAN, the output on stdin: GOOD yes or no, PLAN the last line
judged() {
	cat >"$work/output"
	nr=$((nr + 1))
	awk -f "$here/judge.awk" -v want_taint="${taint-0}" -v status=0 \
		"$work/console" "$work/output" >"$work/said"
	rc=$?
	good=no
	[ $rc -ne 0 ] || good=yes
	grep -q '^not ok' "$work/said" && [ $good = yes ] && good=both
	if [ "$good $(tail -n 1 "$work/said")" = "$2 1..$3" ]; then
		echo "ok $nr - $1"
	else
		failed=1
		echo "not ok $nr - $1"
		sed 's/^/# /' "$work/said"
	fi
}

console() {
	printf '\033c\033[?7l\033[2J%s\r\n' "$@" >"$work/console"
}

begin='LKDF-VM-BOOT 6.1'
end='LKDF-VM-TAINT 0
LKDF-VM-EXIT 0'

console '[    0.1] Linux version 6.1'
judged 'a machine that does nothing is well' yes 1 <<E
$begin
$end
E
judged 'tests of programs are counted' yes 4 <<E
$begin
LKDF-VM-BEGIN a
ok 1 - one
1..1
LKDF-VM-END a 0
LKDF-VM-BEGIN b
1..0 # SKIP no reason
LKDF-VM-END b 0
LKDF-VM-BEGIN c
ok 1 - one
1..1
LKDF-VM-END c 0
$end
E
judged 'a test that fails is a failure' no 2 <<E
$begin
LKDF-VM-BEGIN a
not ok 1 - one
1..1
LKDF-VM-END a 1
$end
E
judged 'a program without a plan is a failure' no 3 <<E
$begin
LKDF-VM-BEGIN a
ok 1 - one
LKDF-VM-END a 0
$end
E
judged 'a plan that is not kept is a failure' no 3 <<E
$begin
LKDF-VM-BEGIN a
ok 1 - one
1..2
LKDF-VM-END a 0
$end
E
judged 'an exit status is a failure' no 3 <<E
$begin
LKDF-VM-BEGIN a
ok 1 - one
1..1
LKDF-VM-END a 139
$end
E
judged 'exit status 4 is none where all was skipped' yes 3 <<E
$begin
LKDF-VM-BEGIN a
ok 1 one # SKIP no reason
ok 2 two # SKIP no reason
1..2
LKDF-VM-END a 4
$end
E
judged 'it is one where something was not' no 4 <<E
$begin
LKDF-VM-BEGIN a
ok 1 one # SKIP no reason
ok 2 two
1..2
LKDF-VM-END a 4
$end
E
judged 'and where nothing was' no 3 <<E
$begin
LKDF-VM-BEGIN a
ok 1 one
1..1
LKDF-VM-END a 4
$end
E
judged 'a machine that ends early is a failure' no 3 <<E
$begin
LKDF-VM-BEGIN a
ok 1 - one
E
judged 'a machine that says nothing is a failure' no 1 </dev/null
judged 'its exit status is a failure' no 1 <<E
$begin
LKDF-VM-TAINT 0
LKDF-VM-EXIT 1
E
judged 'a machine that never says its taint is a failure' no 1 <<E
$begin
LKDF-VM-EXIT 0
E
judged 'another taint is a failure' no 1 <<E
$begin
LKDF-VM-TAINT 512
LKDF-VM-EXIT 0
E
taint=12288
judged 'the taint that was asked for is not' yes 1 <<E
$begin
LKDF-VM-TAINT 12288
LKDF-VM-EXIT 0
E
judged 'its absence is one' no 1 <<E
$begin
$end
E
taint=0
for text in 'WARNING: CPU: 0 PID: 1 at mm/mempolicy.c' \
	'BUG: kernel NULL pointer dereference' \
	'UBSAN: shift-out-of-bounds' 'BUG: KASAN: use-after-free' \
	'possible circular locking dependency' \
	'kmemleak: 1 unreferenced object' 'Kernel panic - not syncing'; do
	console '[    0.1] Linux' "[    1.0] $text"
	judged "the kernel says $text" no 1 <<E
$begin
$end
E
done
race() {
	console '[    0.1] Linux' '[    1.0] =========' \
		'[    1.0] BUG: KCSAN: data-race in a / b' '[    1.0]' \
		'[    1.0] read to 0xff11 of 8 bytes by interrupt on cpu 2:' \
		"[    1.0]  $1" '[    1.0]  place_count+0x2f0/0x30d [lkdf]' \
		'[    1.0] write (marked) to 0xff11 of 8 bytes by task 7 on cpu 0:' \
		"[    1.0]  $2" '[    1.0]  dev_ioctl+0x2f0/0x30d [lkdf]' \
		'[    1.0] Reported by Kernel Concurrency Sanitizer on:' "$3"
	judged "a race of $1 and $2$4" "$5" 1 <<E
$begin
$end
E
}
line='[    1.0] ========='
race 'hrtimer_active+0x79/0xd5' 'remove_migration_pte+0x4/0x8' "$line" '' yes
race 'place_look+0x79/0xd5 [lkdf]' 'remove_migration_pte+0x4/0x8' "$line" '' no
race 'hrtimer_active+0x79/0xd5' 'map_set+0x4/0x8 [lkdf]' "$line" '' no
race 'hrtimer_active+0x79/0xd5' '__memcpy+0x4/0x8' "$line" '' no
race 'hrtimer_active+0x79/0xd5' 'b+0x4/0x8' '[    1.0]' ', cut off' no
console '[    0.1] Linux' '[    1.0] AMD-Vi: This is not a bug.'
judged 'the kernel may say bug in small letters' yes 1 <<E
$begin
$end
E

# An emulator that hangs so many times, before the first process or after it has
# spoken: what does vm.sh make of it? Each case has a folder of its own, and all
# wait side by side.
#
# hangs CASE TIMES early|late
hangs() {
	own=$work/$1
	mkdir "$own"
	echo "$2" >"$own/hangs"
	cat >"$own/qemu-system-x86_64" <<E
#!/bin/sh
n=\$(cat "$own/hangs")
echo \$((n - 1)) >"$own/hangs"
while [ \$# -gt 0 ]; do
	case \$1 in file:*) echo "[    0.1] Linux" >"\${1#file:}" ;; esac
	shift
done
echo "qemu-system-x86_64: warning: none"
[ \$n -le 0 ] || [ $3 != early ] || exec sleep 60
echo "LKDF-VM-BOOT 6.1"
[ \$n -le 0 ] || exec sleep 60
echo "$end"
E
	chmod +x "$own/qemu-system-x86_64"
	PATH=$own:$PATH "$here/vm.sh" --boot 2 --quiet 2 -- true \
		>"$own/said" 2>&1
	echo $? >"$own/status"
}

# hung CASE "GOOD BOOTS" WHAT: yes or no, and how often vm.sh says that it boots
# again.
hung() {
	nr=$((nr + 1))
	said=$(cat "$work/$1/said")
	case $(cat "$work/$1/status") in
	0) good=yes ;;
	3)
		echo "ok $nr - $3 # SKIP $said"
		return
		;;
	*) good=no ;;
	esac
	if [ "$good $(echo "$said" | grep -c '^# note: boot')" = "$2" ]; then
		echo "ok $nr - $3"
	else
		failed=1
		echo "not ok $nr - $3"
		echo "$said" | sed 's/^/# /'
	fi
}

# The first case takes the kernel, where there is none yet.
hangs never 0 late
hangs once 1 late &
hangs always 9 late &
hangs once_early 1 early &
hangs always_early 9 early &
wait
hung never 'yes 0' 'a machine that does not hang is booted once'
hung once 'yes 1' 'one that hangs is booted again'
hung always 'no 3' 'one that always hangs is a failure'
hung once_early 'yes 1' \
	'one that hangs before its first process is booted again'
hung always_early 'no 3' 'one that never comes to it is a failure'

echo "1..$nr"
exit $failed
