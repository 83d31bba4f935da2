#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The lkdf command as a person and as a script meet it: output, JSON, exit
# status.
set -u
lkdf=${BUILD:-build}/lkdf
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
nr=0
failed=0

say() {
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		sed 's/^/# /' "$dir/out" "$dir/err"
		failed=1
	fi
}

# try STATUS TEXT COMMAND...
try() {
	want=$1
	what=$2
	shift 2
	"$@" >"$dir/out" 2>"$dir/err"
	rc=$?
	[ "$rc" -eq "$want" ]
	say $? "$what: exit status $want"
}

holds() {
	grep -q -e "$1" "$dir/out" "$dir/err"
	say $? "it says $1"
}

try 0 "help" "$lkdf" --help
holds 'usage: lkdf VERB'
try 0 "version" "$lkdf" --version
try 2 "an unknown verb" "$lkdf" bnch
holds 'lkdf bench'
try 2 "an unknown option" "$lkdf" topo --jsn
for verb in $("$lkdf" --help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	try 0 "$verb --help" "$lkdf" "$verb" --help
	holds "usage: lkdf $verb"
	cp "$dir/out" "$dir/help"
	try 0 "help $verb" "$lkdf" help "$verb"
	cmp -s "$dir/out" "$dir/help"
	say $? "help $verb is $verb --help"
done
try 0 "help trace check" "$lkdf" help trace check
holds 'usage: lkdf trace check FILE'
try 0 "trace help convert" "$lkdf" trace help convert
holds 'usage: lkdf trace convert FILE'
try 2 "help of nothing" "$lkdf" help topp
holds 'lkdf topo'
# The program with all suites is beside the tool, or on PATH, or nowhere.
mkdir "$dir/alone"
cp "$lkdf" "$dir/alone/lkdf"
lib=$(cd "$(dirname "$lkdf")" && pwd)
try 4 "a suite of lkdf-bench without it" \
	env LD_LIBRARY_PATH="$lib" "$dir/alone/lkdf" bench flow
holds 'make bench-peers'
printf '#!/bin/sh\necho "whole: $*"\n' >"$dir/alone/lkdf-bench"
chmod +x "$dir/alone/lkdf-bench"
try 0 "lkdf-bench beside the tool" \
	env LD_LIBRARY_PATH="$lib" "$dir/alone/lkdf" bench --quick flow -w 1
holds '^whole: --quick flow -w 1$'
try 0 "as many counts of workers as one likes" \
	env LD_LIBRARY_PATH="$lib" "$dir/alone/lkdf" bench loop -w 1,2,3,4,5,6
try 2 "up to 64 of them" "$lkdf" bench loop \
	--workers "$(seq -s , 64),1"
holds 'is no list of 1 to 64 numbers of 1 .. 64'
mv "$dir/alone/lkdf-bench" "$dir/lkdf-bench"
try 0 "lkdf-bench on PATH" \
	env LD_LIBRARY_PATH="$lib" PATH="$dir:$PATH" "$dir/alone/lkdf" bench io
holds '^whole: io$'
try 2 "trace without a word" "$lkdf" trace
try 2 "trace with an unknown word" "$lkdf" trace check2
holds 'lkdf trace check'

# An option that does nothing for a verb is no option of it.
for verb in topo doctor bench pages "trace convert"; do
	# shellcheck disable=SC2086
	"$lkdf" $verb --help >"$dir/out" 2>"$dir/err"
	! grep -q -e --verbose "$dir/out"
	say $? "$verb --help tells of no --verbose"
	# shellcheck disable=SC2086
	try 2 "$verb -v" "$lkdf" $verb -v
	holds 'unknown option "-v"'
done

try 0 "topo" "$lkdf" topo
holds 'node 0'
try 0 "topo of a made-up machine" "$lkdf" topo --synthetic \
	"numa:2 core:4 distances:10,21,21,10"
holds '2 nodes, 8 cores'
holds '21   10'
try 2 "topo of a machine without a name" "$lkdf" topo -s ""
holds '--synthetic "": no machine is named'
try 2 "topo of CPUs without a number" "$lkdf" topo -c ""
holds '--cpus "": no CPU is named'
try 2 "topo of no machine" "$lkdf" topo --synthetic "nonsense:2"
try 2 "topo of an impossible CPU" "$lkdf" topo --cpus 4095
holds 4095

# Doctor's findings depend on the machine: 0 or 1, never a crash.
"$lkdf" doctor >"$dir/out" 2>"$dir/err"
[ $? -le 1 ]
say $? "doctor looks at this machine"
holds 'failures'

# A process to look at; it ends with this script.
sleep 600 &
target=$!
trap 'rm -rf "$dir"; kill $target' EXIT
try 0 "pages" "$lkdf" pages -p $target
holds 'Stack'
holds 'Total'
holds '^source: '
try 0 "pages of one range" "$lkdf" pages -p $target --top 1 \
	"$(sed -n '1s/-.*//p' /proc/$target/maps)+4K"
holds "^process $target sleep"
holds ' 4.0 KiB'
try 0 "pages as CSV" "$lkdf" pages -p $target -x,
holds '^kind,name,node0'
holds '^class,stack,'
try 2 "pages of fewer than none" "$lkdf" pages -p $target --top -1
holds '--top -1: 0 or more'
try 2 "pages of nobody" "$lkdf" pages
try 2 "pages of a negative number" "$lkdf" pages -p -5
try 2 "pages of no range" "$lkdf" pages -p $target 7f00-8f00
try 5 "pages of no process" "$lkdf" pages -p 2147483647
holds 'no process'
try 5 "pages of a name that nobody has" "$lkdf" pages -p no/such/name
try 5 "pages of an address without memory" "$lkdf" pages -p $target 0+4K
holds 'nothing is mapped'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	# What nobody may not read it cannot run either.
	cp "$lkdf" "${BUILD:-build}"/liblkdf.so.0 "$dir"
	chmod -R a+rX "$dir"
	# shellcheck disable=SC2317
	nobody() {
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	}
	try 3 "pages of another user's process" nobody "$dir/lkdf" \
		pages -p $target
	holds 'CAP_SYS_PTRACE'
	holds 'Permission denied'
	holds 'now:   exit 3'
	try 0 "pages of it as far as possible" nobody "$dir/lkdf" \
		pages -p $target --best-effort
	holds 'Anonymous'
	holds "source: /proc/$target/status"
	setpriv --reuid 65534 --regid 65534 --clear-groups sleep 600 &
	target="$target $!"
	# The process has its rights once it runs sleep.
	while ! grep -q sleep /proc/$!/comm; do sleep 0.1; done
	try 0 "pages of one's own process" nobody "$dir/lkdf" pages -p $!
	holds 'exact'
else
	nr=$((nr + 1))
	echo "ok $nr - pages of another user's process # SKIP needs root"
fi

# Memory with a name of lkdf's has a row of its own: anonymous memory where the
# kernel lets it be named, else a memfd.
cat >"$dir/named.py" <<'EOT'
import ctypes, mmap, os, time
size = 1 << 20
m = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
at = ctypes.addressof(ctypes.c_char.from_buffer(m))
rc = ctypes.CDLL(None).prctl(0x53564d41, 0, ctypes.c_ulong(at),
                             ctypes.c_ulong(size), b'lkdf pool')
if rc:
    fd = os.memfd_create('lkdf pool')
    os.ftruncate(fd, size)
    m = mmap.mmap(fd, size)
m[:] = b'x' * size
print('anonymous' if not rc else 'memfd', flush=True)
time.sleep(600)
EOT
if command -v python3 >/dev/null; then
	python3 "$dir/named.py" >"$dir/named" &
	python=$!
	target="$target $python"
	for _ in $(seq 100); do
		[ -s "$dir/named" ] && break
		sleep 0.1
	done
	try 0 "pages of lkdf's memory ($(cat "$dir/named"))" "$lkdf" \
		pages -p "$python"
	holds '^lkdf  *1.0'
else
	nr=$((nr + 1))
	echo "ok $nr - pages of lkdf's memory # SKIP no python3"
fi

if command -v python3 >/dev/null; then
	"$lkdf" pages -p "${target%% *}" --json >"$dir/out" 2>"$dir/err"
	python3 -c '
import json, sys
p = json.load(sys.stdin)
assert p["schema"] == "lkdf/pages/1"
total = [sum(c["bytes"][i] for c in p["classes"])
         for i in range(len(p["nodes"]))]
assert total == p["total"]["bytes"] and sum(total) > 0
assert all(sum(r["bytes"]) + r["absent"] + r["unknown"] == r["size"]
           for r in p["ranges"])' <"$dir/out" 2>>"$dir/err"
	say $? "pages --json is JSON and adds up"
	for verb in topo doctor; do
		"$lkdf" "$verb" --json >"$dir/out" 2>"$dir/err"
		python3 -m json.tool <"$dir/out" >/dev/null 2>>"$dir/err"
		say $? "$verb --json is JSON"
	done
else
	nr=$((nr + 1))
	echo "ok $nr - --json is JSON # SKIP no python3"
fi
echo "1..$nr"
exit $failed
