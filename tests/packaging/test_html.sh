#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# make html: no warning of Sphinx, no link that leads nowhere, a section of the
# reference for each function that the library exports, and a search that finds it.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/../tools/tap.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS

if ! command -v sphinx-build >/dev/null; then
	echo '1..0 # SKIP sphinx-build is not installed: .ci/deps more'
	exit 0
fi
make -s BUILD="$dir/b" html >"$dir/log" 2>&1
ok $? 'the pages are made, and Sphinx warns of nothing'
python3 - "$dir/b/html" >"$dir/log" <<'END'
import os
import re
import sys

dead = 0
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if not name.endswith('.html'):
            continue
        with open(os.path.join(folder, name), encoding='utf-8') as f:
            text = f.read()
        for to in re.findall(r'(?:href|src)="([^"#:?]+)[^"]*"', text):
            if not os.path.exists(os.path.join(folder, to)):
                print(f'{name}: {to}')
                dead += 1
sys.exit(dead > 0)
END
ok $? 'each link leads somewhere'
for name in $(tests/lint/mapped.sh); do
	grep -q "<h2>$name<" "$dir"/b/html/reference/*.html || echo "$name"
done >"$dir/log"
[ ! -s "$dir/log" ]
ok $? 'the reference has each function that the library exports'
for name in $(tests/lint/mapped.sh | head -n 3); do
	grep -q "$name" "$dir/b/html/searchindex.js" || echo "$name"
done >"$dir/log"
[ ! -s "$dir/log" ]
ok $? 'the search knows them'
grep -q 'rel="next"' "$dir/b/html/tutorial.html" &&
	grep -q 'rel="prev"' "$dir/b/html/tutorial.html"
ok $? 'a page leads to the next and to the one before'
echo "1..$nr"
exit $((failed != 0))
