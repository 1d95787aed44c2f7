package lua_test

import (
	"context"
	"errors"
	"testing"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
	"bucketproof/bucket/lua"

	"github.com/redis/go-redis/v9"
)

// refusing is a server that answers everything with one error.
type refusing string

func (r refusing) Error() string { return string(r) }
func (refusing) RedisError()     {}

func (r refusing) Process(_ context.Context, cmd redis.Cmder) error {
	cmd.Args() // as if it were written
	return r
}

// TestServerErrorsAreNoMistakes tells what the user must repair from what the
// server is going through.
func TestServerErrorsAreNoMistakes(t *testing.T) {
	script, err := limiterfile.Load("testdata/reference.yaml")
	if err != nil {
		t.Fatal(err)
	}
	command, err := limiterfile.Parse("c.yaml", []byte("name: c\ncommand: [CL.THROTTLE, \"${key}\"]\nreply: {allowed: reply == 1}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		file  *limiterfile.File
		reply string
		want  string // the mistake; empty: the server's
	}{
		{script, "LOADING Redis is loading the dataset in memory", ""},
		{script, "BUSY Redis is busy running a script.", ""},
		{script, "OOM command not allowed when used memory > 'maxmemory'.", ""},
		{script, "READONLY You can't write against a read only replica.", ""},
		{script, "ERR max number of clients reached", ""},
		{script, "ERR unknown command 'evalsha', with args beginning with: 'x' '1' ", ""},
		{script, "ERR unknown command `EVALSHA`, with args beginning with: `x`, ", ""},
		{script, "ERR The user executing the script can't run this command or subcommand script: 0123456789012345678901234567890123456789, on @user_script:5.", ""},
		{script, "ERR Unknown Redis command called from script script: 0123456789012345678901234567890123456789, on @user_script:5.",
			"testdata/reference.lua:5: Redis refuses the script: Unknown Redis command called from script"},
		{command, "NOPERM this user has no permissions to run the 'cl.throttle' command", ""},
		{command, "ERR unknown command 'CL.THROTTLE', with args beginning with: 'k' ",
			"c.yaml:2:1: Redis refuses the command: unknown command 'CL.THROTTLE', with args beginning with: 'k'"},
		// Redis 6 and 7 name the line in different ways.
		{script, "ERR Error running script (call to f_0123456789012345678901234567890123456789): @user_script:5: user_script:5: attempt to call field 'x' (a nil value)",
			"testdata/reference.lua:5: Redis refuses the script: attempt to call field 'x' (a nil value)"},
		{script, "WRONGTYPE Operation against a key holding the wrong kind of value script: 0123456789012345678901234567890123456789, on @user_script:4.",
			"testdata/reference.lua:4: Redis refuses the script: WRONGTYPE Operation against a key holding the wrong kind of value"},
		{script, "ERR Error compiling script (new function): user_script:1: unfinished string near '\"'",
			"testdata/reference.lua:1: Redis refuses the script: unfinished string near '\"'"},
		{script, "ERR user_script:3: script: 0123456789012345678901234567890123456789, on @user_script:3.",
			"testdata/reference.lua:3: Redis refuses the script: it gives no reason"},
	}
	for _, tt := range tests {
		l, err := lua.New(tt.file, refusing(tt.reply))
		if err != nil {
			t.Fatal(err)
		}
		err = l.Probe(t.Context(), limit, request("k", 0))
		var mistake *limiterfile.Error
		if got := errors.As(err, &mistake); got != (tt.want != "") || got && err.Error() != tt.want {
			t.Errorf("%s:\n got %v\nwant %s", tt.reply, err, tt.want)
		}
		_, err = l.Take(t.Context(), limit, request("k", 0))
		if err == nil || errors.Is(err, bucket.ErrUnsent) {
			t.Errorf("%s: Take gives %v, want an unknown outcome", tt.reply, err)
		}
	}
}
