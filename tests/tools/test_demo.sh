#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Documentation/demo.lkdf: the tool reads it, README shows the report as it is, the
# program that was recorded is an example with the mistake that the report names, and
# the recording has no path of the machine that made it.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh
demo=Documentation/demo.lkdf
lkdf=$build/lkdf

"$lkdf" trace check "$demo" >"$dir/log" 2>&1
ok $? "the demo's recording is whole"
[ "$(wc -c <"$demo")" -lt 204800 ]
ok $? 'it is smaller than 200 KB'
"$lkdf" report "$demo" >"$dir/report" 2>"$dir/log" && [ ! -s "$dir/log" ]
ok $? 'its report has no complaint'
# From a folder without anything else, as where nothing but the tool is built
mkdir "$dir/alone" && cp "$demo" "$dir/alone/demo.lkdf" &&
	(cd "$dir/alone" && env -u LKDF_WORKERS "$lkdf" report demo.lkdf) |
	sed '$d' >"$dir/got" && sed '$d' "$dir/report" | cmp - "$dir/got" >"$dir/log" 2>&1
ok $? 'the report needs nothing but the recording'
"$lkdf" report "$demo" --html "$dir/page.html" >"$dir/log" 2>&1 &&
	grep -q 'one after another: RW on prices' "$dir/page.html"
ok $? 'it is a page, too'

# README: the command, then what it prints up to the end of the first finding.
fenced console 1 >"$dir/shown"
read -r first <"$dir/shown"
# shellcheck disable=SC2016
[ "$first" = '$ build/lkdf report Documentation/demo.lkdf' ]
ok $? "README's first example is the report of the demo" "$dir/shown"
sed 1d "$dir/shown" >"$dir/want"
head -n "$(wc -l <"$dir/want")" "$dir/report" >"$dir/got"
diff "$dir/want" "$dir/got" >"$dir/log"
ok $? 'README shows what it prints'
grep -q '^  1 .* offer run one after another: RW on prices$' "$dir/want" &&
	grep -q '^  *a replay with that takes [1-9][0-9]* % less$' "$dir/want"
ok $? 'that has the first finding with its gain' "$dir/want"
sed -n 's/^\([0-9.]* ms\), .*/It took \1, and/p;1q' "$dir/report" >"$dir/time"
[ -s "$dir/time" ] && grep -qFf "$dir/time" README.md
ok $? 'README says how long the program took' "$dir/time"
sed -n 1,40p README.md | grep -qF "$demo"
ok $? 'it is on the first screen'

# Texts of the recording
! grep -aoE '(^|[^a-z])/[a-z]{3,}' "$demo" >"$dir/log"
ok $? 'the recording has no path'

source=Documentation/examples/guide/offers.c
as_it_says "$source"
if [ -x "$dir/program" ]; then
	for how in write read; do
		LKDF_WORKERS=2 LKDF_TRACE=$dir/$how.lkdf "$limit" 60 \
			"$dir/program" $how >"$dir/got" 2>"$dir/log"
		cmp "$dir/want" "$dir/got" >>"$dir/log" 2>&1 &&
			"$lkdf" report "$dir/$how.lkdf" >"$dir/$how.txt" 2>>"$dir/log"
		ok $? "offers $how is right"
	done
	grep -q 'offer  *[1-9][0-9]* .*RW on prices$' "$dir/write.txt"
	ok $? 'its tasks wait for the table that they say they write' \
		"$dir/write.txt"
	! grep -q 'RW on prices' "$dir/read.txt"
	ok $? 'with LKDF_READ they do not' "$dir/read.txt"
fi

# The script that makes it anew changes the lines of README and nothing else.
# A file of another page takes part, so that no run of the tests writes to the tree.
sed 's/^\(What costs most\)$/\1, of another day/' README.md >"$dir/README.md"
! cmp -s README.md "$dir/README.md"
ok $? 'a page with an old report'
cat >"$dir/fake" <<END
#!/bin/sh
# lkdf report and offers, of the recording that is there
case \$(basename "\$0") in
lkdf) exec "$lkdf" "\$@" ;;
*) cp "$demo" "\$LKDF_TRACE" ;;
esac
END
chmod +x "$dir/fake"
mkdir -p "$dir/build/examples/guide"
ln -s ../../../fake "$dir/build/examples/guide/offers"
cat >"$dir/build/lkdf" <<END
#!/bin/sh
# With the change the program takes as long as the replay says.
case \$* in
*read.lkdf) echo "\${FAST:-42} ms, 2 workers on 1 node" ;;
*) exec "$lkdf" "\$@" ;;
esac
END
chmod +x "$dir/build/lkdf"
tools/report/demo.sh "$dir/build" "$dir/demo.lkdf" "$dir/README.md" \
	>"$dir/log" 2>&1
ok $? 'the script makes a recording'
cmp "$demo" "$dir/demo.lkdf" >"$dir/log" 2>&1
ok $? 'which is the one that it made'
diff README.md "$dir/README.md" >"$dir/log"
ok $? 'and writes its report into README'
FAST=9000 tools/report/demo.sh "$dir/build" "$dir/none.lkdf" "$dir/README.md" \
	>"$dir/log" 2>&1
[ $? -eq 1 ] && grep -q 'no recording was good' "$dir/log" &&
	[ ! -e "$dir/none.lkdf" ]
ok $? 'it refuses one whose change gains less than the replay says'

# recipe TARGET: its lines in the Makefile
recipe() {
	awk -v target="$1:" '
		on && /^$/ { exit }
		on
		index($0, target) == 1 { on = 1 }' Makefile
}
recipe run >"$dir/got"
sed 1q "$dir/got" | grep -qE 'echo .Builds lkdf \(.* minutes .*\), finds equal files in .* \([0-9]+ s\)'
ok $? 'make run says first what it does and how long that takes' "$dir/got"
recipe demo >"$dir/got"
grep -q 'report Documentation/demo.lkdf$' "$dir/got" &&
	! grep -qE ' all|examples' "$dir/got"
ok $? 'make demo builds the tool alone and shows the report' "$dir/got"
echo "1..$nr"
exit "$failed"
