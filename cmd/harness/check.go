package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bucketproof/bucket"
	"bucketproof/bucket/check"
	"bucketproof/bucket/history"
	"bucketproof/bucket/lua"
	"bucketproof/reports"
	"bucketproof/reports/quantity"
	"bucketproof/scenarios"
)

// checkFlags are the flags of `harness check`.
type checkFlags struct {
	rate, capacity    string
	contract, initial string
	model             string
	slack             time.Duration
	out, format       string
}

// newCheck is `harness check`.
func newCheck(s streams) *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check HISTORY",
		Short: "Judge a recorded history",
		Long: `Check judges a history that any program recorded, in JSON lines or CSV, plain
or compressed with zstd or gzip; - reads standard input. It needs no Redis.

A line is an object such as
  {"call_ns":1000,"return_ns":51000,"outcome":"allowed","key":"user:7"}
with times on one clock in nanoseconds, outcome allowed, denied, unsent or
unknown, and optionally key, instance, cost, due_ns, now_ms, remaining,
retry_after_s, sequence, server_us, server_end_us, tokens_before, time_before,
tokens_after and time_after. Lines need no order. The first line may be
{"history":1,"limit":{"rate":100,"capacity":50}}.`,
		Example: `  harness check history.jsonl --rate 100 --capacity 50
  zcat access.jsonl.gz | harness check - --rate 5k --capacity 1k --initial unknown
  harness check out/latest/overload/100-50/control-get-set/history.jsonl.zst --model app-clock`,
		Args: exactly("HISTORY"),
		RunE: func(c *cobra.Command, args []string) error { return f.check(c.Context(), s, args[0]) },
	}
	flags := c.Flags()
	flags.StringVar(&f.rate, "rate", "", "`RATE` of the limit, tokens a second (default: the history's own)")
	flags.StringVar(&f.capacity, "capacity", "", "`CAPACITY` of the limit, tokens (default: the history's own)")
	flags.StringVar(&f.contract, "contract", string(bucket.TokenBucket), "what the limiter promises: "+contractNames())
	flags.StringVar(&f.model, "model", "", "the reference `LIMITER` that it is said to be, "+strings.Join(lua.Family(), ", ")+": for replay, linearizability and what clocks explain")
	flags.DurationVar(&f.slack, "slack", time.Millisecond, "slack in both bounds: `SLACK` is worth rate × slack tokens to a bucket, and makes a window so much shorter or longer")
	flags.StringVar(&f.initial, "initial", "full", "the bucket at the first record: full or unknown")
	flags.StringVar(&f.out, "out", "", "write results and a report to `FOLDER`")
	flags.StringVar(&f.format, "format", "text", "`FORMAT` of standard output: text or json")
	return c
}

// contractNames lists the contracts, for help.
func contractNames() string {
	return fmt.Sprintf("%s, %s or %s", bucket.TokenBucket, bucket.SlidingWindow, bucket.FixedWindow)
}

// validate reads the flags into what is judged against, but for the limit.
func (f checkFlags) validate() error {
	switch {
	case f.contract != string(bucket.TokenBucket) && !bucket.Contract(f.contract).Windowed():
		return usagef("--contract %s: want %s", f.contract, contractNames())
	case f.model != "" && bucket.Contract(f.contract).Windowed():
		return usagef("--model %s is a token bucket, and --contract is %s: leave one out", f.model, f.contract)
	case f.model != "" && !slices.Contains(lua.Family(), f.model):
		return usagef("--model %s: want %s", f.model, strings.Join(lua.Family(), ", "))
	case f.slack < 0:
		return usagef("--slack %v: want 0 or more", f.slack)
	case f.initial != "full" && f.initial != "unknown":
		return usagef("--initial %s: want full or unknown", f.initial)
	case f.format != "text" && f.format != "json":
		return usagef("--format %s: want text or json", f.format)
	}
	return nil
}

// limit is the flags' limit, with the history's own where a flag is missing.
func (f checkFlags) limit(header history.Header) (bucket.Limit, error) {
	var l bucket.Limit
	if header.Limit != nil {
		l = *header.Limit
	}
	rate, err := figure("--rate", f.rate)
	if err != nil {
		return l, err
	}
	capacity, err := figure("--capacity", f.capacity)
	if err != nil {
		return l, err
	}
	if rate > 0 {
		l.Rate = rate
	}
	if capacity > 0 {
		l.Capacity = capacity
	}
	switch {
	case l.Rate == 0:
		return l, usagef("the history names no limit: give --rate and --capacity")
	case l.Capacity == 0:
		return l, usagef("the history names no capacity: give --capacity")
	}
	return l, usage(l.Countable())
}

// judged is a history with the verdict on it.
type judged struct {
	file   *history.File
	spec   check.Spec
	report check.Report
}

// check reads, judges and reports one history.
func (f checkFlags) check(ctx context.Context, s streams, path string) error {
	if err := f.validate(); err != nil {
		return err
	}
	started := time.Now()
	var out folder
	if f.out != "" {
		var err error
		if out, err = claimFolder(f.out, started); err != nil {
			return err
		}
	}
	j, err := unlessTold(ctx, func() (*judged, error) { return f.judge(path, s.in) })
	switch {
	case ctx.Err() != nil:
		return interrupted("the history was not read to its end and nothing was judged")
	case err != nil:
		return err
	}
	defer j.file.Close()
	run := newCheckedRun(j.report, j.spec, path)
	r := &reports.Report{
		Command: f.command(path), StartedAt: started.UTC(), FinishedAt: time.Now().UTC(),
		Harness: thisHarness(), Redis: reports.Redis{Kind: "none"}, Runs: []reports.Run{run},
	}
	r.Verdict = verdictOf(r)
	return f.finish(s, r, j, out)
}

// judge reads a history and judges it.
func (f checkFlags) judge(path string, stdin io.Reader) (*judged, error) {
	file, err := history.Open(path, stdin, history.Options{})
	if err != nil {
		return nil, historyError(err)
	}
	j := &judged{file: file}
	if err := j.against(f); err != nil {
		_ = file.Close() // the first error says more
		return nil, err
	}
	return j, nil
}

// against judges the history against what the flags say and what it says itself.
func (j *judged) against(f checkFlags) error {
	limit, err := f.limit(j.file.Header())
	if err != nil {
		return err
	}
	if j.spec, err = f.spec(limit); err != nil {
		return err
	}
	j.report, err = check.Judge(j.spec, j.file.Operations(), nil)
	return historyError(err)
}

// spec is what the history is judged against.
func (f checkFlags) spec(limit bucket.Limit) (check.Spec, error) {
	spec := check.Spec{Limit: limit, Contract: bucket.Contract(f.contract), Granularity: f.slack, EmptyStart: f.initial == "unknown"}
	if f.model == "" {
		return spec, nil
	}
	reference, err := lua.Builtin(f.model)
	if err != nil {
		return spec, err
	}
	spec.Model, spec.Time = modelOf(reference), reference.Time
	return spec, nil
}

// historyError tells a bad history, which is the user's, from a disk that
// failed, which is the environment's.
func historyError(err error) error {
	if err == nil {
		return nil
	}
	var bad *history.LineError
	if errors.As(err, &bad) || errors.Is(err, history.ErrFolder) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return usage(err)
	}
	return environment(err)
}

// newCheckedRun is the verdict on a history as one run.
func newCheckedRun(judged check.Report, spec check.Spec, path string) reports.Run {
	run := reports.Run{
		Scenario: historyName(path), Limiter: "recorded", About: "A recorded history.", Time: string(spec.Time),
		Contract:  contractOf(spec.Contract),
		Limit:     reports.Limit{Rate: spec.Limit.Rate, Capacity: spec.Limit.Capacity},
		DurationS: float64(judged.Summary.End-judged.Summary.Start) / 1e9,
	}
	verdicts := expectedToPass(judged)
	run.Verdict = string(scenarios.OutcomeOf(verdicts, false))
	fillSummary(&run, judged.Summary, nil)
	run.Dir = folderOf(run.Scenario, run.Limiter)
	for _, v := range verdicts {
		run.Checks = append(run.Checks, newReportCheck(v))
	}
	return run
}

// expectedToPass are the verdicts on a history, where every check must pass.
func expectedToPass(judged check.Report) []scenarios.Verdict {
	var verdicts []scenarios.Verdict
	for _, c := range judged.Results {
		verdicts = append(verdicts, scenarios.Verdict{Result: c, Expected: scenarios.ExpectPass})
	}
	return verdicts
}

// historyName is how a history is called in results: its file's name without
// what the name says of its format.
func historyName(path string) string {
	if path == "-" {
		return "stdin"
	}
	return filepath.Base(path)
}

// finish writes the report to a folder, if one was named, and prints it.
func (f checkFlags) finish(s streams, r *reports.Report, j *judged, out folder) error {
	if f.out != "" {
		dir, err := out.open()
		if err != nil {
			return err
		}
		if err := copyHistory(filepath.Join(dir, filepath.FromSlash(r.Runs[0].Dir)), j.file); err != nil {
			return environment(err)
		}
		if err := drawDisorder(dir, &r.Runs[0], expectedToPass(j.report), j.spec, j.file.Operations()); err != nil {
			return environment(err)
		}
		if err := reports.Write(dir, r, histories(dir)); err != nil {
			return environment(err)
		}
	}
	if err := f.print(s, r, j.report); err != nil {
		return environment(err)
	}
	return verdictStatus(r.Verdict)
}

// command is what repeats the judgement.
func (f checkFlags) command(path string) string {
	words := []string{"harness", "check", path}
	for _, w := range [][2]string{{"--rate", f.rate}, {"--capacity", f.capacity}} {
		if w[1] != "" {
			words = append(words, w[0], w[1])
		}
	}
	if f.contract != string(bucket.TokenBucket) {
		words = append(words, "--contract", f.contract)
	}
	if f.model != "" {
		words = append(words, "--model", f.model)
	}
	if f.slack != time.Millisecond {
		words = append(words, "--slack", f.slack.String())
	}
	if f.initial != "full" {
		words = append(words, "--initial", f.initial)
	}
	return strings.Join(words, " ")
}

// print shows a verdict per check, and per key where there are several.
func (f checkFlags) print(s streams, r *reports.Report, judged check.Report) error {
	if f.format == "json" {
		return reports.JSON(s.out, r)
	}
	for _, c := range judged.Results {
		if _, err := fmt.Fprintf(s.out, "%-16s %-9s %s\n", c.Name, c.Verdict, printable(c.Detail)); err != nil {
			return err
		}
		if len(c.Keys) < 2 {
			continue
		}
		for _, k := range c.Keys[:min(len(c.Keys), keysShown)] {
			fmt.Fprintf(s.out, "  %-14s %-9s %s\n", "key "+keyName(k.Key), k.Verdict, keyWords(c.Name, k))
		}
		if more := len(c.Keys) - keysShown; more > 0 {
			fmt.Fprintf(s.out, "  … and %d more keys, none of them worse\n", more)
		}
	}
	return nil
}

// keyName is a key as it is shown: in quotes where it has anything in it that a
// terminal would not show, or could be taken for something else.
func keyName(key string) string {
	if key == "" || strings.ContainsAny(key, ` "`) || printable(key) != key {
		return strconv.Quote(key)
	}
	return key
}

// keyWords says what a check's figure of one key means.
func keyWords(name string, k check.KeyResult) string {
	n := int(k.Figure)
	switch name {
	case check.OverAdmission:
		switch {
		case k.Figure == 0:
			return "no token too many"
		case k.Verdict == check.Pass:
			return quantity.Tokens(k.Figure) + " too many, which the slack allows"
		}
		return quantity.Tokens(k.Figure) + " too many"
	case check.SpuriousDenial:
		return quantity.Things(n, "denial") + " without a reason"
	case check.AcceptRate:
		return quantity.Things(n, "request") + " granted"
	case check.StateAudit:
		return quantity.Things(n, "fault") + " in what is stored"
	case check.Replay:
		return quantity.Things(n, "divergence") + " from the model"
	case check.Linearizability:
		if k.Verdict == check.Undecided {
			return "not searched to its end"
		}
		return quantity.Things(n, "request") + " in an order that explains them"
	case check.ReplyContract:
		return quantity.Things(n, "promise") + " broken"
	}
	return quantity.Number(k.Figure)
}
