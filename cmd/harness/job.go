package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"bucketproof/bucket/backend"
	"bucketproof/bucket/lua"
	"bucketproof/reports"
	"bucketproof/scenarios"
	"bucketproof/scenarios/load"
)

// job is one command that makes runs, under way: it is the same for `run` and
// `selftest`, which differ in their plans and in what they make of the report.
type job struct {
	streams
	flags    runFlags
	command  string // that repeats it
	limiters *limiters
	screen   *screen
	keeper   *keeper
	redis    *backend.Redis // nil: no limiter needs one
	clock    *serverClock   // the server's; nil: there is none, or it does not tell
	warnings []string       // what qualifies the figures, beside what the runs say
	id       string         // in every key
	stall    time.Duration  // hold the server up for as long, again and again; 0: leave it alone
	patient  bool           // repeat what is undecided however long it takes
}

func newJob(s streams, f runFlags, command string) *job {
	return &job{streams: s, flags: f, command: command, limiters: newLimiters(), id: "bp-" + hex.EncodeToString(randomBytes(5))}
}

// execute starts a Redis, builds the limiters, drives the scenarios, checks
// the histories and writes the report. conclude, if set, completes the report
// before it is written.
func (j *job) execute(ctx context.Context, plans []scenarios.Plan, skips []scenarios.Skip, conclude func(*reports.Report)) error {
	if f := j.flags.format; f != "text" && f != "json" {
		return usagef("--format %s: want text or json", f)
	}
	started := time.Now()
	folder, err := claimFolder(j.flags.out, started)
	if err != nil {
		return err
	}
	j.screen = newScreen(j.streams, j.flags.format, len(plans))
	defer j.closeRedis()
	if err := j.prepare(ctx, plans); err != nil {
		return err
	}
	dir, err := folder.open()
	if err != nil {
		return err
	}
	j.keeper = newKeeper(dir, j.screen, plans)
	j.screen.start(j.flags, dir)
	lost := j.drive(ctx, plans)
	if lost != nil {
		j.warnings = append(j.warnings, "the command failed before its end: "+told(lost))
	} else {
		j.readClockAgain(ctx, plans)
	}
	r := j.keeper.report(j, started, skips)
	if conclude != nil {
		conclude(r)
	}
	if err := j.keeper.write(r); err != nil {
		return environment(firstOfTwo(lost, err))
	}
	unsaid := j.screen.end(r, dir)
	switch {
	case lost != nil:
		return fmt.Errorf("%w; what was recorded until then is in %s", lost, filepath.Clean(dir))
	case ctx.Err() != nil: // whose terminal is gone cannot be told anything
		return interrupted("what was recorded until then is in " + dir)
	case unsaid != nil:
		return environment(unsaid)
	}
	return verdictStatus(r.Verdict)
}

// prepare is all that can fail before anything runs.
func (j *job) prepare(ctx context.Context, plans []scenarios.Plan) error {
	for _, step := range []func(context.Context, []scenarios.Plan) error{j.openRedis, j.readClock, j.probe, j.canWitness} {
		err := step(ctx, plans)
		switch {
		case ctx.Err() != nil: // whatever it failed with: nobody waits for it any more
			return interrupted("nothing was run yet")
		case err != nil:
			return err
		}
	}
	return nil
}

// openRedis starts or finds the Redis, if some limiter needs one.
func (j *job) openRedis(ctx context.Context, plans []scenarios.Plan) error {
	needed := false
	for _, p := range plans {
		l, err := j.limiters.bySubject(p.Subject)
		if err != nil {
			return err
		}
		needed = needed || l.needsRedis
	}
	if !needed {
		return nil
	}
	open := func() (*backend.Redis, error) {
		return backend.Open(ctx, j.flags.redis, backend.Options{Log: j.screen.note})
	}
	var r *backend.Redis
	var err error
	if isURL(j.flags.redis) {
		r, err = unlessTold(ctx, open)
	} else { // what it starts it must end as well
		r, err = open()
	}
	if err != nil {
		return err
	}
	j.redis, j.limiters.redis = r, r
	return nil
}

// readClock tells how far the server's clock is ahead of this machine's. A server
// that keeps it to itself can do without unless a limiter asks for it.
func (j *job) readClock(ctx context.Context, plans []scenarios.Plan) error {
	if j.redis == nil {
		return nil
	}
	c := newServerClock(j.redis)
	if _, err := unlessTold(ctx, func() (*serverClock, error) { return c, c.read(ctx) }); err != nil {
		if ctx.Err() == nil {
			j.screen.note("redis: its clock cannot be read: " + oneLine(err.Error()))
		}
		return nil
	}
	j.clock = c
	var r reports.Redis
	c.tell(&r)
	j.screen.note("redis: " + r.Clock())
	j.warn(c.offsetWarning(plans, j.limiters.isForeign))
	return nil
}

// readClockAgain tells what the server's clock did meanwhile, where that matters;
// of a command that was interrupted it is not worth a wait.
func (j *job) readClockAgain(ctx context.Context, plans []scenarios.Plan) {
	if j.clock == nil || ctx.Err() != nil {
		return
	}
	c := *j.clock
	if _, err := unlessTold(ctx, func() (*serverClock, error) { return &c, c.read(ctx) }); err == nil {
		j.clock = &c
		j.warn(c.driftWarning(plans))
	}
}

// warn prints what qualifies the figures, and keeps it for the report; "" is
// nothing.
func (j *job) warn(line string) {
	if line != "" {
		j.screen.note("warning: " + line)
		j.warnings = append(j.warnings, line)
	}
}

// closeRedis leaves somebody else's server as it was found, and ends our own.
func (j *job) closeRedis() {
	if j.redis == nil {
		return
	}
	if j.redis.Info().Kind == backend.External {
		ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
		defer cancel()
		if _, err := j.redis.Remove(ctx, backend.Contains(j.id)); err != nil {
			j.screen.note(fmt.Sprintf("clean up: %v; the keys that hold %s expire or are yours to delete", told(err), j.id))
		}
	}
	if err := j.redis.Close(); err != nil {
		j.screen.note("close redis: " + told(err))
	}
}

// probe asks each limiter once.
func (j *job) probe(ctx context.Context, plans []scenarios.Plan) error {
	asked := map[*scenarios.Subject]bool{}
	for _, p := range plans {
		if asked[p.Subject] {
			continue
		}
		asked[p.Subject] = true
		l, err := j.limiters.bySubject(p.Subject)
		if err != nil {
			return err
		}
		if l.file != nil && !l.file.UsesLimit && l.Limit == nil && (j.flags.rate == "" || j.flags.capacity == "") {
			j.warn(fmt.Sprintf("limiter %s is told no limit, and names none: it is held to the scenarios' own; say which it keeps with `limit: {rate: …, capacity: …}`", l.Name))
		}
		if l.file != nil && l.file.Doubt != nil {
			j.warn(l.file.Doubt.Error())
		}
		key := fmt.Sprintf("%s:probe:%d", j.id, len(asked))
		_, err = unlessTold(ctx, func() (struct{}, error) {
			return struct{}{}, j.limiters.probe(ctx, l, p.Scenario.Limit, key)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// canWitness takes the witness from all plans where the server knows no blocks
// of commands, and says so; --witness on then fails. The embedded server shares
// this process's cores and has none left for the eightfold commands.
func (j *job) canWitness(ctx context.Context, plans []scenarios.Plan) error {
	if j.redis == nil || !slices.ContainsFunc(plans, func(p scenarios.Plan) bool { return p.Witness }) {
		return nil
	}
	_, err := unlessTold(ctx, func() (struct{}, error) { return struct{}{}, lua.CanWitness(ctx, j.redis.Client()) })
	slow := j.redis.Info().Kind == backend.Embedded && j.flags.witness == string(scenarios.WitnessAuto)
	switch {
	case err == nil && slow:
		err = errors.New("the embedded server is slow, and the calls would be late; --witness on asks for it all the same")
	case err == nil:
		return nil
	case j.flags.witness == string(scenarios.WitnessOn):
		return environment(fmt.Errorf("--witness on: %w", err))
	}
	j.screen.note("no witness: " + told(err))
	for i := range plans {
		plans[i].Witness = false
	}
	return nil
}

// repeatUntil is how long after the start an undecided run may be repeated: for
// runs that take longer than the suite standard, an eighth of what they would one
// after another, which is twice what they take side by side.
const (
	repeatUntil      = 54 * time.Second
	repeatUntilQuick = 17 * time.Second
	repeatUntilShare = 8
)

// drive makes all runs. The error is the environment's: a Redis that was lost,
// a disk that is full.
func (j *job) drive(ctx context.Context, plans []scenarios.Plan) error {
	var alarm load.Alarm
	defer alarm.Close()
	runner := &scenarios.Runner{ID: j.id, Sleep: alarm.Sleep}
	if j.redis != nil {
		runner.Store, runner.Server = j.redis, j.redis
		runner.OpenOwn = j.limiters.openOwn
	}
	if j.stall > 0 && j.redis != nil {
		end := stall(ctx, j.redis, j.redis.Info().Kind, j.stall, j.flags.seed)
		defer func() { j.screen.note(end()) }()
	}
	var all time.Duration
	for i := range plans {
		all += plans[i].Scenario.Length()
	}
	suite := &scenarios.Suite{Runner: runner, Plans: plans, RepeatUntil: max(repeatUntil, all/repeatUntilShare)}
	switch {
	case j.patient:
		suite.RepeatUntil = math.MaxInt64
	case j.flags.quick:
		suite.RepeatUntil = repeatUntilQuick
	}
	suite.Done = func(res *scenarios.Result, p scenarios.Plan, err error) error {
		if err == nil {
			err = j.keeper.keep(res)
		}
		if err == nil && lost(res) == 0 {
			return nil
		}
		if ctx.Err() != nil {
			return nil
		}
		if gone := j.alive(); gone != nil {
			return environment(gone)
		}
		return environment(err)
	}
	return suite.Run(ctx)
}

// lost is how many requests had no usable answer.
func lost(res *scenarios.Result) int64 {
	return res.Report.Summary.Unsent + res.Report.Summary.Unknown
}

// alive reports whether the Redis is still there.
func (j *job) alive() error {
	if j.redis == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	return j.redis.Alive(ctx)
}
