package check

// expiries counts the most times that an idle key may have expired in a
// window: the largest number of stretches of length life inside it, one after
// another, each of which begins where a request may have been decided and holds
// none that surely was (call and return within). Each request that is decided,
// a denial too, gives the key its full life again; a key that has expired must
// be written before it can expire again, which is why ten idle lives are one
// expiry. Taking the earliest stretch each time is best, for whatever can
// follow a later one can follow an earlier one.
type expiries struct {
	life  int64 // ns; 0: no key expires
	from  int64 // where the stretch that is being looked at begins
	late  int64 // the latest return seen
	count int64
}

// see takes the next request in order of call. sure: it was decided between
// call and return.
func (e *expiries) see(call, ret int64, sure bool) {
	if e.life == 0 {
		return
	}
	for call-e.from >= e.life {
		e.expire(call)
	}
	if sure && call > e.from && ret-e.from < e.life {
		e.from = call // no stretch that begins in (ret − life, call) will do
	}
	e.late = max(e.late, ret)
}

// expire ends the stretch, and those that can follow at once because a request
// seen may have been decided there; the next begins at the next call.
func (e *expiries) expire(next int64) {
	n := max(1, (min(next, e.late)-e.from)/e.life)
	e.count += n
	e.from += n * e.life
	if e.late < e.from {
		e.from = next
	}
}

// done closes the window.
func (e *expiries) done(end int64) {
	for e.life > 0 && end-e.from >= e.life {
		e.expire(end)
	}
}
