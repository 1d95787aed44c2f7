package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketproof/bucket"
	"bucketproof/bucket/backend"
	"bucketproof/bucket/control"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"
	"bucketproof/bucket/thirdparty"
	"bucketproof/scenarios"
)

// limiters is the table of names: it finds a limiter by its built-in name or
// by its file, once each, and opens it on the command's Redis.
type limiters struct {
	redis    *backend.Redis // set before the first is opened; nil when none needs it
	found    map[string]*limiter
	memory   *bucket.Memory
	controls []control.Control
}

// limiter is a subject and what the command itself must know of it.
type limiter struct {
	*scenarios.Subject
	needsRedis bool
	foreign    bool // somebody else's, from a file
	about      string
	remote     bool              // behind HTTP, or a process of its own
	file       *limiterfile.File // nil: there is none
	builtin    bool              // the file is ours
	openOn     opener            // nil: it keeps nothing in Redis

	// over makes the limiter on a client; nil: it wants a client of another kind.
	over func(client redis.UniversalClient, witness bool) (bucket.Limiter, error)
}

// opener makes a limiter as an instance holds it on a server, with a client of its
// own that is closed with it.
type opener func(r *backend.Redis, instance string, witness bool) (bucket.Limiter, error)

func newLimiters() *limiters {
	started := time.Now()
	return &limiters{
		found:    map[string]*limiter{},
		memory:   bucket.NewMemory(func() time.Duration { return time.Since(started) }),
		controls: control.All(),
	}
}

// builtinNames lists the limiters that need no file, in the order shown.
func builtinNames() []string {
	names := append(lua.Names(), "memory")
	for _, l := range thirdparty.All() {
		names = append(names, l.Name)
	}
	for _, c := range control.All() {
		names = append(names, c.Name)
	}
	return names
}

// find returns the limiter with a built-in name, or the one in the file of
// that path.
func (t *limiters) find(name string) (*limiter, error) {
	if l, ok := t.found[name]; ok {
		return l, nil
	}
	l, err := t.make(name)
	if err != nil {
		return nil, err
	}
	t.found[name] = l
	return l, nil
}

func (t *limiters) make(name string) (*limiter, error) {
	if name == "memory" {
		return t.inProcess(), nil
	}
	if slices.Contains(lua.Names(), name) {
		f, err := lua.Builtin(name)
		if err != nil {
			return nil, err
		}
		l := t.fromFile(f)
		l.Reference, l.builtin = l.Model != nil, true
		return l, nil
	}
	for _, l := range thirdparty.All() {
		if l.Name == name {
			return t.fromLibrary(l), nil
		}
	}
	for _, c := range t.controls {
		if c.Name == name {
			return t.fromControl(c), nil
		}
	}
	f, err := limiterfile.Load(name)
	switch {
	case errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(name, "/.\\"):
		return nil, usagef("no limiter is named %s and there is no such file; built in are %s", name, strings.Join(builtinNames(), ", "))
	case err != nil:
		return nil, usage(err)
	}
	l := t.fromFile(f)
	l.foreign = true
	return l, nil
}

func (t *limiters) inProcess() *limiter {
	return &limiter{
		about: "a perfect bucket in this process: the oracle",
		Subject: &scenarios.Subject{
			Name: "memory", Time: bucket.ProcessTime, Reference: true, Costs: true,
			Open: func(context.Context, string, bool) (bucket.Limiter, error) { return t.memory, nil },
		},
	}
}

func (t *limiters) fromFile(f *limiterfile.File) *limiter {
	if f.Kind == limiterfile.HTTP || f.Kind == limiterfile.Exec {
		return t.fromRemote(f)
	}
	on := func(c redis.UniversalClient, witness bool) (bucket.Limiter, error) {
		if witness {
			return lua.NewWitnessed(f, c)
		}
		return lua.New(f, c)
	}
	open := withClient(on)
	return &limiter{
		needsRedis: true,
		about:      fmt.Sprintf("%s, %s's clock", f.Contract, f.Time),
		file:       f,
		openOn:     open,
		over:       on,
		Subject: &scenarios.Subject{
			Name: f.Name, Contract: f.Contract, Time: f.Time, Granularity: f.Granularity, Limit: f.Limit, Costs: f.UsesCost,
			Expect: expectations(f.Expect), Tokens: tokensField(f.State),
			Stored: true, Witnessed: true, Model: modelOf(f), ModelName: f.Model,
			Open: t.open(open), OpenShifted: t.openShifted(f.Kind != limiterfile.Command, on),
		},
	}
}

// pick finds limiters by their names, each of which may stand once, alone or in a
// group.
func (t *limiters) pick(names []string) ([]*limiter, error) {
	var all []*limiter
	seen := map[string]string{}
	for _, name := range expand(names) {
		l, err := t.find(name)
		if err != nil {
			return nil, err
		}
		switch other, twice := seen[l.Name]; {
		case twice && other == name:
			return nil, usagef("limiter %s is named twice: name each limiter once, alone or in a group", name)
		case twice:
			return nil, usagef("limiters %s and %s are both named %s, give one another name", other, name, l.Name)
		}
		seen[l.Name] = name
		all = append(all, l)
	}
	return all, nil
}

// open opens on the command's Redis.
func (t *limiters) open(open opener) func(context.Context, string, bool) (bucket.Limiter, error) {
	return func(_ context.Context, instance string, witness bool) (bucket.Limiter, error) {
		return open(t.redis, instance, witness)
	}
}

// withClient gives each instance a client of its own, closed with the limiter.
func withClient(on func(redis.UniversalClient, bool) (bucket.Limiter, error)) opener {
	return func(r *backend.Redis, instance string, witness bool) (bucket.Limiter, error) {
		client := r.NewClient(instance)
		l, err := on(client, witness)
		if err != nil {
			return nil, errors.Join(err, client.Close())
		}
		lister, ok := l.(bucket.KeyLister)
		if !ok {
			return closing{l, client}, nil
		}
		return listing{closing{l, client}, lister}, nil
	}
}

// openShifted is open for a limiter that is shown another TIME; nil for one that
// is no script.
func (t *limiters) openShifted(script bool, on func(redis.UniversalClient, bool) (bucket.Limiter, error)) func(context.Context, string, bool, func() lua.ServerClock) (bucket.Limiter, error) {
	if !script {
		return nil
	}
	return func(_ context.Context, instance string, witness bool, clock func() lua.ServerClock) (bucket.Limiter, error) {
		shown := withClient(func(client redis.UniversalClient, witness bool) (bucket.Limiter, error) {
			l, err := on(client, witness)
			if err != nil {
				return nil, err
			}
			one, ok := l.(*lua.Limiter)
			if !ok {
				return nil, fmt.Errorf("a %T is not one script: it cannot be shown another TIME", l)
			}
			return one.WithClock(clock)
		})
		return shown(t.redis, instance, witness)
	}
}

// closing is a limiter that closes its client.
type closing struct {
	bucket.Limiter
	io.Closer
}

// listing is a closing limiter that names its keys.
type listing struct {
	closing
	bucket.KeyLister
}

// Take is the limiter's: both embedded fields have one.
func (l listing) Take(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	return l.Limiter.Take(ctx, limit, r)
}

func expectations(from map[string]limiterfile.Expectation) scenarios.Expectations {
	to := scenarios.Expectations{}
	for name, want := range from {
		to[name] = scenarios.Expectation(want)
	}
	return to
}

// modelOf is the reference that a limiter says it is; nil: none.
func modelOf(f *limiterfile.File) *bucket.Rule {
	if rule, ok := f.Rule(); ok {
		return &rule
	}
	return nil
}

// tokensField is where the state audit finds the level.
func tokensField(s *limiterfile.StateFields) *string {
	if s == nil || !s.Tokens.Defined() {
		return nil
	}
	return &s.Tokens.Hash // empty: the key's own value
}

// probe makes one call to each limiter, so that a mistake in an expression or
// in the Lua is told before anything runs.
func (t *limiters) probe(ctx context.Context, l *limiter, limit bucket.Limit, key string) error {
	if !l.needsRedis && !l.remote {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	r := bucket.Request{ID: "probe", Key: key, Instance: "probe", Cost: 1, Now: time.Now()}
	if l.file == nil || l.remote {
		opened, err := l.Open(ctx, "probe", false)
		if err != nil {
			return err
		}
		if c, ok := opened.(io.Closer); ok {
			defer c.Close()
		}
		if _, err = opened.Take(ctx, limit, r); err != nil || l.file == nil {
			return t.blame(l, err)
		}
		return t.probeState(ctx, l.file, limit, r)
	}
	client := t.redis.NewClient("probe")
	defer client.Close()
	opened, err := lua.New(l.file, client)
	if err != nil {
		return err
	}
	if err := opened.Probe(ctx, limit, r); err != nil {
		return t.blame(l, err)
	}
	return t.probeState(ctx, l.file, limit, r)
}

// blame is why a first call failed. That it never ended, or took the server down
// that was started for it, is the limiter's doing and told at its place; but
// where the limiter is ours the server is to blame, for it has no other fault.
func (t *limiters) blame(l *limiter, err error) error {
	var slow net.Error
	var mistake *limiterfile.Error
	switch {
	case l.remote && errors.As(err, &mistake):
		return mistake
	case err == nil, errors.Is(err, bucket.ErrUnsent):
		return err
	case l.file == nil || l.builtin:
		if errors.As(err, &mistake) { // of a file that the user does not have
			return environment(fmt.Errorf("probe built-in limiter %s: %s", l.Name, mistake.What))
		}
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return usage(l.file.Mistake(string(l.file.Kind), fmt.Sprintf("the limiter did not answer its first call within %v: see that it ends and waits for nothing", probeTimeout)))
	case errors.As(err, &mistake):
		return err
	case t.redis != nil && t.redis.Owned():
		ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
		defer cancel()
		if gone := t.redis.Alive(ctx); gone != nil {
			return usage(l.file.Mistake(string(l.file.Kind), fmt.Sprintf("Redis ended while it answered the limiter's first call: %v", gone)))
		}
	}
	return err
}

// probeState looks for the state that a limiter file tells of in the key that
// the probe has left. A name that is wrong there would switch the audit of the
// level off, and nobody would know.
func (t *limiters) probeState(ctx context.Context, f *limiterfile.File, limit bucket.Limit, r bucket.Request) error {
	if f.State == nil {
		return nil
	}
	var told []limiterfile.StateField
	for _, s := range []limiterfile.StateField{f.State.Tokens, f.State.Time} {
		if s.Defined() {
			told = append(told, s)
		}
	}
	keys, err := f.KeysOf(limit, r)
	if err != nil {
		return err
	}
	probe := backend.Probe{Key: keys[0]}
	for _, s := range told {
		probe.Fields = append(probe.Fields, s.Hash)
	}
	seen, err := t.redis.Inspect(ctx, []backend.Probe{probe})
	if err != nil || !seen[0].Exists { // gone, or never there: that is for the checks to judge
		return err
	}
	for i, v := range seen[0].Values {
		if v.OK {
			continue
		}
		what := "has no hash field " + told[i].Hash
		if told[i].String {
			what = "is no string"
		}
		return usage(f.Mistake("state", fmt.Sprintf("after a call the first key, %s, %s; say what the limiter stores there", keys[0], what)))
	}
	return nil
}

// probeTimeout is far more than one call takes.
const probeTimeout = 10 * time.Second

// bySubject is the limiter that a plan's subject belongs to.
func (t *limiters) bySubject(s *scenarios.Subject) (*limiter, error) {
	for _, l := range t.found {
		if l.Subject == s {
			return l, nil
		}
	}
	return nil, fmt.Errorf("limiter %s is not in the table", s.Name)
}

// isForeign reports whether a subject came from somebody else's file.
func (t *limiters) isForeign(s *scenarios.Subject) bool {
	l, err := t.bySubject(s)
	return err == nil && l.foreign
}
