#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What .ci/deps asks for, by release and by what apt knows; nothing is installed:
# dpkg-query, apt-cache and apt-get are played by scripts that read lists of names.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"

# play NAME: a program of that name whose text is stdin
play() {
	{
		printf '#!/bin/sh\n'
		cat
	} >"$dir/bin/$1"
	chmod +x "$dir/bin/$1"
}

mkdir "$dir/bin" "$dir/plain"
: >"$dir/installed"
: >"$dir/unknown"
: >"$dir/called"
for name in sh sed grep; do
	ln -s "$(command -v "$name")" "$dir/plain/$name"
done
play dpkg-query <<END
for p; do :; done
grep -qxF "\$p" "$dir/installed" && echo 'install ok installed'
END
play apt-cache <<END
grep -qxF "\$2" "$dir/unknown" || echo '  Candidate: 1'
END
play apt-get <<END
echo "\$*" >>"$dir/called"
END

# asks RELEASE [WORD...]: the line that names what is missing, to $dir/log
asks() {
	echo "VERSION_CODENAME=$1" >"$dir/release"
	shift
	OS_RELEASE="$dir/release" NO_INSTALL=1 PATH="$dir/bin:$PATH" \
		.ci/deps "$@" >"$dir/log" 2>&1
}

# has NAME, lacks NAME: in that line
has() {
	grep -q "^missing packages.* $1\\( \\|\$\\)" "$dir/log"
}

lacks() {
	grep -q '^missing packages' "$dir/log" && ! has "$1"
}

! asks bookworm && has libclang-rt-14-dev && has 'libmimalloc2\.0' &&
	lacks libclang-rt-dev
ok $? 'Debian 12 has packages of its own versions'
! asks trixie && has libclang-rt-dev && has libmimalloc3 &&
	lacks libclang-rt-14-dev
ok $? 'Debian 13 has those of its own'
! asks trixie build && has libhwloc-dev && lacks clang
ok $? 'a build needs less than the tests'

printf '%s\n' chromium gcc-none >"$dir/unknown"
! asks trixie && lacks chromium && has clang
ok $? "what a release does not have is not asked for if only tests need it"
echo libhwloc-dev >"$dir/unknown"
! asks trixie && has libhwloc-dev
ok $? 'what a build needs is named all the same'
printf '%s\n' gcc chromium >"$dir/unknown"
! asks trixie && has chromium
ok $? 'before apt has lists all are named'
: >"$dir/unknown"

! asks trixie more && sed 's/.*apt-get install //' "$dir/log" | tr ' ' '\n' \
	>"$dir/installed"
asks trixie more && [ ! -s "$dir/log" ]
ok $? 'nothing is said if nothing is missing'
sed -i '/^strace$/d' "$dir/installed"
! asks trixie && grep -qx 'missing packages, please: apt-get install strace' \
	"$dir/log"
ok $? 'only what is missing is named'
if [ "$(id -u)" = 0 ]; then
	OS_RELEASE="$dir/release" NO_INSTALL='' PATH="$dir/bin:$PATH" .ci/deps \
		>"$dir/log" 2>&1
	grep -q '^install .* strace$' "$dir/called"
	ok $? 'root installs it' "$dir/called"
else
	skip 'root installs it' 'not root'
fi
[ "$(grep -c . "$dir/called")" -le 2 ] && ! grep -q chromium "$dir/called"
ok $? 'and nothing else' "$dir/called"

# Elsewhere there is no dpkg. The compiler is found by our PATH.
play cc <<END
PATH="$PATH" exec ${CC:-gcc} "\$@"
END
CC="$dir/bin/cc -nostdinc" PATH="$dir/plain" sh .ci/deps >"$dir/log" 2>&1
[ $? -eq 1 ] && grep -qx \
	'missing, please install what has: .*hwloc\.h numa\.h liburing\.h xxhash\.h' \
	"$dir/log"
ok $? 'without dpkg the headers that are missing are named'
mkdir "$dir/include"
for header in hwloc numa liburing xxhash; do
	: >"$dir/include/$header.h"
done
C_INCLUDE_PATH="$dir/include" CC="$dir/bin/cc" PATH="$dir/plain" sh .ci/deps \
	>"$dir/log" 2>&1
ok $? 'and it is content if there are all'
echo "1..$nr"
exit "$failed"
