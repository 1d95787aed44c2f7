package backend

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A lifeCommand gives a key a life: so many seconds or milliseconds, or until so
// many since 1970. Its number stands at a fixed place, or behind a word.
type lifeCommand struct {
	place int    // of the number among the arguments; 0: behind a word, EX, PX, EXAT or PXAT
	ms    string // the same command in milliseconds
	unit  int64  // of the number, ms
}

var lifeCommands = map[string]lifeCommand{
	"EXPIRE":    {1, "PEXPIRE", 1000},
	"PEXPIRE":   {1, "PEXPIRE", 1},
	"EXPIREAT":  {1, "PEXPIREAT", 1000},
	"PEXPIREAT": {1, "PEXPIREAT", 1},
	"SETEX":     {1, "PSETEX", 1000},
	"PSETEX":    {1, "PSETEX", 1},
	"SET":       {ms: "SET"},
	"GETEX":     {ms: "GETEX"},
}

// prolong is the command that gives a key so much more life, in whole milliseconds
// and no less; false where there is nothing to prolong.
func prolong(cmd string, args []string, by time.Duration) ([]string, bool) {
	c, ok := lifeCommands[cmd]
	if !ok {
		return nil, false
	}
	place, word, unit := c.place, "", c.unit
	if place == 0 {
		first := 1 // option
		if cmd == "SET" {
			first = 2
		}
		first = min(first, len(args))
		i := slices.IndexFunc(args[first:], func(a string) bool {
			a = strings.ToUpper(a)
			return a == "EX" || a == "PX" || a == "EXAT" || a == "PXAT"
		})
		if i < 0 {
			return nil, false
		}
		word, place, unit = strings.ToUpper(args[first+i]), first+i+1, 1
		if word[0] == 'E' {
			word, unit = "P"+word[1:], 1000
		}
	}
	if place >= len(args) {
		return nil, false
	}
	n, err := strconv.ParseInt(args[place], 10, 64)
	more := int64((by + time.Millisecond - 1) / time.Millisecond)
	if err != nil || n <= 0 || n > (math.MaxInt64-more)/unit {
		return nil, false // the server's to refuse, or gone at once
	}
	longer := append([]string{c.ms}, args...)
	longer[1+place] = strconv.FormatInt(n*unit+more, 10)
	if word != "" {
		longer[place] = word
	}
	return longer, true
}
