#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A standard output that takes nothing is an error of every verb that prints:
# exit status 4, and standard error says why. A verb that would look again and
# again ends.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
lkdf=$build/lkdf
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$dir"' EXIT

all=': No space left on device$'
part='standard output is not complete$'

full "$all" help "$lkdf" --help
full "$all" version "$lkdf" --version
full "$all" 'help topo' "$lkdf" help topo
full "$all" 'help --man topo' "$lkdf" help --man topo
for verb in $("$lkdf" --help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	full "$all" "$verb --help" "$lkdf" "$verb" --help
done
full "$all" 'completion bash' "$lkdf" completion bash
full "$all" 'completion zsh' "$lkdf" completion zsh
full "$all" topo "$lkdf" topo
full "$all" 'topo --json' "$lkdf" topo --json
full "$all" doctor "$lkdf" doctor
full "$all" 'doctor --json' "$lkdf" doctor --json
full "$all" pages "$lkdf" pages -p $$
full "$all" 'pages --json' "$lkdf" pages --json -p $$
full "$all" 'pages of all ranges' "$lkdf" pages --top 1000000 -p $$

LKDF_TRACE=$dir/run.lkdf "$build/examples/hello" >"$dir/log" 2>&1
ok $? 'a recording'
full "$all" 'trace check' "$lkdf" trace check "$dir/run.lkdf"
full "$all" 'trace check --json' "$lkdf" trace check --json "$dir/run.lkdf"
full "$part" 'trace convert' "$lkdf" trace convert "$dir/run.lkdf"
full "$all" 'trace diff' "$lkdf" trace diff "$dir/run.lkdf" "$dir/run.lkdf"
full "$part" report "$lkdf" report "$dir/run.lkdf"
full "$part" 'report --json' "$lkdf" report --json "$dir/run.lkdf"

# A process to look at: memory as a runtime has it.
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -Ilib/include -o "$dir/fake" \
	tests/tools/stats_fake.c >"$dir/log" 2>&1 &&
	mkfifo "$dir/up" && {
	"$dir/fake" 2 >"$dir/up" 2>"$dir/log" &
	pid=$!
	grep -q up "$dir/up"
}
ok $? 'a process with counters'
full "$all" stat "$lkdf" stat -p $pid
full "$all" 'stat --json' "$lkdf" stat --json -p $pid
full "$all" 'stat of a command' "$lkdf" stat "$build/examples/hello"
full "$part" 'stat of intervals without end' "$lkdf" stat -I 10 -p $pid
full "$part" 'top --batch, once' "$lkdf" top --batch -n 1 -I 10 -p $pid
full "$part" 'top --batch without end' "$lkdf" top --batch -I 10 -p $pid
full "$all" 'top --json' "$lkdf" top --json -I 10 -p $pid

# The verb prints nothing of its own there; the command's output is its own.
"$lkdf" run --quiet true >/dev/full 2>"$dir/log"
ok $? 'run has nothing to print there'
"$lkdf" run --quiet "$lkdf" --version >/dev/full 2>"$dir/log"
[ $? -eq 4 ]
ok $? 'run ends as the command does that could not print'
echo "1..$nr"
exit $failed
