# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=sh
# A clean root of Debian 12 in $dir/root, for tests that install in it: sourced
# behind tap.sh. CLEAN_ROOT=FILE.tar is a root that is there already; without it
# mmdebstrap makes one from the sources of packages that this machine uses.
root=$dir/root
trap 'leave_root; rm -rf --one-file-system "$dir"' EXIT

# The kernel's files are mounted there from enter_root to leave_root.
enter_root() {
	mount --rbind --make-rslave /proc "$root/proc" &&
		mount --rbind --make-rslave /sys "$root/sys"
}

leave_root() {
	for at in proc sys; do
		! mountpoint -q "$root/$at" || umount -l "$root/$at"
	done
}

# no_root: why there can be none, or nothing
no_root() {
	if [ "$(id -u)" != 0 ]; then
		echo 'chroot needs root'
	elif [ -z "${CLEAN_ROOT-}" ] && ! command -v mmdebstrap >"$dir/log"; then
		echo 'mmdebstrap is not installed'
	elif ! make_root >"$dir/log" 2>&1; then
		echo "no clean root: $(tail -n 1 "$dir/log")"
	fi
}

make_root() {
	mkdir "$root" || return
	if [ -n "${CLEAN_ROOT-}" ]; then
		tar -C "$root" -xf "$CLEAN_ROOT" || return
	else
		cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
			/etc/apt/sources.list.d/*.sources 2>/dev/null |
			mmdebstrap --variant=minbase bookworm "$dir/root.tar" - &&
			tar -C "$root" -xf "$dir/root.tar" || return
	fi
	cp /etc/resolv.conf "$root/etc/"
}

inside() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
		HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
}

apt_install() {
	inside apt-get install -y -qq --no-install-recommends "$@"
}
