package bucket

// Witness is what a server saw around one decision, taken in the same atomic
// block as the decision itself. The zero Witness is none at all.
//
// Before and After are the state as it is stored. Its Exists is false when the
// key was not there. Tokens or Time is NaN where the limiter does not tell the
// field or where it holds no number; with both NaN and Exists true nothing is
// known but, at best, that there was a key.
type Witness struct {
	Sequence     int64 // the decision's number on its key, from 1; 0: not numbered
	BeforeMicros int64 // the server's clock just before the decision, µs since the Unix epoch; 0: not known
	AfterMicros  int64 // the same just after it; where the server stops its clock for a block the two are equal
	Before       State // as stored just before
	After        State // as stored just after
}

// Unseen is the state that nothing is known of.
func Unseen() State { return State{Tokens: nan, Time: nan, Exists: true} }
