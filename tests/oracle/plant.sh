# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=sh
# Plants one bug at a time in a copy of the library, by sed, and expects an
# oracle to fail. A sed that changes nothing is a failure: the line it was made
# for has moved. Sourced with BUILD, CC, CFLAGS and LDFLAGS, which come from
# make, oracle: the program below $BUILD, top: a folder for the copy, and watch:
# seconds after which a program hangs. options: more of the oracle's. PLANT_SHARE=I/N
# in the environment: only every Nth bug, from the Ith on; of the others it is
# looked up that their line is there. program: a test below $BUILD that tries a
# bug instead of the oracle; it has its seconds in watch.
share=${PLANT_SHARE:-0/1}
nr_plants=0
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
		# The allocator for other programs, MPI and OpenMP are libraries of their own.
		case $c in lib/malloc/* | lib/mpi/* | lib/gomp/*) continue ;; esac
		[ -f "$c" ] || continue
		case " $1 " in
		*" $c "*) objects="$objects $top/$o" ;;
		*) objects="$objects $BUILD/$o" ;;
		esac
	done
	# shellcheck disable=SC2086
	$CC -shared $LDFLAGS -Wl,-soname,liblkdf.so.0 \
		-Wl,--version-script=lib/lkdf.map \
		-o "$top/liblkdf.so.0" $objects -lhwloc -lnuma -luring -lpthread
}

# try_oracle WATCHDOG OPTIONS...
try_oracle() {
	watchdog=$1
	shift
	if [ -n "${program-}" ]; then
		LD_LIBRARY_PATH=$top TAP_LIMIT=$watchdog HANG_DEBUGGER=none \
			timeout -k 5 150 "$BUILD/$program" >"$top/log" 2>&1
		return
	fi
	# shellcheck disable=SC2086
	timeout 150 "$top/$oracle" --programs 2000 --base 1 --workers 2,1,4 \
		--watchdog "$watchdog" ${options-} "$@" >"$top/log" 2>&1
}

# plant NAME FILE SED SOURCES [only]: sources are compiled again. With "only"
# what parallel and serial mode leave must be the one thing that tells.
plant() {
	rm -rf "${top:?}/lib"
	cp -r lib "$top/lib"
	sed -i "$3" "$top/$2"
	if cmp -s "$2" "$top/$2"; then
		say 1 "$1: $2 has no line for: $3"
		return
	fi
	nr_plants=$((nr_plants + 1))
	[ $((nr_plants % ${share#*/})) -eq "${share%/*}" ] || return 0
	for c in $4; do
		# shellcheck disable=SC2086
		if ! $CC -std=c11 $CFLAGS -w -fPIC -fvisibility=hidden \
			-fexceptions -I"$top/lib/include" -I"$top/lib" -Ikmod/uapi \
			-D_GNU_SOURCE -c -o "$top/${c%.c}.o" "$top/$c"; then
			say 1 "$1: does not compile"
			return
		fi
	done
	link "$4"
	if [ "${5-}" = only ]; then
		try_oracle 20 --compare 0
		say $? "$1: not seen without the comparison"
	fi
	try_oracle "${watch:-1}"
	rc=$?
	say $((rc == 0)) "found: $1"
	grep -e '^# call' -e '^# scope' -e '^# task' -e '^# op' -e '^# data' \
		-e hangs "$top/log" |
		grep -v ': run\|: submit\|: many\|: wait\|: acquire [0-9]\|: cancel\|not end' | sed 's/^# */#   /' | head -n 3
}

rm -rf "$top"
mkdir -p "$top/${oracle:+${oracle%/*}}"
[ -z "${oracle-}" ] || cp "$BUILD/$oracle" "$top/$oracle"

link ""
[ -z "${oracle-}" ] || try_oracle 20
say $? "without a planted bug it passes"
