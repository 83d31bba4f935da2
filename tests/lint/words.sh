#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Words of unfinished work outside tests; paths of one machine anywhere.
set -u
bad=0
files=$(tests/lint/files.sh | grep -v '^LICENSES/')
[ -n "$files" ] || exit 0

# none PATTERN FLAGS ADVICE, files on stdin
none() {
	found=$(tr '\n' '\0' | xargs -0 -r grep -nHIE"$2" "$1" |
		cut -d : -f 1,2)
	[ -n "$found" ] || return 0
	echo "$found" | sed "s/\$/: $3/"
	bad=1
}

ours=$(echo "$files" | grep -v '^tests/')
none '\<(TODO|FIXME|XXX|HACK)\>' '' 'finish it or leave it out' <<EOT
$ours
EOT
none '\<(stubs?|stubbed|place ?holders?|not (yet )?implemented|unimplemented)\>' \
	i 'finish it or leave it out' <<EOT
$ours
EOT
none '(^|[^A-Za-z0-9_.)}])/(wor[k]|tmp/w[t]|home/[a-z]+)/' '' \
	'no path of one machine' <<EOT
$files
EOT
exit $bad
