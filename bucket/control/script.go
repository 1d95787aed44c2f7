package control

import (
	"fmt"
	"strings"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// lines are the parts of a control's limiter file that it words itself: one or
// more lines of Lua, but for keys and reply, which are YAML. An empty part is
// the one of [bucketLines], which has no fault.
type lines struct {
	keys   string // in Redis
	reply  string // what the answer means
	clock  string // sets now
	read   string // sets tokens and ts
	refill string // adds to tokens
	take   string // sets allowed, takes cost from tokens
	store  string // writes tokens and ts
	life   string // says when the key expires
	answer string // returns
}

// bucketLines are a token bucket without a fault, counting microseconds.
var bucketLines = lines{
	keys:  `"rl:NAME:${key}"`,
	reply: `allowed: reply == 1`,
	clock: `
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])`,
	read: `
local stored = redis.call("HMGET", KEYS[1], "tokens", "ts")
local tokens, ts = tonumber(stored[1]) or capacity, tonumber(stored[2]) or now`,
	refill: `tokens = math.min(capacity, tokens + (now - ts) / 1000000 * rate)`,
	take: `
local allowed = 0
if tokens >= cost then
  tokens = tokens - cost
  allowed = 1
end`,
	store:  `redis.call("HSET", KEYS[1], "tokens", tokens, "ts", now)`,
	life:   `redis.call("PEXPIRE", KEYS[1], math.ceil(capacity / rate * 1000))`,
	answer: `return allowed`,
}

// Clocks in milliseconds: the callers', and the server's.
const (
	callersMillis = `local now = tonumber(ARGV[4])`
	serverMillis  = `
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000 -- milliseconds`
)

// with puts the parts that m has in place of l's.
func (l lines) with(m lines) lines {
	for _, part := range []struct {
		to   *string
		from string
	}{
		{&l.keys, m.keys}, {&l.reply, m.reply}, {&l.clock, m.clock}, {&l.read, m.read}, {&l.refill, m.refill},
		{&l.take, m.take}, {&l.store, m.store}, {&l.life, m.life}, {&l.answer, m.answer},
	} {
		if part.from != "" {
			*part.to = part.from
		}
	}
	return l
}

// text is the whole limiter file of a control that is a script.
func (c Control) text() string {
	l := bucketLines
	args := "rate, capacity, cost"
	if c.Time == bucket.CallerTime {
		l.clock, args = callersMillis, args+", now_ms"
	}
	l = l.with(c.own).with(c.fault)
	name := strings.ReplaceAll(c.Name, "/", "-")
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\ncontract: token-bucket\ntime: %s\ngranularity: %s\n",
		name, c.Time, strings.Replace(c.Granularity.String(), "µ", "u", 1))
	fmt.Fprintf(&b, "keys: [%s]\nargs: [%s]\nreply: {%s}\n", strings.ReplaceAll(l.keys, "NAME", name), args, l.reply)
	fmt.Fprintf(&b, "state: {%s}\nsource: |\n", stateWords(c.State))
	for _, part := range []string{
		`local rate, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])`,
		l.clock, l.read, l.refill, l.take, l.store, l.life, l.answer,
	} {
		for line := range strings.SplitSeq(strings.TrimPrefix(part, "\n"), "\n") {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	return b.String()
}

// stateWords are the fields as a limiter file tells them.
func stateWords(s *limiterfile.StateFields) string {
	var words []string
	for _, f := range []struct {
		name string
		at   limiterfile.StateField
	}{{"tokens", s.Tokens}, {"time", s.Time}} {
		switch {
		case f.at.String:
			words = append(words, f.name+": string")
		case f.at.Hash != "":
			words = append(words, fmt.Sprintf(`%s: "hash %s"`, f.name, f.at.Hash))
		}
	}
	return strings.Join(words, ", ")
}

// limiterFile parses the limiter file of a control that is a script.
func (c Control) limiterFile() (*limiterfile.File, error) {
	return limiterfile.Parse(c.Name, []byte(c.text()), nil)
}
