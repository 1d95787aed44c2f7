package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bucketproof/bucket"
	"bucketproof/bucket/child"
	"bucketproof/bucket/limiterfile"
)

// Environment is what a program is told in its environment beside the limit.
type Environment struct {
	RedisURL string // REDIS_URL
	Instance string // INSTANCE
}

func (e Environment) variables(l bucket.Limit) []string {
	figure := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return []string{
		"RATE=" + figure(l.Rate), "CAPACITY=" + figure(l.Capacity),
		"REDIS_URL=" + e.RedisURL, "INSTANCE=" + e.Instance,
	}
}

// hider takes the password out of what a program says.
func (e Environment) hider() *strings.Replacer {
	var words []string
	if u, err := url.Parse(e.RedisURL); err == nil {
		if secret, ok := u.User.Password(); ok && secret != "" {
			words = append(words, secret, "…", url.QueryEscape(secret), "…", url.PathEscape(secret), "…")
		}
	}
	return strings.NewReplacer(words...)
}

// process is a started program and our ends of its pipes.
type process struct {
	child *child.Child
	in    *os.File // its standard input
	out   *os.File // its standard output
	err   *os.File // its standard error
	said  *lastWords
}

// start starts f's program in the folder of f. An error that is the file's is an
// [limiterfile.Error].
func start(f *limiterfile.File, variables []string) (*process, error) {
	cmd := exec.Command(f.Exec[0], f.Exec[1:]...)
	cmd.Dir = filepath.Dir(f.Path)
	cmd.Env = append(os.Environ(), variables...)
	p := &process{}
	var theirs []*os.File
	defer func() {
		for _, file := range theirs {
			_ = file.Close()
		}
	}()
	pipe := func(ours **os.File, write bool) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		if write {
			r, w = w, r
		}
		*ours = r
		theirs = append(theirs, w)
		return w, nil
	}
	stdin, err := pipe(&p.in, true)
	if err == nil {
		cmd.Stdin = stdin
		cmd.Stdout, err = pipe(&p.out, false)
	}
	if err == nil {
		cmd.Stderr, err = pipe(&p.err, false)
	}
	if err == nil {
		p.child, err = child.Start(cmd)
	}
	if err != nil {
		p.closePipes()
		return nil, refused(f, err)
	}
	p.said = listen(p.err)
	return p, nil
}

// refused says why a program could not be started.
func refused(f *limiterfile.File, err error) error {
	hint := ""
	switch {
	case errors.Is(err, exec.ErrNotFound):
		hint = "is it installed, and on PATH?"
	case errors.Is(err, exec.ErrDot):
		hint = "write ./ before a program that lies beside this file"
	case errors.Is(err, fs.ErrNotExist):
		hint = "a path counts from this file's folder, and the program that a script's first line names must be there too"
	case errors.Is(err, fs.ErrPermission):
		hint = "make it executable (chmod +x), or name the program that runs it, as in [python3, limiter.py]"
	case errors.Is(err, syscall.ENOEXEC):
		hint = "name the program that runs it, as in [python3, limiter.py]"
	default: // no memory, too many files: nothing that the file could mend
		return fmt.Errorf("start %s: %w", f.Exec[0], err)
	}
	e := f.Mistake(string(limiterfile.Exec), fmt.Sprintf("the program cannot be started: %v; %s", err, hint))
	e.Cause = err
	return e
}

// closePipes closes our ends of the pipes that there are.
func (p *process) closePipes() {
	for _, f := range []*os.File{p.in, p.out, p.err} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// How long is waited for what comes at once as a rule.
const (
	partingTime = time.Second     // from the end of a pipe to the end of the program, and to its last words
	closingTime = 2 * time.Second // from the end of its input to the end of the program
)

// parting says what became of a program that broke off, doing what.
func (p *process) parting(what string) string {
	if !within(partingTime, p.child.Done()) {
		return fmt.Sprintf("the program %s and runs on%v", what, p.said)
	}
	within(partingTime, p.said.done)
	return fmt.Sprintf("the program ended (%s)%v", p.child.End(), p.said)
}

// close tells the program to end, and makes it where it does not.
func (p *process) close() error {
	_ = p.in.Close()
	var err error
	if !within(closingTime, p.child.Done()) {
		err = fmt.Errorf("the program did not end within %v of its input's end and was killed%v", closingTime, p.said)
	}
	p.child.Kill()
	p.closePipes()
	return err
}

// within waits for done, but no longer than d.
func within(d time.Duration, done <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
