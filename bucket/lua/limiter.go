package lua

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"

	"github.com/redis/go-redis/v9"
)

// Limiter asks a script or a command on Redis, with a witness or without. It is
// safe for concurrent use and keeps nothing between calls; it never closes its
// client.
type Limiter struct {
	file   *limiterfile.File
	client Client
	script string // as it is sent; empty for a command
	sha    string // of the script, as EVALSHA wants it; empty for a command

	witness *witness           // nil: asked without one
	clock   func() ServerClock // nil: the server's own
}

var (
	_ bucket.Limiter   = (*Limiter)(nil)
	_ bucket.KeyLister = (*Limiter)(nil)
)

// New returns the limiter that f describes, on c. A file of another kind than
// script, source or command is refused with an [limiterfile.Error].
func New(f *limiterfile.File, c Client) (*Limiter, error) {
	l := &Limiter{file: f, client: c}
	switch f.Kind {
	case limiterfile.Script, limiterfile.Source:
		l.setScript(f.Script)
	case limiterfile.Command:
	default:
		return nil, f.Mistake(string(f.Kind), fmt.Sprintf("a limiter of kind `%s` is no script and no command", f.Kind))
	}
	return l, nil
}

func (l *Limiter) setScript(text string) {
	sum := sha1.Sum([]byte(text))
	l.script, l.sha = text, hex.EncodeToString(sum[:])
}

// File returns the limiter file.
func (l *Limiter) File() *limiterfile.File { return l.file }

// Keys returns the keys that r's bucket is stored under.
func (l *Limiter) Keys(limit bucket.Limit, r bucket.Request) ([]string, error) {
	keys, err := l.file.KeysOf(limit, r)
	if err != nil {
		return nil, fmt.Errorf("limiter %s: keys: %w", l.file.Name, err)
	}
	return keys, nil
}

// Take asks for r's tokens with one script call or one command.
func (l *Limiter) Take(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	d, err := l.take(ctx, limit, r)
	if err != nil {
		return d, fmt.Errorf("limiter %s: %w", l.file.Name, err)
	}
	return d, nil
}

// Probe makes one call, so that a mistake in an expression or in the Lua text
// is found before a run. Such a mistake is an [limiterfile.Error] with its
// place; any other error is the server's or the connection's. r's key must
// belong to nobody else; what the call stores under it stays. A command that
// cannot be a limiter, such as SHUTDOWN, is a mistake and not sent.
func (l *Limiter) Probe(ctx context.Context, limit bucket.Limit, r bucket.Request) error {
	if err := l.fit(limit, r); err != nil {
		return err
	}
	_, err := l.take(ctx, limit, r)
	var mistake *limiterfile.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &mistake):
		return mistake
	}
	return fmt.Errorf("probe limiter %s: %w", l.file.Name, err)
}

// fit reports a command that cannot be a limiter.
func (l *Limiter) fit(limit bucket.Limit, r bucket.Request) error {
	if l.file.Kind != limiterfile.Command {
		return nil
	}
	_, words, err := l.file.Words(limit, r)
	if err != nil || len(words) == 0 { // the call tells it
		return nil
	}
	if why := whyUnfit(words[0]); why != "" {
		return l.file.Mistake(string(l.file.Kind), fmt.Sprintf("%s cannot be a limiter: %s", words[0], why))
	}
	return nil
}

func (l *Limiter) take(ctx context.Context, limit bucket.Limit, r bucket.Request) (bucket.Decision, error) {
	none := bucket.Untold(false)
	if r.Cost != 1 && !l.file.UsesCost {
		return none, fmt.Errorf("%w: the file does not use `cost`, so every request costs 1, not %v", bucket.ErrUnsent, r.Cost)
	}
	keys, words, err := l.file.Words(limit, r)
	if err != nil {
		return none, fmt.Errorf("%w: %w", bucket.ErrUnsent, err)
	}
	reply, seen, err := l.ask(ctx, keys, words)
	none.Witness = seen
	if err != nil {
		return none, l.explain(err)
	}
	d, err := l.file.Decide(limit, r, reply)
	d.Witness = seen
	if err != nil {
		return none, fmt.Errorf("read the reply: %w", err)
	}
	return d, nil
}

// ask sends the script or the command and returns its reply.
func (l *Limiter) ask(ctx context.Context, keys, words []string) (any, bucket.Witness, error) {
	if l.witness != nil {
		args, at := boxed(nil, words), slices.Index(words, keys[0])
		if l.sha != "" {
			args, at = l.scriptCall("eval", &l.script, keys, words), 3
		}
		reply, seen, err := l.witness.ask(ctx, keys[0], newOnce(ctx, at, args))
		if !errors.Is(err, errAborted) {
			return reply, seen, err
		}
	}
	reply, err := l.askAlone(ctx, keys, words)
	return reply, bucket.Witness{}, err
}

// askAlone asks without a block.
func (l *Limiter) askAlone(ctx context.Context, keys, words []string) (any, error) {
	if l.sha == "" {
		at := slices.Index(words, keys[0])
		return Send(ctx, l.client, at, boxed(nil, words)...)
	}
	args := l.scriptCall("evalsha", &l.sha, keys, words)
	reply, err := Send(ctx, l.client, 3, args...)
	if err == nil || !redis.HasErrorPrefix(err, "NOSCRIPT") {
		return reply, err
	}
	// The server did not run anything, so this is still the first charge, and
	// unsent is still the right word should this one never be written.
	args[0], args[1] = "eval", &l.script
	return Send(ctx, l.client, 3, args...)
}

// scriptCall is EVAL of the script's text or EVALSHA of its hash.
func (l *Limiter) scriptCall(command any, script *string, keys, words []string) []any {
	args := make([]any, 0, 4+len(keys)+len(words))
	args = append(args, command, script, len(keys))
	args = boxed(boxed(args, keys), words)
	if l.clock != nil {
		args = append(args, l.clock().word())
	}
	return args
}

// boxed appends words as the client takes them without an allocation for each:
// by their address.
func boxed(args []any, words []string) []any {
	args = slices.Grow(args, len(words))
	for i := range words {
		args = append(args, &words[i])
	}
	return args
}
