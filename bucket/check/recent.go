package check

// recent remembers what the names met lately stand for. Histories name the same
// few instances and keys over and over; comparing with the last one of the same
// ending is several times cheaper than hashing into a map.
type recent[V any] [recentSlots]struct {
	name  string
	value V
	used  bool
}

const recentSlots = 256 // a power of two

// slot is where a name belongs. Names that belong together mostly differ at
// the end.
func slot(name string) int {
	h := uint32(len(name))
	for i := max(0, len(name)-4); i < len(name); i++ {
		h = h*31 + uint32(name[i])
	}
	return int(h % recentSlots)
}

func (r *recent[V]) find(name string) (v V, ok bool) {
	e := &r[slot(name)]
	if e.used && e.name == name {
		return e.value, true
	}
	return v, false
}

func (r *recent[V]) keep(name string, v V) {
	e := &r[slot(name)]
	e.name, e.value, e.used = name, v, true
}
