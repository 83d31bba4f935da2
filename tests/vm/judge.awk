# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# judge.awk CONSOLE OUTPUT: what the kernel and the command of a machine said,
# as one TAP program: tests renumbered, one plan, and one test more, whether
# the machine itself did well. Programs that run between the lines
#   LKDF-VM-BEGIN name
#   LKDF-VM-END name status
# are checked one by one: plan, exit status, which may be kselftest's 4 where all
# of a program's tests were skipped. Variables: want_taint; status, the exit
# status of the machine; config, its name for whoever counts configurations.
#
# Of the data races that KCSAN reports those count in which the module makes one
# of the accesses, by itself or in a function for bytes, lists or trees. By the
# strict rules the kernel's own code has races everywhere, also where it works
# for us: these are told, and that is all.

BEGIN {
	if (config != "")
		print "# configuration: " config
}

function test(good, text) {
	printf "%sok %d - %s\n", good ? "" : "not ", ++nr, text
	failed += !good
}

function bad(text) {
	printf "# %s\n", text
	nr_bad++
}

function is_all_skipped(rc) {
	return rc == 4 && count > 0 && nr_skipped == count
}

# TAP of one program ends: is it complete?
function finish(rc) {
	if (is_skipped)
		printf "ok %d - %s # SKIP %s\n", ++nr, name, why
	else if (plan != count)
		test(0, name ": ended early, planned " plan ", ran " count \
		     ", exit status " rc)
	else if (rc != 0 && !nr_not_ok && !is_all_skipped(rc))
		test(0, name ": exit status " rc)
	name = ""
}

function start(what) {
	name = what
	plan = "nothing"
	count = nr_not_ok = nr_skipped = is_skipped = 0
}

{
	gsub(/\r/, "")
	gsub(/\033\[[0-9;?=]*[A-Za-z]|\033c/, "")
}

# A line of a report; the next frame is who makes the access.
function race(text) {
	if (text ~ /(read|write) .*to 0x[0-9a-f]+ .* by (task|interrupt)/) {
		is_access = 1
	} else if (is_access && text ~ /\+0x[0-9a-f]+\/0x/) {
		is_ours = is_ours || text ~ /\[lkdf\]/
		sub(/^\[[ 0-9.]*\] */, "", text)
		is_access = text ~ /^_*(mem|str|copy_|list_|rb_)/
	} else if (text ~ /====/) {
		if (is_ours)
			bad("kernel: " race_head)
		else
			races[nr_races++] = race_head
		is_race = 0
	}
}

# The kernel's line.
FILENAME == ARGV[1] {
	line[NR % 60] = $0
	nr_lines = NR
	if (is_race)
		race($0)
	if ($0 ~ /BUG: KCSAN/) {
		is_race = 1
		is_ours = is_access = 0
		race_head = $0
		next
	}
	if ($0 ~ /BUG:|WARNING:|KASAN|KCSAN|UBSAN|circular locking|unreferenced object|Kernel panic|Oops/)
		bad("kernel: " $0)
	next
}

/^LKDF-VM-BOOT/ { is_booted = 1; print "# " $0; next }
/^LKDF-VM-BEGIN / { start($2); print "# " $2; next }
/^LKDF-VM-END / { finish($3); next }
/^LKDF-VM-TAINT / {
	is_taint_told = 1
	if ($2 != want_taint)
		bad("the kernel is tainted: " $2 ", expected " want_taint)
	next
}
/^LKDF-VM-EXIT / { is_ended = 1; exit_status = $2; next }
/^LKDF-VM-TIMEOUT/ { bad("the watchdog of the machine ended it"); next }
/^1\.\.0 # SKIP/ && name != "" {
	is_skipped = 1
	why = substr($0, 13)
	next
}
/^1\.\.[0-9]+$/ { plan = substr($0, 4) + 0; next }
/^(not )?ok( |$)/ {
	is_bad = /^not/
	count++
	nr_not_ok += is_bad
	nr_skipped += / # SKIP/
	failed += is_bad
	sub(/^(not )?ok *[0-9]* *(- )?/, "")
	printf "%sok %d - %s\n", is_bad ? "not " : "", ++nr,
	       name == "" ? $0 : name ": " $0
	next
}
{ print /^#/ || !/^./ ? $0 : "# " $0 }

END {
	if (name != "")
		finish("unknown")
	if (!is_booted)
		bad("it did not boot")
	if (!is_ended)
		bad("it did not end, exit status of qemu " status)
	else if (exit_status != 0)
		bad("exit status of the command " exit_status)
	if (is_ended && !is_taint_told)
		bad("no taint was told")
	if (is_race)
		bad("kernel: cut off: " race_head)
	for (i = 0; i < nr_races; i++)
		print "# of the kernel itself: " races[i]
	test(!nr_bad, "the machine boots, ends and complains of nothing")
	if (nr_bad) {
		print "# the last lines of the kernel:"
		for (i = nr_lines - 59; i <= nr_lines; i++)
			if (i > 0)
				print "#   " line[i % 60]
	}
	printf "1..%d\n", nr
	exit failed > 0
}
