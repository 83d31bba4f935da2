#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The pictures of Documentation/findings.rst: findings.sh BUILD FOLDER [NAME]...
#
# Each is of a recording of tests/api/report/planted.py, whose clock is made up:
# the one finding, and for some of them another part of the page.
set -u
build=${1:?usage: findings.sh BUILD FOLDER [NAME]...}
to=${2:?usage: findings.sh BUILD FOLDER [NAME]...}
here=$(dirname "$0")
shift 2
wanted=" $* "
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export PYTHONDONTWRITEBYTECODE=1

# picture NAME RECORDING HEIGHT [TITLE]...
picture() {
	name=$1 recording=$2 height=$3
	shift 3
	case $wanted in
	'  ' | *" $name "*) ;;
	*) return ;;
	esac
	python3 tests/api/report/planted.py "$recording" \
		"$dir/$recording.lkdf" &&
		"$here/picture.sh" "$build" "$to/finding-$name.png" \
			"$dir/$recording.lkdf" "1000,$height" \
			'What costs most' "$@" || exit 1
}

picture submission submit 240 '#submission'
picture starved last 590 '#starved' Timeline
picture order order 560 '#order' Timeline
picture window window 240 '#window'
picture limit limit 230 '#limit'
picture io io 255 '#io'
picture device device 350 '#device' Devices
picture load service 300 '#fine' '#load'
picture cpu taken 275 '#cpu'
picture kernel mapped 255 '#kernel'
picture futex lock 420 '#futex' 'Futex words'
picture remote remote 650 '#remote' 'Bytes: who uses, whose they are'
picture late pooled 240 '#late'
picture pool pooled 250 '#pool'
picture chain last 240 '#chain'
picture workers clean 320 '#fine' '#workers'
picture lost small 240 '#lost'
