# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Runs the parts of a test run and adds up what they report. Source this file.

passed=0 failed=0
failures=$(mktemp)
trap 'rm -f "$failures"' EXIT

# What a part says of its failures: lines that begin with "FAIL", perhaps indented, and
# details after "| "; GoogleTest and KUnit have words of their own.
failures_of() { # NAME
	grep -aE '^ *(FAIL |\| |not ok |\[  FAILED  \] )' | sed "s/^/$1: /"
}

# run_part SECONDS NAME COMMAND...: a part that ends with "N passed, N failed".
# If it prints no such line, took too long, or exits as if something had failed
# that it does not count, that is one failure more.
run_part() {
	local limit=$1 name=$2 start=$SECONDS log rc good=0 bad=0
	shift 2
	log=$(mktemp)
	echo "== $name"
	timeout -k 30 "$limit" "$@" </dev/null 2>&1 | tee "$log"
	rc=${PIPESTATUS[0]}
	read -r good bad < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log" | tail -n 1)
	failures_of "$name" <"$log" >>"$failures"
	rm -f "$log"
	if [ -z "$good" ] || [ $((good + bad)) -eq 0 ]; then
		good=0 bad=1
		echo "FAIL $name: nothing was counted (exit status $rc)" | tee -a "$failures"
	elif [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
		echo "FAIL $name: exit status $rc" | tee -a "$failures"
	fi
	passed=$((passed + good)) failed=$((failed + bad))
	echo "== $name: $good passed, $bad failed, $((SECONDS - start)) s"
}

# run_step SECONDS NAME COMMAND...: counts as one, by its exit status.
run_step() {
	# shellcheck disable=SC2016
	run_part "$1" "$2" bash -c '"$@" && echo "1 passed, 0 failed" || { echo "FAIL $0"; echo "0 passed, 1 failed"; }' "$2" "${@:3}"
}

# All failures once more: in a long log they are hard to find.
tally() {
	[ ! -s "$failures" ] || { echo "== failures"; cat "$failures"; }
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}
