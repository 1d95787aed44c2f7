package lua

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// explain gives an error that the script or the command itself raised its
// place, as an [limiterfile.Error] around it. Other errors pass unchanged.
func (l *Limiter) explain(err error) error {
	var reply redis.Error
	switch {
	case !errors.As(err, &reply) || isServer(reply.Error()):
		return err
	case l.sha != "":
		if m := noScripts.FindStringSubmatch(reply.Error()); m != nil {
			return fmt.Errorf("the server does not know %s, which every script needs: is it renamed (rename-command), or is this a proxy?", strings.ToUpper(m[1]))
		}
		if m := forbidden.FindStringSubmatch(reply.Error()); m != nil {
			return fmt.Errorf("the server's access rules forbid what line %d of the script does (the user %s): allow it with ACL SETUSER, or name another user", scriptLine(reply.Error()), m[1])
		}
	}
	text := strings.TrimPrefix(reply.Error(), "ERR ")
	if l.sha == "" {
		e := l.file.Mistake(string(l.file.Kind), "Redis refuses the command: "+text)
		e.Cause = err
		return e
	}
	text = redisHead.ReplaceAllString(text, "")
	e := l.file.ScriptMistake(scriptLine(text), "Redis refuses the script: "+withoutPlaces(text))
	e.Cause = err
	return e
}

// serverErrors begin replies that tell of the server, not of the limiter.
var serverErrors = []string{
	"ASK", "BUSY", "CLUSTERDOWN", "EXECABORT", "LOADING", "MASTERDOWN", "MISCONF", "MOVED", "NOAUTH", "NOPERM",
	"NOREPLICAS", "NOSCRIPT", "OOM", "READONLY", "TRYAGAIN", "UNKILLABLE", "WRONGPASS",
}

func isServer(reply string) bool {
	code, _, _ := strings.Cut(reply, " ")
	return slices.Contains(serverErrors, code) || strings.HasPrefix(reply, "ERR max number of clients")
}

// noScripts is how a server says that it lacks the command itself; of one that a
// script calls it says that it is called from a script.
var noScripts = regexp.MustCompile("(?i)^ERR unknown command [`'](evalsha|eval)['`]")

// forbidden is how a server says that an access rule forbids a part of a script.
var forbidden = regexp.MustCompile(`The user executing the script (can't (?:run this command|access at least one of the keys))`)

var (
	// redisLine is how Redis names a line: user_script:3: or @user_script:3.
	redisLine = regexp.MustCompile(`@?user_script:(\d+):?`)
	// embeddedLine is how the embedded server does: :3: or <string> line:3(column:4).
	embeddedLine = regexp.MustCompile(`^:(\d+):|(?:user_script|<string>) line:(\d+)\(column:\d+\)`)
	// redisTail is what Redis 7 adds: the script's hash and its line again, or
	// "=?:1" where the line is lost (see WithClock).
	redisTail = regexp.MustCompile(`,? script: [0-9a-f]{40}, on (@user_script|=\?):\d+\.?$`)
	// embeddedTail is a stack trace.
	embeddedTail = regexp.MustCompile(`(?s)\s*stack traceback:.*`)
	// strictLua is where Redis 6 itself finds that a global does not exist.
	strictLua = regexp.MustCompile(`@enable_strict_lua:\d+: `)
	redisHead = regexp.MustCompile(`^Error (compiling|running) script \([^)]*\): `)
)

// scriptLine is the line that an error names, 0 when it names none. For a
// global that does not exist the embedded server names a line of its own.
func scriptLine(text string) int {
	if strings.HasPrefix(text, ":") && strings.Contains(text, "nonexistent global") {
		return 0
	}
	for _, re := range []*regexp.Regexp{redisLine, embeddedLine} {
		m := re.FindStringSubmatch(text)
		for _, group := range m[min(1, len(m)):] {
			if n, err := strconv.Atoi(group); err == nil {
				return n
			}
		}
	}
	return 0
}

// withoutPlaces strips what the place in front of the message says already.
func withoutPlaces(text string) string {
	text = embeddedTail.ReplaceAllString(text, "")
	text = redisTail.ReplaceAllString(text, "")
	text = redisLine.ReplaceAllString(text, "")
	text = strictLua.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "=?:1: ", "") // a line that is lost, before Redis 7
	text = embeddedLine.ReplaceAllString(text, "")
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "it gives no reason"
	}
	return text
}
