#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Verbs that take a while get SIGINT, as from a terminal, at moments after their start:
# each ends by it, or as if its time were over, and leaves no process and no half of
# a file. lkdf futex is left out where no probe runs: it ends before a signal comes.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/target.sh
. tests/tools/target.sh
export PYTHONDONTWRITEBYTECODE=1
lkdf=$build/lkdf
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$dir"' EXIT
command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}

device_target && start_target "$dir/device_target" busy
ok $? 'a process to be looked at'
python3 tests/api/report/planted.py quota "$dir/a.lkdf" >"$dir/log" 2>&1
ok $? 'a recording'
mkdir "$dir/out"

# A shell's background commands ignore SIGINT: this is a parent that does not.
cat >"$dir/interrupt.py" <<'END'
import os
import signal
import subprocess
import sys
import time


def is_left(group):
    """A process that has not ended: its parent may reap it later."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/stat') as f:
                state, _, of = f.read().rsplit(')', 1)[1].split()[:3]
        except OSError:
            continue
        if int(of) == group and state not in 'ZX':
            return True
    return False


allowed, folder = set(map(int, sys.argv[1].split(','))), sys.argv[2]
for moment in (0, 1, 3, 10, 30, 100, 300):
    p = subprocess.Popen(sys.argv[3:], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(moment / 1000)
    os.killpg(p.pid, signal.SIGINT)
    err = p.communicate(timeout=60)[1].decode()
    print(moment, p.returncode, os.listdir(folder), err)
    assert p.returncode in allowed
    for _ in range(200):
        if not is_left(p.pid):
            break
        time.sleep(0.05)
    assert not is_left(p.pid), 'a process is left'
    for name in os.listdir(folder):
        assert not name.endswith('.tmp'), name
        if name.endswith('.json'):
            assert open(os.path.join(folder, name)).read().rstrip()[-1] in '}]'
        os.unlink(os.path.join(folder, name))
END

# STATUSES FACT WORD...: -2 is an end by the signal itself
ends() {
	statuses=$1
	fact=$2
	shift 2
	"$limit" 300 python3 "$dir/interrupt.py" "$statuses" "$dir/out" \
		"$lkdf" "$@" >"$dir/log" 2>&1
	ok $? "$fact"
}

ends -2,0,130 'run ends with its command' run -- sleep 60
ends -2,0,130 'and does so with a trace and a limit' run -T 60 \
	-t "$dir/out/t.lkdf" -- sleep 60
ends -2,0 'stat in intervals' stat -I 50 -p "$pid"
ends -2,0 'top in lines' top --batch -I 50 -p "$pid"
ends -2,0 'a recording' trace record -p "$pid" -o "$dir/out/r.lkdf"
for to in chrome perfetto csv; do
	ends -2,0 "convert to $to leaves a whole file or none" trace convert \
		--to $to "$dir/a.lkdf" -o "$dir/out/a.$to"
done
ends -2,0 'a JSON object is whole' trace convert "$dir/a.lkdf" \
	-o "$dir/out/a.json"
ends -2,0 'report' report "$dir/a.lkdf" --html "$dir/out/a.html"

# The name of the temporary file is there for a moment: the signal comes then.
python3 - "$lkdf" "$dir/a.lkdf" "$dir/out" >"$dir/log" 2>&1 <<'END'
import os
import signal
import subprocess
import sys
lkdf, trace, folder = sys.argv[1:]
hits = 0
for i in range(20):
    p = subprocess.Popen([lkdf, 'trace', 'convert', trace, '-o',
                          folder + '/b.json'])
    while p.poll() is None:
        if any(x.endswith('.tmp') for x in os.listdir(folder)):
            p.send_signal(signal.SIGINT)
            break
    hits += p.wait() == -2
    assert not [x for x in os.listdir(folder) if x.endswith('.tmp')], i
print(hits, 'ended by the signal')
END
ok $? 'convert takes away what is half written'
stop_target TERM

echo "1..$nr"
[ "$failed" -eq 0 ]
