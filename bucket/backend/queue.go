package backend

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// How often keys are aged; see queue.
const (
	cheapPass  = 12 * time.Microsecond
	restFactor = 4
)

// queue is miniredis' hook before a command. It lets one command through at a
// time, as Redis does: it ages the keys by the time since it last did, then
// executes the command itself, under its lock. So a key expires when its time
// is over, as far as any command can see, and nothing comes between ageing and
// execution. A pause is a wait under the same lock.
//
// Ageing visits every key. While a pass takes at most cheapPass (up to about a
// hundred keys) it precedes every command. With more keys passes rest restFactor
// times as long as they took, and a life may be that much too long: 0.6 ms with a
// thousand keys, 9 ms with ten thousand (measured). It is never too short, for that
// would be the limiter's fault: what time has passed since the last pass, the next
// one takes off a life that is given in between, too, and so it is given with it.
type queue struct {
	mini   *miniredis.Miniredis
	server *server.Server
	closed chan struct{}
	peers  sync.Map // *server.Peer → bool: connections, as opposed to scripts; true: within MULTI

	running atomic.Pointer[server.Peer] // whose command is being executed

	mu     sync.Mutex       // held while a command executes
	until  time.Time        // no command before
	aged   time.Time        // when keys were last aged
	took   [4]time.Duration // by the last passes, in a ring
	turn   int
	giving bool // a script gives a life that was prolonged
}

// newQueue puts a queue in front of m, which runs.
func newQueue(m *miniredis.Miniredis) *queue {
	q := &queue{mini: m, server: m.Server(), closed: make(chan struct{}), aged: time.Now()}
	q.server.SetPreHook(q.pass)
	return q
}

// close ends a pause, which would keep connections waiting.
func (q *queue) close() { close(q.closed) }

// pass is the hook; true means that the command is done. A command that a
// script calls comes through here too, inside the script's own turn, and so
// does the command that pass itself dispatches.
func (q *queue) pass(c *server.Peer, cmd string, args ...string) bool {
	switch {
	case q.inside(c):
		return q.give(c, cmd, args)
	case blocks(cmd):
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wait()
	if cmd == "CLIENT" && len(args) == 2 && strings.EqualFold(args[0], "PAUSE") {
		q.pause(c, args[1])
		return true
	}
	q.age(cmd == "EXEC") // what it executes passes no hook
	q.running.Store(c)
	defer q.running.Store(nil)
	q.server.Dispatch(c, q.given(c, cmd, args))
	return true
}

// given is a command as it is to be executed: a life is given with the time that
// the next pass will take off it for nothing.
func (q *queue) given(c *server.Peer, cmd string, args []string) []string {
	if multi, _ := q.peers.Load(c); multi == true || cmd == "MULTI" {
		q.peers.Store(c, cmd != "EXEC" && cmd != "DISCARD")
	} else if early := time.Since(q.aged); early >= cheapPass {
		if longer, ok := prolong(cmd, args, early); ok {
			return longer
		}
	}
	return append([]string{cmd}, args...)
}

// give does the same to a life that a script gives. It reports whether the command is
// done.
func (q *queue) give(c *server.Peer, cmd string, args []string) bool {
	early := time.Since(q.aged)
	if q.giving || early < cheapPass || q.running.Load() == c {
		return false
	}
	longer, ok := prolong(cmd, args, early)
	if ok {
		q.giving = true
		defer func() { q.giving = false }()
		q.server.Dispatch(c, longer)
	}
	return ok
}

// inside reports whether a command belongs to one that is being executed. A
// connection's first command has no context yet, and is remembered by that; the
// peers that scripts make up have one from the start.
func (q *queue) inside(c *server.Peer) bool {
	if q.running.Load() == c {
		return true
	}
	if _, known := q.peers.Load(c); known {
		return false
	}
	if c.Ctx != nil {
		return true
	}
	q.peers.Store(c, false)
	c.OnDisconnect(func() { q.peers.Delete(c) })
	return false
}

// age takes the time that has passed off every time to live, at once or when passes
// have rested. Fractions of a millisecond are kept.
func (q *queue) age(atOnce bool) {
	now := time.Now()
	elapsed := now.Sub(q.aged)
	if !atOnce && elapsed < q.rest() {
		return
	}
	q.mini.FastForward(elapsed)
	q.aged = now
	q.took[q.turn] = time.Since(now)
	q.turn = (q.turn + 1) % len(q.took)
}

// rest is how long ageing pauses. The quickest of the last passes counts: a
// slow one may only mean that the machine was busy.
func (q *queue) rest() time.Duration {
	pass := slices.Min(q.took[:])
	if pass <= cheapPass {
		return 0
	}
	return restFactor * pass
}

// pause answers CLIENT PAUSE, which miniredis does not know.
func (q *queue) pause(c *server.Peer, ms string) {
	n, err := strconv.ParseInt(ms, 10, 32)
	if err != nil || n < 0 {
		c.WriteError("ERR timeout is not an integer or out of range")
		return
	}
	q.until = time.Now().Add(time.Duration(n) * time.Millisecond)
	c.WriteOK()
}

// wait sits out a pause.
func (q *queue) wait() {
	d := time.Until(q.until)
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-q.closed:
	}
}

// blocks reports whether a command may wait for another one's effect, so that
// it must not keep the others out.
func blocks(cmd string) bool {
	switch cmd {
	case "BLPOP", "BRPOP", "BRPOPLPUSH", "BLMOVE", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "XREAD", "XREADGROUP", "WAIT":
		return true
	}
	return false
}
