# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Runs the parts of a test run and adds up what they report. Source this file.

passed=0 failed=0

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
	rm -f "$log"
	if [ -z "$good" ] || [ $((good + bad)) -eq 0 ]; then
		good=0 bad=1
		echo "FAIL $name: nothing was counted (exit status $rc)"
	elif [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
		echo "FAIL $name: exit status $rc"
	fi
	passed=$((passed + good)) failed=$((failed + bad))
	echo "== $name: $good passed, $bad failed, $((SECONDS - start)) s"
}

# run_step SECONDS NAME COMMAND...: counts as one, by its exit status.
run_step() {
	# shellcheck disable=SC2016
	run_part "$1" "$2" bash -c '"$@" && echo "1 passed, 0 failed" || { echo "FAIL $0"; echo "0 passed, 1 failed"; }' "$2" "${@:3}"
}

tally() {
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}
