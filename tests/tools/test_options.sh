#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Each option that a verb offers is taken by it, and each of --json, -q and -v that it
# does not offer is refused. Each -q and -v that is offered has a row here, which
# looks for a line that only one of two outputs has.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/target.sh
. tests/tools/target.sh
lkdf=$build/lkdf
small=tests/fixtures/report/small.lkdf
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$dir"' EXIT
export LC_ALL=C
unset LKDF_TRACE LKDF_OPTIONS

# The words of the table that a --help prints.
table() {
	sed -n '/^[a-z]*:$/,/^$/s/^  \([a-z]*\).*/\1/p'
}

"$lkdf" --help | table | grep -vx trace >"$dir/verbs"
"$lkdf" trace --help | table | sed 's/^/trace /' >>"$dir/verbs"
[ "$(wc -l <"$dir/verbs")" -gt 15 ]
ok $? 'verbs are there' "$dir/verbs"

# ---- all options are taken -----------------------------------------------

# options VERB: lines of "letter name value", - where there is none
options() {
	# shellcheck disable=SC2086
	"$lkdf" $1 --help | sed -n '/^options:/,$s/^  \(..\). --\([a-z-]*\) \([A-Za-z|]*\).*/\1 \2 \3/p' |
		while read -r letter name value; do
			case $letter in
			-h) ;;
			-*) echo "$letter $name ${value:--}" ;;
			*) echo "- $letter ${name:--}" ;;
			esac
		done
}

# takes VERB WORD...: its --help follows the words, which come first
takes() {
	verb=$1
	shift
	# shellcheck disable=SC2086
	"$lkdf" $verb "$@" --help >"$dir/out" 2>>"$dir/log" &&
		grep -q "^usage: lkdf $verb" "$dir/out"
}

while read -r verb; do
	: >"$dir/log"
	options "$verb" >"$dir/options"
	missed=
	while read -r letter name value; do
		set -- "--$name"
		[ "$value" = - ] || set -- "--$name" 1
		takes "$verb" "$@" || missed="$missed --$name"
		[ "$letter" = - ] && continue
		shift
		takes "$verb" "$letter" "$@" || missed="$missed $letter"
	done <"$dir/options"
	for name in json quiet verbose; do
		grep -q "^[^ ]* $name " "$dir/options" && continue
		! takes "$verb" "--$name" || missed="$missed --$name"
	done
	echo "not so: $missed" >>"$dir/log"
	[ -z "$missed" ]
	ok $? "$verb takes what it offers, and no other common option"
	sed -n "s/^\(-[qv]\) .*/$verb \1/p" "$dir/options" >>"$dir/offered"
done <"$dir/verbs"
[ "$(wc -l <"$dir/offered")" -gt 12 ]
ok $? 'some offer -q, some -v' "$dir/offered"

# ---- and -q and -v change something --------------------------------------

# row VERB OPTION: it has one
row() {
	echo "$1 $2" >>"$dir/rows"
}

# with VERB OPTION|'' WORD...: both outputs are in $dir/log
with() {
	verb=$1
	option=$2
	shift 2
	# shellcheck disable=SC2086
	"$limit" 200 "$lkdf" $verb $option "$@" >"$dir/log" 2>&1 </dev/null
}

# more VERB PATTERN WORD...: such a line is there only with -v
more() {
	verb=$1
	pattern=$2
	shift 2
	row "$verb" -v
	with "$verb" '' "$@"
	! grep -q -e "$pattern" "$dir/log" && with "$verb" -v "$@" &&
		grep -q -e "$pattern" "$dir/log"
	ok $? "$verb -v says more"
}

# less VERB PATTERN WORD...: such a line is there only without -q
less() {
	verb=$1
	pattern=$2
	shift 2
	row "$verb" -q
	with "$verb" '' "$@"
	grep -q -e "$pattern" "$dir/log" && {
		with "$verb" -q "$@"
		! grep -q -e "$pattern" "$dir/log"
	}
	ok $? "$verb -q says less"
}

# left_out VERB OPTION WHY
left_out() {
	row "$1" "$2"
	skip "$1 $2" "$3"
}

less doctor '^ok '
OCL_ICD_VENDORS=/none less bench ', [0-9]* CPU.*, Linux' device --quick
less run '^lkdf: .* s, no lkdf runtime' -- true
more run '^lkdf run: LKDF_WORKERS=2$' -w 2 -- true
with run -v -o spin_us=5,far_steals=no -t "$dir/a.lkdf" -- true
grep -qx 'lkdf run: LKDF_SPIN_US=5' "$dir/log" &&
	grep -qx 'lkdf run: LKDF_FAR_STEALS=no' "$dir/log" &&
	grep -qx "lkdf run: LKDF_TRACE=$dir/a.lkdf" "$dir/log" &&
	grep -qx "lkdf run: $dir/a.lkdf: not written" "$dir/log"
ok $? 'of each option of the runtime, and of a trace that nobody wrote'
with run -v -t "$dir/a.lkdf" -- "$build/examples/cholesky" --n 64 --block 32
grep -qx "lkdf run: $dir/a.lkdf: $(stat -c %s "$dir/a.lkdf") bytes" "$dir/log"
ok $? 'and of one that was'
less 'trace check' whole "$small"
more 'trace check' 'program = small' "$small"
head -c 900 "$small" >"$dir/cut.lkdf"
less 'trace convert' 'up to offset' --best-effort "$dir/cut.lkdf" -o "$dir/out"
less 'trace diff' '^  wall ' "$small" tests/fixtures/report/graph.lkdf
less report '^try: ' "$small"
less check 'nothing was found' --orders 2 -- "$build/examples/hello"
more report '  0\.4 % *Workers give operations to the kernel' "$small"

"$lkdf" report -v tests/fixtures/report/unknown.lkdf >"$dir/log" &&
	grep -q 'nothing outside of bodies: no cause takes more than 2 %' "$dir/log" &&
	grep -q '  0\.4 % *Tasks are short' "$dir/log"
ok $? 'with small causes alone nothing outside of bodies costs'

device_target && start_target "$dir/device_target" busy
ok $? 'a process with a runtime and a device'
more stat 'executor 1' -p "$pid"
more device 'held by the program' -p "$pid"
less 'trace record' "process $pid" -p "$pid" -d 1 -o "$dir/b.lkdf"
stop_target TERM

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$lkdf" "$build"/liblkdf.so.0 "$dir"
	chmod -R a+rX "$dir"
	printf '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 %s "$@"\n' \
		"--clear-groups $dir/lkdf" >"$dir/nobody"
	chmod +x "$dir/nobody"
	mine=$lkdf
	lkdf=$dir/nobody
	less pages 'sums only' --best-effort -p $$
	lkdf=$mine
else
	left_out pages -q 'needs root'
fi
with probe '' stop --dir "$dir/none"
if grep -q 'built without' "$dir/log"; then
	left_out probe -q 'built without BPF programs'
else
	less probe 'does not run' stop --dir "$dir/none"
fi
left_out try -q 'its progress is for a terminal'
left_out probe -v 'what the kernel says when it takes BPF programs'

sort -u "$dir/rows" >"$dir/have"
sort -u "$dir/offered" | diff - "$dir/have" >"$dir/log"
ok $? 'each -q and -v that is offered has been tried'

echo "1..$nr"
[ "$failed" -eq 0 ]
