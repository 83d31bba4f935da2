#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The packages that make deb has built: lintian finds nothing; in a clean root they
# are installed by apt, the first program is compiled, run and reported, they are
# upgraded and removed, and nothing is left; dkms builds the module for a kernel of
# Debian, which nobody loads; a second build has the same bytes.
# Called by make check-deb, as it takes minutes and root:
#
#	test_deb.sh DEB    the folder of the packages
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/../tools/tap.sh"
# shellcheck source=tests/packaging/root.sh
. tests/packaging/root.sh
deb=$(realpath "${1:?usage: test_deb.sh DEB}")
: >"$dir/log"

names='liblkdf0 liblkdf-dev liblkdf-gomp0 liblkdf-malloc0 lkdf lkdf-dkms lkdf-doc'
for name in $names; do
	ls "$deb/${name}"_*.deb >"$dir/log" 2>&1
	ok $? "there is a package $name"
done
if command -v lintian >/dev/null; then
	lintian --allow-root --fail-on error,warning "$deb"/*.changes \
		>"$dir/log" 2>&1
	ok $? 'lintian has no error and no warning'
else
	skip 'lintian has no error and no warning' 'lintian is not installed'
fi
dpkg-deb -c "$deb"/liblkdf0_*.deb >"$dir/log"
! grep -vE ' \./(usr/(lib/([^/]*/(liblkdf\.so\.[0-9.]*)?)?|share/(doc/(liblkdf0/.*)?|lintian/.*)?)?)?( ->.*)?$' \
	"$dir/log" >"$dir/more"
ok $? 'the library is alone in its package' "$dir/more"

dpkg-deb -c "$deb"/lkdf-doc_*.deb | grep '/html/.*\.gz$' >"$dir/log"
[ $? -eq 1 ]
ok $? 'files that pages lead to are there by their names'

# next_version: the same packages under a version that is newer
next_version() {
	for file in "$root"/packages/*.deb; do
		rm -rf "$dir/x" && dpkg-deb -R "$file" "$dir/x" &&
			sed -i -e '/^Version: /s/$/+next/' \
				-e '/^Depends: /s/(= \([^)]*\))/(= \1+next)/g' \
				"$dir/x/DEBIAN/control" &&
			dpkg-deb --root-owner-group -b "$dir/x" \
				"${file%.deb}+next.deb" && rm "$file" || return
	done
}

life() {
	cp -r "$deb" "$dir/packages" && mkdir "$root/packages" &&
		cp "$deb"/*.deb "$root/packages" &&
		rm -f "$root"/packages/*dbgsym* "$root"/packages/lkdf-dkms*
	{
		inside apt-get update -qq &&
			apt_install gcc g++ libc6-dev pkg-config libhwloc-dev \
				libnuma-dev libudev-dev liburing-dev libbpf1 libncursesw6 \
				libjs-sphinxdoc
	} >"$dir/log" 2>&1
	rc=$?
	ok $rc 'a clean root has what the packages depend on'
	[ $rc -eq 0 ] || return
	listed >"$dir/before"
	began=$(date +%s)
	inside sh -c 'apt-get install -y -qq --no-install-recommends /packages/*.deb' \
		>"$dir/log" 2>&1
	ok $? 'apt installs the packages'
	echo "# which took $(($(date +%s) - began)) s"
	enter_root
	inside sh /first-program >"$dir/log" 2>&1
	ok $? 'the first program is compiled, run and reported'
	inside lkdf doctor --build >"$dir/log" 2>&1 &&
		! grep '^none' "$dir/log" | grep -qvE 'MPI: |FRAME_POINTERS: '
	ok $? 'no part was left out but MPI and frame pointers'
	leave_root
	next_version >"$dir/log" 2>&1 && inside sh -c \
		'apt-get install -y -qq --no-install-recommends /packages/*.deb' \
		>"$dir/log" 2>&1 &&
		inside dpkg -s lkdf | grep -q '^Version: .*+next$'
	ok $? 'they are upgraded'
	inside apt-get purge -y -qq liblkdf0 liblkdf-dev liblkdf-gomp0 \
		liblkdf-malloc0 lkdf lkdf-doc >"$dir/log" 2>&1
	ok $? 'they are removed'
	nothing_is_left "$dir/before"
}

# module: last, as the headers of a kernel bring a compiler with them
module() {
	headers=linux-headers-$(inside dpkg --print-architecture)
	enter_root
	if ! apt_install dkms "$headers" >"$dir/log" 2>&1; then
		leave_root
		skip 'dkms builds the module' "no package $headers"
		return
	fi
	kernel=$(basename "$root"/lib/modules/*)
	cp "$deb"/lkdf-dkms_*.deb "$root/lkdf-dkms.deb"
	{
		apt_install /lkdf-dkms.deb
		inside dkms status lkdf
	} >"$dir/log" 2>&1
	grep -q "^lkdf/.*, $kernel, .*: installed" "$dir/log"
	ok $? "dkms builds the module, for $kernel"
	inside modinfo -k "$kernel" -F vermagic lkdf >"$dir/log" 2>&1 &&
		grep -q "^$kernel " "$dir/log"
	ok $? 'which says that it is for that kernel'
	inside apt-get purge -y -qq lkdf-dkms >"$dir/log" 2>&1
	find "$root/lib/modules" "$root/usr/src" -name 'lkdf*' >"$dir/left"
	[ ! -s "$dir/left" ]
	ok $? 'the module goes with its package' "$dir/left"
	leave_root
}

what='install, upgrade and remove in a clean root'
reason=$(no_root bookworm)
if [ -n "$reason" ]; then
	skip "$what" "$reason"
else
	cp tools/packaging/debian/tests/first-program "$root/first-program"
	life
	module
fi

if [ -n "${AGAIN-}" ]; then
	for file in "$deb"/*.deb; do
		cmp "$file" "$AGAIN/${file##*/}" >"$dir/log" 2>&1
		ok $? "a second build of $(basename "${file%%_*}") has the same bytes"
	done
fi
echo "1..$nr"
exit $((failed != 0))
