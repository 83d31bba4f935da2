#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The first line (the second after #! or #compdef, which must be first) states the licence that belongs to the
# folder, and LICENSES has the text of every licence named. Files that cannot
# hold comments are left out by their ends, version scripts of the linker too. Lists of
# tools/packaging/debian have their licence in its copyright.
set -u
lgpl='LGPL-2.1-only OR BSD-2-Clause'
bad=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

tests/lint/files.sh | grep -Ev '^LICENSES/|/fixtures/|/corpus/' |
	grep -Ev '^tools/packaging/debian/(source/format|tests/control|[^r/][^/]*)$' |
	grep -Ev '\.(json|map|abi|csv|png|svg|ico|bin|lkdf|gz|xz|zst)$' |
	while IFS= read -r f; do
		case $f in
		kmod/uapi/*) want="(GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause" ;;
		kmod/* | Kbuild) want=GPL-2.0-only ;;
		bpf/*) want="GPL-2.0-only OR BSD-2-Clause" ;;
		*) want=$lgpl ;;
		esac
		printf '%s\t%s\n' "$f" "$want"
	done >"$dir/wanted"
[ -s "$dir/wanted" ] || exit 0

awk -F '\t' '
BEGIN { bad = 0 }
{
	path = $1
	first = second = ""
	getline first < path
	getline second < path
	close(path)
	got = first ~ /^#(!|compdef )/ ? second : first
	if (got !~ /SPDX-License-Identifier: /) {
		printf "%s:1: first line: SPDX-License-Identifier: %s\n", \
			path, $2
		bad = 1
		next
	}
	sub(/.*SPDX-License-Identifier: */, "", got)
	sub(/[ \t]*(\*\/|-->)?[ \t\r]*$/, "", got)
	if (got != $2) {
		printf "%s:1: licence is \"%s\", here it is \"%s\"\n", path, \
			got, $2
		bad = 1
	}
}
END { exit bad }' "$dir/wanted" || bad=1

cut -f 2 "$dir/wanted" | sort -u | tr -d '()' |
	sed 's/ OR /\n/g; s/ WITH /\n/g' | sort -u >"$dir/ids"
while IFS= read -r id; do
	[ ! -f "LICENSES/$id.txt" ] || continue
	echo "LICENSES/$id.txt:1: add the text of the licence"
	bad=1
done <"$dir/ids"
exit $bad
