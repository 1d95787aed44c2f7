package limiterfile

import (
	"strings"

	"bucketproof/bucket"
)

// clockDoubt is why what `time` says and what is sent to Redis do not fit: nobody
// but the caller can tell the caller's clock, and who is told it may go by it. nil:
// they fit, `time` is not given, or what is sent is not all that the limiter sees,
// as of a gateway with its headers.
func (d *decoder) clockDoubt() *Error {
	f := d.file
	at, given := f.places["time"]
	if !given || f.Kind == HTTP || f.Kind == Exec {
		return nil
	}
	now := f.sent() & nowNames
	switch {
	case f.Time == bucket.CallerTime && now == 0:
		return d.src.errorf(at, "`time` is caller, but nothing that is sent tells the caller's clock; add now_ms or the like, or write `time: server`")
	case f.Time == bucket.ServerTime && now != 0:
		return d.src.errorf(at, "`time` is server, but the caller's clock is sent as well (%s); if the limiter goes by it, write `time: caller`", now)
	}
	return nil
}

// sent are the names that what a limiter on Redis is sent depends on.
func (f *File) sent() nameSet {
	var out nameSet
	for i := range f.Args {
		out |= f.Args[i].uses
	}
	for _, templates := range [][]Template{f.Keys, f.Command} {
		for _, t := range templates {
			out |= t.uses()
		}
	}
	return out
}

// String lists the names as they are spelled.
func (s nameSet) String() string {
	var spelled []string
	for n := range nameCount {
		if s.has(n) {
			spelled = append(spelled, names[n].spelling)
		}
	}
	return strings.Join(spelled, ", ")
}
