package capacity

import (
	"math/bits"
	"strconv"
	"strings"
)

// slotBytes is a slot of a Redis hash table, a pointer.
const slotBytes = 8

// leastSlots is the size that a table begins with.
const leastSlots = 4

// tableBytes is what the slots of a hash table with n entries take. Its size is
// the least power of two that n does not exceed: it doubles when it is full, so
// that memory jumps there and grows evenly elsewhere (dict.c).
func tableBytes(n float64) float64 {
	if n <= 0 {
		return 0
	}
	return slotBytes * float64(slots(uint64(n)))
}

func slots(n uint64) uint64 {
	if n <= leastSlots {
		return leastSlots
	}
	return 1 << bits.Len64(n-1)
}

// growingBytes is the most that a table with up to n entries takes while it is
// doubled: the old one and the new one are both there until all entries moved.
func growingBytes(n float64) float64 { return 1.5 * tableBytes(n) }

// keyCount is how many keys a server holds, and how many of them expire: each of
// the two is a hash table.
type keyCount struct{ keys, expires float64 }

func (k keyCount) tables() float64 { return tableBytes(k.keys) + tableBytes(k.expires) }

func (k keyCount) less(o keyCount) keyCount { return keyCount{k.keys - o.keys, k.expires - o.expires} }

// countKeys adds up the databases' lines in INFO: db0:keys=3,expires=2,….
func countKeys(fields map[string]string) keyCount {
	var sum keyCount
	for name, value := range fields {
		digits, ok := strings.CutPrefix(name, "db")
		if _, err := strconv.Atoi(digits); !ok || err != nil {
			continue
		}
		for part := range strings.SplitSeq(value, ",") {
			name, text, _ := strings.Cut(part, "=")
			v, _ := strconv.ParseFloat(text, 64)
			switch name {
			case "keys":
				sum.keys += v
			case "expires":
				sum.expires += v
			}
		}
	}
	return sum
}
