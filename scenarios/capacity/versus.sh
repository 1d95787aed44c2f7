#!/bin/sh
# How fast the closed loop drives a limiter, beside redis-benchmark: the same
# script on the same server, in turn, with every request recorded and the record
# checked. Prints each turn, then medians and ratios; fails below the goals.
#
#   scenarios/capacity/versus.sh [ROUNDS]     default 5
#
# Needs redis-server, redis-benchmark, redis-cli and go. The server is one thread:
# it gets a processor, and the two load generators in their turns all others
# (taskset, where there is one, and GOMAXPROCS). Left to the kernel they meet on one
# processor for tenths of a second, which is what would be compared. The garbage
# collector runs as it does in `harness capacity`. On a machine that does other work
# besides, the figures are that work's: every turn waits for an idle half second, up
# to QUIET seconds (default 30), where there is a /proc/stat to tell, and the last line
# says how many found none.
set -eu

rounds=${1:-5}
port=${PORT:-16399}
root=$(cd "$(dirname "$0")/../.." && pwd)
script=$root/bucket/lua/scripts/app-clock.lua
dir=$(mktemp -d)
cpus=$(nproc)
export GOMAXPROCS="${GOMAXPROCS:-$((cpus > 1 ? cpus - 1 : 1))}"
export GOGC="${GOGC:-off}" GOMEMLIMIT="${GOMEMLIMIT:-512MiB}"
server_on='' load_on=''
if [ "$cpus" -gt 1 ] && taskset -c "$((cpus - 1))" true 2>/dev/null; then
	server_on="taskset -c $((cpus - 1))" load_on="taskset -c 0-$((cpus - 2))"
fi

$server_on redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$dir" >"$dir/log" &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true; rm -r "$dir"' EXIT
trap 'exit 2' INT TERM
until redis-cli -p "$port" ping >/dev/null 2>&1; do
	kill -0 $server 2>/dev/null || { cat "$dir/log" >&2; exit 4; }
	sleep 0.1
done
sha=$(redis-cli -p "$port" -x script load <"$script")
(cd "$root" && go test -c -o "$dir/versus" ./scenarios/capacity)

# quiet waits until nine tenths of the processors' time are idle.
quiet() {
	[ -r /proc/stat ] || return 0
	tries=$((2 * ${QUIET:-30}))
	while [ $tries -gt 0 ]; do
		before=$(awk '/^cpu /{print $5, $2+$3+$4+$5+$6+$7+$8+$9}' /proc/stat)
		sleep 0.5
		after=$(awk '/^cpu /{print $5, $2+$3+$4+$5+$6+$7+$8+$9}' /proc/stat)
		echo "$before $after" | awk '{exit ($3-$1) / ($4-$2) < 0.9}' && return 0
		tries=$((tries - 1))
	done
	busy=$((busy + 1))
}
busy=0

# theirs NAME N FLAGS… and ours NAME BENCHMARK append "NAME RATE" to the record.
theirs() {
	name=$1 n=$2
	shift 2
	quiet
	$load_on redis-benchmark -p "$port" -n "$n" "$@" --csv evalsha "$sha" 1 rl:app-clock:benchmark 1000 50 1700000000123 1 |
		tail -n 1 | awk -F '","' -v name="$name" '{print name, $2}' | tee -a "$dir/record"
}

ours() {
	quiet
	HARNESS_REDIS=redis://127.0.0.1:$port $load_on "$dir/versus" -test.run '^$' -test.bench "$2" -test.benchtime 1x >"$dir/out" ||
		{ cat "$dir/out" >&2; exit 1; }
	awk -v name="$1" '{for (i = 2; i <= NF; i++) if ($i == "requests/s") print name, $(i-1)}' "$dir/out" | tee -a "$dir/record"
}

for _ in $(seq "$rounds"); do
	theirs redis-benchmark 200000 -c 50
	ours load 'Versus/plain/load'
	theirs redis-benchmark-P16 500000 -c 50 -P 16
	ours load-pipelined 'Versus/pipelined/load'
done

median() {
	grep "^$1 " "$dir/record" | sort -k 2 -n | awk '{v[NR] = $2} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'
}

status=0
compare() { # WHAT THEIRS OURS GOAL
	awk -v what="$1" -v theirs="$2" -v ours="$3" -v goal="$4" 'BEGIN {
		printf "%-10s redis-benchmark %7.0f/s, the closed loop %7.0f/s: %.2f (goal %.2f)\n", what, theirs, ours, ours / theirs, goal
		exit ours / theirs < goal }' || status=1
}
echo
compare plain "$(median redis-benchmark)" "$(median load)" 0.95
compare pipelined "$(median redis-benchmark-P16)" "$(median load-pipelined)" 0.90
if [ $busy -gt 0 ]; then
	echo "$busy of $((4 * rounds)) turns found the machine busy: do not trust the ratios"
fi
exit $status
