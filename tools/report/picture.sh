#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The page of lkdf report as README shows it:
#
#	picture.sh BUILD FILE.png
#
# The recording is tests/api/report/planted.py's, with a clock that is made up,
# so the picture changes with the page alone. Needs Chromium and python3.
set -u
build=${1:?usage: picture.sh BUILD FILE.png}
out=${2:?usage: picture.sh BUILD FILE.png}
export PYTHONDONTWRITEBYTECODE=1
browser=$(command -v chromium || command -v chromium-browser ||
	command -v google-chrome)
if [ -z "$browser" ] || ! command -v python3 >/dev/null; then
	echo "picture.sh: chromium or python3 is not installed" >&2
	exit 1
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

python3 tests/api/report/planted.py remote "$dir/remote.lkdf" &&
	"$build/lkdf" report -q "$dir/remote.lkdf" --html "$dir/remote.html" \
		>/dev/null || exit 1
timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu \
	--no-first-run --disable-background-networking \
	--disable-component-update --disable-sync --hide-scrollbars \
	--user-data-dir="$dir/profile" --window-size=1280,935 \
	--screenshot="$dir/page.png" "file://$dir/remote.html" \
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
