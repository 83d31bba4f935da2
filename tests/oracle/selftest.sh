#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Would the oracle notice? Plants one bug at a time in a copy of the library,
# by sed, and expects the oracle to fail. A sed that changes nothing is a
# failure: the line it was made for has moved.
#
# BUILD, CC, CFLAGS and LDFLAGS come from make.
set -u
top=$BUILD/selftest
nr=0
failed=0

say() {
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		failed=1
	fi
}

# Links the objects of the build, those named in $1 replaced by our own.
link() {
	objects=
	for o in $(cd "$BUILD" && find lib -name '*.o'); do
		c=${o%.o}.c
		[ -f "$c" ] || continue
		case " $1 " in
		*" $c "*) objects="$objects $top/$o" ;;
		*) objects="$objects $BUILD/$o" ;;
		esac
	done
	# shellcheck disable=SC2086
	$CC -shared $LDFLAGS -Wl,-soname,liblkdf.so.0 \
		-Wl,--version-script=lib/lkdf.map \
		-o "$top/liblkdf.so.0" $objects -lhwloc -lnuma -lpthread
}

try_oracle() {
	timeout 30 "$top/tests/oracle/oracle" --programs 1000 --workers 2,1,4 \
		--watchdog 2 >"$top/log" 2>&1
}

# plant NAME FILE SED SOURCES: sources are compiled again.
plant() {
	rm -rf "$top/lib"
	cp -r lib "$top/lib"
	sed -i "$3" "$top/$2"
	if cmp -s "$2" "$top/$2"; then
		say 1 "$1: $2 has no line for: $3"
		return
	fi
	for c in $4; do
		# shellcheck disable=SC2086
		if ! $CC -std=c11 $CFLAGS -w -fPIC -fvisibility=hidden \
			-fexceptions -I"$top/lib/include" -I"$top/lib" \
			-D_GNU_SOURCE -c -o "$top/${c%.c}.o" "$top/$c"; then
			say 1 "$1: does not compile"
			return
		fi
	done
	link "$4"
	try_oracle
	rc=$?
	say $((rc == 0)) "found: $1"
	grep -m 3 -e '^# call' -e '^# scope' -e '^# task' -e hangs "$top/log" |
		grep -v ': run\|: submit' | sed 's/^# */#   /'
}

run=lib/flow/run.c
complete=lib/flow/complete.c

rm -rf "$top"
mkdir -p "$top/tests/oracle"
cp "$BUILD/tests/oracle/oracle" "$top/tests/oracle/"

link ""
try_oracle
say $? "without a planted bug it passes"

plant "counters are not armed again" lib/flow/record.h \
	'/a_store(&r->pending, nr_in, relaxed);/d' $run
plant "a dead arrival is one off" lib/flow/record.h \
	's/(pending & ~REC_DEAD) == 1 ? ARRIVAL_DEAD/(pending \& ~REC_DEAD) == 2 ? ARRIVAL_DEAD/' \
	$run
plant "a task of its own is not told to the frame" $run \
	'/^void run_decide/,/^}/s/frame_decided(w, f, 1);//' $run
plant "tokens of a limit are kept after an error" $complete \
	's/if (flags & TASK_GENERAL)/if (flags \& TASK_GENERAL \&\& !error)/' \
	$complete
plant "the last but one child completes its parent" $complete \
	's/return live == 1;/return live == 2;/' $complete
plant "a chain remembers that a body left" $run \
	's/c->leaves = c->holds = c->has_why = false;/c->has_why = false;/' $run
plant "a token goes on by the width" lib/flow/graph.h \
	's/g->nr_frames % stride)/0)/' "$run lib/flow/frame.c"
plant "a join looks at the top only" lib/flow/join.c \
	's/!dig_descendant(w, t)/1/' lib/flow/join.c
plant "a join forgets the error" lib/flow/join.c \
	's/return task_forget_children(t);/return 0 * task_forget_children(t);/' \
	lib/flow/join.c
plant "a skipped task counts twice" $run \
	's/a_add(&f->nr_skipped, 1, relaxed);/a_add(\&f->nr_skipped, 2, relaxed);/' \
	$run
echo "1..$nr"
exit $failed
