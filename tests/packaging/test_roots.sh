#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf in a clean root of another release of Debian, with other compilers, or with the
# flags of another distribution: the sources of a release, without git, are built with
# each compiler without a warning; an example runs, and README's program is built with
# the installed library, runs and has a report; what make check installs can be had.
# Called by make check-roots, as it takes root, packages and minutes:
#
#	test_roots.sh SOURCES.tar.gz ROW    one row of the table below
#	test_roots.sh                       prints the rows' names
set -u
# A row: its name, the suite of Debian ("host": the release of this machine),
# compilers, of which those that the suite lacks are skipped, and steps: run types
# README's make run first, flags=NAME builds with the flags of a distribution, see
# flags_of(), lenient lets warnings be, for a compiler that is newer than those whose
# warnings are errors, deb builds packages and lives with them.
rows='
trixie	trixie	gcc	run
trixie-gcc	trixie	gcc-12 gcc-13
trixie-clang	trixie	clang-17 clang-19
trixie-clang-18	trixie	clang-18
bookworm	bookworm	gcc	run
bookworm-clang	bookworm	clang-14 clang-15
bookworm-clang-16	bookworm	clang-16
sid	sid	gcc	lenient
arch	trixie	gcc	flags=arch
fedora	trixie	gcc	flags=fedora
gentoo	trixie	gcc-fortified	flags=gentoo
suse	trixie	gcc	flags=suse
packages	host	gcc	deb
'
if [ $# -eq 0 ]; then
	echo "$rows" | cut -f 1 | grep .
	exit
fi
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/../tools/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh
# shellcheck source=tests/packaging/root.sh
. tests/packaging/root.sh
sources=$(realpath "$1")
row=$(echo "$rows" | grep "^$2	") || {
	echo "no row $2 in $0" >&2
	exit 2
}
flags=$(echo "$row" | sed -n 's/.*flags=//p')
suite=$(echo "$row" | cut -f 2)
[ "$suite" != host ] || suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
compilers=$(echo "$row" | cut -f 3)
steps=" $(echo "$row" | cut -f 4) "
: >"$dir/log"
unset CFLAGS LDFLAGS

# What these distributions build packages with.
flags_of() {
	case $1 in
	suse)
		CFLAGS='-O2 -Wall -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
			-fstack-protector-strong -funwind-tables
			-fasynchronous-unwind-tables -fstack-clash-protection
			-Werror=return-type -flto=auto -g'
		LDFLAGS=-flto=auto
		;;
	arch)
		CFLAGS='-march=x86-64 -mtune=generic -O2 -pipe -fno-plt -fexceptions
			-Wp,-D_FORTIFY_SOURCE=3 -Wformat -Werror=format-security
			-fstack-clash-protection -fcf-protection
			-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
			-flto=auto'
		LDFLAGS='-Wl,-O1 -Wl,--sort-common -Wl,--as-needed -Wl,-z,relro
			-Wl,-z,now -Wl,-z,pack-relative-relocs -flto=auto'
		;;
	fedora)
		CFLAGS='-O2 -flto=auto -ffat-lto-objects -fexceptions -g
			-grecord-gcc-switches -pipe -Wall -Wno-complain-wrong-lang
			-Werror=format-security -Wp,-U_FORTIFY_SOURCE
			-Wp,-D_FORTIFY_SOURCE=3 -Wp,-D_GLIBCXX_ASSERTIONS
			-fstack-protector-strong -m64 -march=x86-64 -mtune=generic
			-fasynchronous-unwind-tables -fstack-clash-protection
			-fcf-protection -fno-omit-frame-pointer
			-mno-omit-leaf-frame-pointer'
		LDFLAGS='-Wl,-z,relro -Wl,--as-needed -Wl,-z,pack-relative-relocs
			-Wl,-z,now -Wl,--build-id=sha1'
		;;
	gentoo)
		CFLAGS='-O2 -pipe -march=native'
		LDFLAGS='-Wl,-O1 -Wl,--as-needed -Wl,-z,pack-relative-relocs'
		;;
	esac
	CFLAGS=$(echo "$CFLAGS" | tr -s '\t\n' ' ')
	LDFLAGS=$(echo "$LDFLAGS" | tr -s '\t\n' ' ')
}

# has STEP: is it one of the row's?
has() {
	case $steps in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

# in_tree COMMAND...: in the sources, with the flags of the row; warnings are errors,
# unless the row is lenient
in_tree() {
	werror=1
	! has lenient || werror=
	inside env -C /sources "WERROR=$werror" ${CFLAGS:+"CFLAGS=$CFLAGS"} \
		${LDFLAGS:+"LDFLAGS=$LDFLAGS"} "$@" >"$dir/log" 2>&1
}

# What Debian has of the parts that a build may lack.
parts='clang bpftool libbpf-dev libelf-dev libncurses-dev systemtap-sdt-dev'

# is_had CC: the suite has that compiler
is_had() {
	case $1 in
	*-[0-9]*) [ -n "$(inside apt-cache show --no-all-versions "$1" 2>/dev/null)" ] ;;
	esac
}

# The packages of the compilers; gcc is there. That of Gentoo defines
# _FORTIFY_SOURCE by itself.
packages_of() {
	for cc in $compilers; do
		case $cc in
		gcc-fortified)
			for name in gcc g++; do
				printf '#!/bin/sh\nexec %s -D_FORTIFY_SOURCE=3 "$@"\n' \
					"$name" >"$root/usr/bin/$name-fortified"
				chmod +x "$root/usr/bin/$name-fortified"
			done
			;;
		gcc-*) ! is_had "$cc" || echo "$cc g++${cc#gcc}" ;;
		clang-*) ! is_had "$cc" || echo "$cc" ;;
		esac
	done
}

# builds CC: everything, in a folder of its own; with -flto the linker, too, has
# warnings, which -Werror makes no errors.
builds() {
	cxx=$(echo "$1" | sed 's/gcc/g++/; s/clang/clang++/')
	bpf=clang
	[ "${1#clang}" = "$1" ] || bpf=$1
	in_tree make -s "-j$(nproc)" BUILD="build/$1" CC="$1" CXX="$cxx" \
		BPF_CLANG="$bpf" BPF=1 TOP=1 SDT=1 URING=1 XXHASH=1 all &&
		{ [ -n "$flags" ] || has lenient ||
			! grep -qi 'warning:' "$dir/log"; }
}

# What a compiler warns of that nobody has to repair.
tell_warnings() {
	grep -oi 'warning: .*' "$dir/log" | sort | uniq -c | sort -rn | head -n 20 |
		sed 's/^/# note: /'
}

try_compiler() {
	if ! is_had "$1"; then
		skip "$1 builds all" "$suite has no $1"
		return
	fi
	builds "$1"
	rc=$?
	if has lenient; then
		ok $rc "$1 $(inside "$1" -dumpversion) builds all"
		tell_warnings
	else
		ok $rc "$1 builds all, without a warning"
	fi
	[ $rc -eq 0 ] || return
	first=${first:-$1}
	in_tree "build/$1/examples/hello" && grep -q '^world from worker' "$dir/log"
	ok $? "$1: an example runs"
	in_tree nm -g --defined-only "build/$1/liblkdf.a" &&
		grep -q ' T lkdf_open$' "$dir/log" &&
		! grep -E '^[0-9a-f]+ [A-Z] ' "$dir/log" | grep -v ' lkdf_'
	ok $? "$1: the archive has documented names only"
	in_tree "build/$1/lkdf" doctor --build &&
		! grep '^none' "$dir/log" | grep -vE 'MPI: |FRAME_POINTERS: '
	ok $? "$1: no part was left out but MPI and frame pointers"
}

install_build() {
	in_tree make -s BUILD="build/$1" CC="$1" PREFIX=/usr install &&
		inside ldconfig
	ok $? 'make install'
}

# README's program, as its user builds it, with the library that is installed.
own_program() {
	fenced cpp 1 >"$root/own/primes.cc"
	fenced sh 2 >"$root/own/commands"
	inside env -C /own sh -e commands >"$dir/log" 2>&1
	rc=$?
	wanted Documentation/examples/cpp/primes.cc >"$dir/want"
	grep -qxFf "$dir/want" "$dir/log" && grep -q '^What costs most' "$dir/log" &&
		[ $rc -eq 0 ]
	ok $? "README's program is built, prints what README says, and is reported"
}

# Packages of an architecture alone: check-deb has those of pages and the module.
packages() {
	{
		apt_install lintian fakeroot &&
			inside apt-get build-dep -y -qq --no-install-recommends \
				--arch-only /sources/tools/packaging
	} >"$dir/log" 2>&1
	ok $? 'what building packages needs can be had'
	in_tree make -s "-j$(nproc)" DEB_ARGS=-B deb
	ok $? 'make deb'
	inside sh -c 'lintian --allow-root --fail-on error,warning /sources/build/deb/*.changes' \
		>"$dir/log" 2>&1
	ok $? 'lintian has no error and no warning'
	listed >"$dir/before"
	inside sh -c 'rm -f /sources/build/deb/*dbgsym*
		apt-get install -y -qq --no-install-recommends /sources/build/deb/*.deb' \
		>"$dir/log" 2>&1
	ok $? 'apt installs the packages'
	own_program
	# shellcheck disable=SC2016,SC2046
	inside apt-get purge --autoremove -y -qq $(inside dpkg-query -Wf \
		'${source:Package} ${Package}\n' | sed -n 's/^lkdf //p') \
		>"$dir/log" 2>&1 && ! inside dpkg-query -W '*lkdf*' >"$dir/more" 2>&1
	ok $? 'they are purged'
	nothing_is_left "$dir/before"
}

# apt only says what it would do: they are a gigabyte.
check_packages() {
	! in_tree env NO_INSTALL=1 .ci/deps &&
		sed -n 's/^missing packages, please: //p' "$dir/log" >"$dir/ask" &&
		[ -s "$dir/ask" ] &&
		in_tree sh -c "$(cat "$dir/ask") -s --no-install-recommends" &&
		grep -q '^Inst ' "$dir/log"
	ok $? 'what make check installs can be had'
}

first_make() {
	in_tree make run && grep -q '^What cost most' "$dir/log" &&
		! grep -qi 'warning:' "$dir/log"
	ok $? "README's make run installs, builds without a warning, and ends with what cost most"
}

[ -z "$flags" ] || flags_of "$flags"
tar -tzf "$sources" >"$dir/log" && grep -q '^[^/]*/Makefile$' "$dir/log" &&
	! grep -q '^[^/]*/\.git/' "$dir/log"
ok $? 'the sources of a release have no .git'
reason=$(no_root "$suite")
if [ -n "$reason" ]; then
	skip "lkdf in a root of $suite" "$reason"
	echo "1..$nr"
	exit "$failed"
fi
{
	inside apt-get update -qq && apt_install make &&
		mkdir "$root/own" "$root/sources" &&
		tar -C "$root/sources" --strip-components=1 -xzf "$sources"
} >"$dir/log" 2>&1
rc=$?
ok $rc "a clean root of $suite with make and the sources"
[ $rc -eq 0 ] || { echo "1..$nr" && exit 1; }
enter_root
! has run || first_make
in_tree .ci/deps build
ok $? '.ci/deps build'
# shellcheck disable=SC2046,SC2086
apt_install $parts $(packages_of) >"$dir/log" 2>&1
ok $? "$suite has the compilers"
first=
if has deb; then
	packages
else
	for cc in $compilers; do
		try_compiler "$cc"
	done
	if [ -n "$first" ]; then
		install_build "$first"
		own_program
	fi
	check_packages
fi
echo "1..$nr"
exit $((failed != 0))
