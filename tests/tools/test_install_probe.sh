#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What make install-probe puts where: the unit, the rule for the directory, the
# group; readable by all, with the tool's place in it, fit for systemd.
# shellcheck source=tests/tools/tap.sh
. "${0%/*}/tap.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS
root=$dir/root
unit=usr/lib/systemd/system/lkdf-probe.service

(umask 077 && make -s BUILD="$build" CC="${CC:-gcc}" DESTDIR="$root" \
	PREFIX=/opt/lkdf install-probe) >"$dir/log" 2>&1
ok $? 'make install-probe'
(cd "$root" && find . -type f -printf '%m %P\n' | sort) >"$dir/files"
cat >"$dir/want" <<END
644 $unit
644 usr/lib/sysusers.d/lkdf.conf
644 usr/lib/tmpfiles.d/lkdf-probe.conf
END
diff "$dir/want" "$dir/files" >"$dir/log"
ok $? 'three files, readable by all, and no others'
[ -z "$(find "$root" -type d ! -perm -755)" ]
ok $? 'in directories that all may enter' "$dir/files"
grep -qx 'ExecStart=/opt/lkdf/bin/lkdf probe start' "$root/$unit" &&
	grep -qx 'ExecStop=/opt/lkdf/bin/lkdf probe stop' "$root/$unit"
ok $? 'the unit calls the tool where it is installed' "$root/$unit"
! grep -rn '@[A-Z]*@' "$root" >"$dir/log"
ok $? 'no place is left to be filled'
grep -q '^d /run/lkdf 0755 ' "$root/usr/lib/tmpfiles.d/lkdf-probe.conf"
ok $? 'the directory is open to all, what is in it to the group'
grep -q '^g lkdf ' "$root/usr/lib/sysusers.d/lkdf.conf"
ok $? 'the group is lkdf'

# The words of the unit, by systemd itself: its command has to be there.
if command -v systemd-analyze >/dev/null; then
	sed "s|/opt/lkdf/bin|$build|" "$root/$unit" >"$dir/lkdf-probe.service"
	systemd-analyze verify --man=no "$dir/lkdf-probe.service" \
		>"$dir/log" 2>&1
	rc=$?
	! grep -q 'lkdf-probe' "$dir/log" && [ $rc -eq 0 ]
	ok $? 'systemd takes the unit'
	sed 's/^Type=.*/Type=nonsense/' "$dir/lkdf-probe.service" \
		>"$dir/lkdf-worse.service"
	systemd-analyze verify --man=no "$dir/lkdf-worse.service" \
		>"$dir/log" 2>&1
	grep -q 'nonsense' "$dir/log"
	ok $? 'and says of a worse one what is wrong'
else
	skip 'systemd takes the unit' 'there is no systemd-analyze'
fi
if [ "$(id -u)" != 0 ]; then
	skip 'systemd makes the directory' 'only root may give one away'
elif command -v systemd-tmpfiles >/dev/null; then
	systemd-tmpfiles --root="$root" --create lkdf-probe.conf \
		>"$dir/log" 2>&1 &&
		[ "$(stat -c %a "$root/run/lkdf")" = 755 ]
	ok $? 'systemd makes the directory'
else
	skip 'systemd makes the directory' 'there is no systemd-tmpfiles'
fi
echo "1..$nr"
exit "$failed"
