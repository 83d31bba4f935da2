# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=sh disable=SC2154
# A clean root of Debian in $dir/root, for tests that install in it: sourced behind
# tap.sh. CLEAN_ROOT=FILE.tar is a root that is there already; without it mmdebstrap
# makes one from the archive that this machine uses. It is kept for a day in
# $build/roots, for the next test.
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

# no_root SUITE: why there can be none, or nothing
no_root() {
	if [ "$(id -u)" != 0 ]; then
		echo 'chroot needs root'
	elif [ -z "${CLEAN_ROOT-}" ] && ! command -v mmdebstrap >"$dir/log"; then
		echo 'mmdebstrap is not installed'
	elif ! make_root "$1" >"$dir/log" 2>&1; then
		echo "no clean root: $(grep -m 1 '^E: ' "$dir/log" ||
			tail -n 1 "$dir/log")"
	fi
}

# The archive of Debian that apt uses here; nothing: mmdebstrap knows one.
archive() {
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(SITE)' 'Created-By: Packages' \
		'Origin: Debian' 2>/dev/null | grep -v security | head -n 1
}

# make_tar SUITE FILE; the lists of a mirror that somebody keeps as it was are old.
make_tar() {
	at=$(archive)
	mkdir -p "${2%/*}" &&
		mmdebstrap --variant=minbase --format=tar \
			--aptopt='Acquire::Check-Valid-Until "false"' "$1" "$2.new" \
			${at:+"$at"} && mv "$2.new" "$2"
}

make_root() {
	tar=${CLEAN_ROOT:-$build/roots/$1.tar}
	mkdir "$root" || return
	[ -n "${CLEAN_ROOT-}" ] || [ -n "$(find "$tar" -mmin -1440 2>/dev/null)" ] ||
		make_tar "$1" "$tar" || return
	tar -C "$root" -xf "$tar" && cp /etc/resolv.conf "$root/etc/"
}

inside() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
		HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
}

apt_install() {
	inside apt-get install -y -qq --no-install-recommends "$@"
}

# What there is of files; caches and logs of apt and dpkg are theirs.
listed() {
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev \
		-o -path ./var/cache -o -path ./var/lib -o -path ./var/log \
		-o -path ./tmp -o -path ./packages -o -path ./sources \
		-o -path ./own \) -prune -o -print) | sort
}

# nothing_is_left LIST: there are the files of the list, which listed() has made
nothing_is_left() {
	listed >"$dir/after"
	# The group stays, as groups of packages do; its backup is that of shadow.
	diff "$1" "$dir/after" | grep '^[<>]' |
		grep -vE '/etc/(group|gshadow|passwd|shadow)-?$|__pycache__' \
			>"$dir/left"
	[ ! -s "$dir/left" ]
	ok $? 'nothing is left' "$dir/left"
}
