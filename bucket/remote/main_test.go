package remote_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bucketproof/bucket"
)

// TestMain turns the test binary into a limiter: program MODE.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "program" {
		os.Exit(m.Run())
	}
	behave, ok := behaviours[os.Args[2]]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such program:", os.Args[2])
		os.Exit(64)
	}
	behave(bufio.NewScanner(os.Stdin))
}

type asked struct {
	ID    string  `json:"id"`
	Key   string  `json:"key"`
	Cost  float64 `json:"cost"`
	NowMS int64   `json:"now_ms"`
}

func next(in *bufio.Scanner) (q asked, ok bool) {
	if !in.Scan() {
		return q, false
	}
	if err := json.Unmarshal(in.Bytes(), &q); err != nil {
		fmt.Fprintln(os.Stderr, "bad question:", in.Text())
		os.Exit(65)
	}
	return q, true
}

func grant(id string) { fmt.Printf("{\"id\":%q,\"allowed\":true}\n", id) }

// answering behaves rightly for some questions and then like f.
func answering(n int, f func(in *bufio.Scanner, q asked)) func(*bufio.Scanner) {
	return func(in *bufio.Scanner) {
		for i := 0; ; i++ {
			q, ok := next(in)
			switch {
			case !ok:
				return
			case i < n:
				grant(q.ID)
			default:
				f(in, q)
			}
		}
	}
}

// behaviours are what programs do.
var behaviours = map[string]func(*bufio.Scanner){
	"bucket":   func(in *bufio.Scanner) { decide(in, 1) },
	"shuffled": func(in *bufio.Scanner) { decide(in, 8) },
	"exits at once": func(*bufio.Scanner) {
		fmt.Fprint(os.Stderr, "Traceback (most recent call last):\n  line 1\nModuleNotFoundError: No module named 'redis'\n\n")
		os.Exit(1)
	},
	"exits": answering(2, func(*bufio.Scanner, asked) {
		fmt.Fprint(os.Stderr, "Error: it broke\n    at line 3\n\nNode.js v18.20.4\n")
		os.Exit(3)
	}),
	"garbage":       answering(2, func(*bufio.Scanner, asked) { fmt.Println("connected to the database") }),
	"no id":         answering(2, func(*bufio.Scanner, asked) { fmt.Println(`{"allowed":true}`) }),
	"other type":    answering(2, func(_ *bufio.Scanner, q asked) { fmt.Printf("{\"id\":%q,\"allowed\":1}\n", q.ID) }),
	"unknown id":    answering(2, func(*bufio.Scanner, asked) { grant("77") }),
	"id of its own": answering(2, func(*bufio.Scanner, asked) { grant("first") }),
	"twice":         answering(2, func(_ *bufio.Scanner, q asked) { grant(q.ID); grant(q.ID) }),
	"longest line":  answering(2, func(*bufio.Scanner, asked) { fmt.Println(strings.Repeat("x", 2<<20)) }),
	"silent":        answering(2, func(*bufio.Scanner, asked) { fmt.Fprintln(os.Stderr, "thinking") }),
	"no decision":   answering(2, func(_ *bufio.Scanner, q asked) { fmt.Printf("{\"id\":%q}\n", q.ID) }),
	"errors":        answering(2, func(_ *bufio.Scanner, q asked) { fmt.Printf("{\"id\":%q,\"error\":\"no connection\"}\n", q.ID) }),
	"number": answering(0, func(_ *bufio.Scanner, q asked) {
		fmt.Printf("\n{\"id\":%s,\"allowed\":false,\"remaining\":0.5,\"retry_after\":0.0101,\"more\":1}\n", q.ID)
	}),
	"shuts its input":  answering(2, func(*bufio.Scanner, asked) { os.Stdin.Close(); time.Sleep(time.Hour) }),
	"shuts its output": answering(2, func(*bufio.Scanner, asked) { os.Stdout.Close(); time.Sleep(time.Hour) }),
	"reads no more":    answering(2, func(*bufio.Scanner, asked) { time.Sleep(time.Hour) }),
	"floods": answering(0, func(_ *bufio.Scanner, q asked) {
		fmt.Fprint(os.Stderr, strings.Repeat(strings.Repeat("x", 99)+"\n", 10_000))
		grant(q.ID)
	}),
	"stays": func(in *bufio.Scanner) {
		answering(2, nil)(in)
		fmt.Fprintln(os.Stderr, "and yet it stays")
		time.Sleep(time.Hour)
	},
	"tells its environment": answering(0, func(*bufio.Scanner, asked) {
		fmt.Fprintln(os.Stderr, "cannot connect to", os.Getenv("REDIS_URL"))
		os.Exit(1)
	}),
	"environment": answering(0, func(_ *bufio.Scanner, q asked) {
		dir, _ := os.Getwd()
		fmt.Printf("{\"id\":%q,\"error\":%q}\n", q.ID, strings.Join([]string{
			os.Getenv("RATE"), os.Getenv("CAPACITY"), os.Getenv("REDIS_URL"), os.Getenv("INSTANCE"), dir,
			q.Key, strconv.FormatFloat(q.Cost, 'g', -1, 64), strconv.FormatInt(q.NowMS, 10)}, " "))
	}),
}

// decide is a right bucket that holds back its answers until it has so many, or
// for a moment, and gives them in any order.
func decide(in *bufio.Scanner, hold int) {
	rate, err1 := strconv.ParseFloat(os.Getenv("RATE"), 64)
	capacity, err2 := strconv.ParseFloat(os.Getenv("CAPACITY"), 64)
	if err := errors.Join(err1, err2); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(66)
	}
	began := time.Now()
	memory := bucket.NewMemory(func() time.Duration { return time.Since(began) })
	questions := make(chan asked)
	go func() {
		defer close(questions)
		for q, ok := next(in); ok; q, ok = next(in) {
			questions <- q
		}
	}()
	var held []string
	release := func(w io.Writer) {
		rand.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
		for _, a := range held {
			fmt.Fprintln(w, a)
		}
		held = slices.Delete(held, 0, len(held))
	}
	for {
		select {
		case q, ok := <-questions:
			if !ok {
				release(os.Stdout)
				return
			}
			d, _ := memory.Take(context.Background(), bucket.Limit{Rate: rate, Capacity: capacity}, bucket.Request{Key: q.Key, Cost: q.Cost})
			held = append(held, fmt.Sprintf("{\"id\":%q,\"allowed\":%v,\"remaining\":%v,\"retry_after\":%v}", q.ID, d.Allowed, d.Remaining, d.RetryAfter.Seconds()))
			if len(held) >= hold {
				release(os.Stdout)
			}
		case <-time.After(2 * time.Millisecond):
			release(os.Stdout)
		}
	}
}
