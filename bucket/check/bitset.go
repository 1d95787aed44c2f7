package check

import "math/bits"

// bitset is a set of places in a line, 64 to a word. It answers "which member
// is the nearest at or before this place" by looking at whole words, which for
// the few thousand places of a busy key costs less than following pointers.
type bitset []uint64

func newBitset(places int) bitset { return make(bitset, (places+63)/64) }

func (b bitset) set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bitset) clear(i int)    { b[i>>6] &^= 1 << (i & 63) }
func (b bitset) has(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }

// upTo is the largest member ≤ i, or −1.
func (b bitset) upTo(i int) int {
	if i < 0 {
		return -1
	}
	w := i >> 6
	word := b[w] << (63 - i&63) >> (63 - i&63)
	for word == 0 {
		if w--; w < 0 {
			return -1
		}
		word = b[w]
	}
	return w<<6 + bits.Len64(word) - 1
}

// after is the smallest member > i, or −1.
func (b bitset) after(i int) int {
	i++
	w := i >> 6
	if w >= len(b) {
		return -1
	}
	word := b[w] >> (i & 63) << (i & 63)
	for word == 0 {
		if w++; w >= len(b) {
			return -1
		}
		word = b[w]
	}
	return w<<6 + bits.TrailingZeros64(word)
}
