package backend

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"bucketproof/bucket/child"
)

// logged is a running program whose output goes to a file.
type logged struct {
	*child.Child
	log string
}

// startLogged starts cmd with its output in the file log.
func startLogged(cmd *exec.Cmd, log string) (*logged, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("make its log: %w", err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	c, err := child.Start(cmd)
	if err != nil {
		return nil, err
	}
	return &logged{c, log}, nil
}

// obituary says how the child ended, with the last lines of its log.
func (c *logged) obituary() error {
	end := c.End()
	data, _ := os.ReadFile(c.log)
	text := fmt.Sprintf("it ended (pid %d, %s)%s", c.PID(), end, lastLines(string(data), 3))
	if isPortTaken(string(data)) {
		return fmt.Errorf("%s: %w", text, errPortTaken)
	}
	return errors.New(text)
}

// lastLines puts the last n lines of a log into one, "" when there is none.
// Warnings, which a server gives as it starts, are long and say nothing of its end.
func lastLines(log string, n int) string {
	var lines []string
	for line := range strings.Lines(log) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "WARNING") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines[max(0, len(lines)-n):], " | ")
}
