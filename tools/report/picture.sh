#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A page of lkdf report, as README and the guides show it:
#
#	picture.sh BUILD FILE.png [RECORDING WIDTH,HEIGHT [TITLE]...]
#
# The titles are those of parts of the page, and #ID those of the findings, one or
# more; without them all is shown, as far as it fits. README's recording is tests/api/report/planted.py's, with a clock that
# is made up, so that the picture changes with the page alone. Needs Chromium and
# python3.
set -u
build=${1:?usage: picture.sh BUILD FILE.png [RECORDING WIDTH,HEIGHT [TITLE]...]}
out=${2:?usage: picture.sh BUILD FILE.png [RECORDING WIDTH,HEIGHT [TITLE]...]}
shift 2
recording=${1-} size=${2:-1280,935}
shift $(($# < 2 ? $# : 2))
export PYTHONDONTWRITEBYTECODE=1
browser=$(command -v chromium || command -v chromium-browser ||
	command -v google-chrome)
if [ -z "$browser" ] || ! command -v python3 >/dev/null; then
	echo "picture.sh: chromium or python3 is not installed" >&2
	exit 1
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

if [ -z "$recording" ]; then
	recording=$dir/remote.lkdf
	python3 tests/api/report/planted.py remote "$recording" || exit 1
fi
"$build/lkdf" report -q "$recording" --html "$dir/page.html" >/dev/null ||
	exit 1
# Of the parts only those with these titles stay: a script at the end of a copy
# takes the others away, for which the page's policy goes first.
[ $# -eq 0 ] || python3 - "$dir/page.html" "$@" <<'END' || exit 1
import json, re, sys
page = re.sub("<meta http-equiv=\"Content-Security[^>]*>", "",
              open(sys.argv[1], encoding="utf-8").read())
script = """<script>{
const titles = %s, page = document.getElementById("page");
const only = titles.filter(t => t[0] === "#").map(t => "finding-" + t.slice(1));
let stays = true;
for (const e of document.querySelectorAll(".two > div"))
	page.append(e);
for (const e of [...page.children]) {
	const title = e.matches("h2") ? e : e.querySelector("h2");

	if (title)
		stays = titles.includes(title.firstChild.data);
	if ((!stays && !e.matches("header")) ||
	    (only.length && e.matches(".finding") && !only.includes(e.id)))
		e.remove();
}
dispatchEvent(new Event("resize"));
}</script>""" % json.dumps(sys.argv[2:])
open(sys.argv[1], "w", encoding="utf-8").write(
    page.replace("</body>", script + "</body>"))
END
timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu \
	--no-first-run --disable-background-networking \
	--disable-component-update --disable-sync --hide-scrollbars \
	--user-data-dir="$dir/profile" --window-size="$size" \
	--screenshot="$dir/page.png" "file://$dir/page.html" \
	>"$dir/log" 2>&1
if [ ! -s "$dir/page.png" ]; then
	cat "$dir/log" >&2
	exit 1
fi
# The licence goes into a chunk of its own, behind the header.
python3 - "$dir/page.png" "$out" <<'END'
import struct, sys, zlib
png = open(sys.argv[1], "rb").read()
head = 8 + 25  # signature, IHDR
body = (b"tEXtCopyright\0SPDX-License-Identifier: "
        b"LGPL-2.1-only OR BSD-2-Clause")
chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(
    ">I", zlib.crc32(body))
open(sys.argv[2], "wb").write(png[:head] + chunk + png[head:])
END
echo "$out"
