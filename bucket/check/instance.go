package check

import (
	"slices"
	"strings"
	"time"

	"bucketproof/bucket/history"
)

// Counts says how requests ended, each in exactly one way.
type Counts struct {
	Offered, Allowed, Denied, Unsent, Unknown int64
}

// Answered is how many got a yes or a no.
func (c Counts) Answered() int64 { return c.Allowed + c.Denied }

func (c *Counts) add(o history.Outcome) {
	c.Offered++
	switch o {
	case history.Allowed:
		c.Allowed++
	case history.Denied:
		c.Denied++
	case history.Unsent:
		c.Unsent++
	case history.Unknown:
		c.Unknown++
	}
}

// InstanceSummary is what one instance got.
type InstanceSummary struct {
	Name string
	Counts
	SpuriousDenials int64         // denials that no placement of the other requests explains
	LongestLockout  time.Duration // the longest unbroken run of them on one key; 0: none
}

// crowd is the instances of a history.
type crowd struct {
	numbers map[string]int32
	recent  recent[int32]
	members []InstanceSummary
}

func (c *crowd) number(name string) int32 {
	if n, ok := c.recent.find(name); ok {
		return n
	}
	n, ok := c.numbers[name]
	if !ok {
		if c.numbers == nil {
			c.numbers = make(map[string]int32)
		}
		n = int32(len(c.members))
		c.numbers[name] = n
		c.members = append(c.members, InstanceSummary{Name: name})
	}
	c.recent.keep(name, n)
	return n
}

// sorted is the members by name.
func (c *crowd) sorted() []InstanceSummary {
	return slices.SortedFunc(slices.Values(c.members), func(a, b InstanceSummary) int {
		return strings.Compare(a.Name, b.Name)
	})
}
