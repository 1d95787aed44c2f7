package lua

import (
	"strconv"
	"strings"
	"sync"
)

// sequenceSuffix ends the names of the keys that count decisions.
const sequenceSuffix = ":bucketproof-seq"

// IsSequenceKey reports whether a Redis key counts the decisions of a witnessed
// limiter, and so is the harness's own and no state of the limiter. Its name
// holds the name of the key that it counts for, and it expires an hour after
// the last decision.
func IsSequenceKey(name string) bool { return strings.HasSuffix(name, sequenceSuffix) }

// sequenceKey names the key that counts the decisions on key. It lies in key's
// slot, so that a cluster takes both in one block, and holds key's whole name,
// so that whoever looks for the run's keys finds it: a tag alone might be shared
// by all buckets and hold nothing of the run.
func sequenceKey(key string) string {
	if hasTag(key) {
		return key + sequenceSuffix // the first tag counts
	}
	if key != "" && !strings.Contains(key, "}") {
		return "{" + key + "}" + sequenceSuffix
	}
	if name, ok := oddNames.Load(key); ok {
		return name.(string)
	}
	name := searchSlot(key)
	oddNames.Store(key, name)
	return name
}

// oddNames keeps what was searched for keys that no tag can stand for, which
// takes a millisecond.
var oddNames sync.Map

// searchSlot tries names that begin with key until one lies in its slot. There
// is one in 16384, and none of them has a tag, as key has none.
func searchSlot(key string) string {
	want := slot(key)
	start := crc16(0, key+":")
	for n := uint64(0); ; n++ {
		tail := strconv.FormatUint(n, 36) + sequenceSuffix
		if crc16(start, tail)%slots == want {
			return key + ":" + tail
		}
	}
}

// slots is how many hash slots a cluster has.
const slots = 16384

// slot is the hash slot of a key: that of its tag, if it has one.
func slot(key string) uint16 {
	if hasTag(key) {
		_, rest, _ := strings.Cut(key, "{")
		key, _, _ = strings.Cut(rest, "}")
	}
	return crc16(0, key) % slots
}

// hasTag reports whether a cluster hashes only a part of key: what stands
// between the first { and the first } after it, unless that is nothing.
func hasTag(key string) bool {
	_, rest, open := strings.Cut(key, "{")
	return open && strings.IndexByte(rest, '}') > 0
}

// crc16 continues a CRC-16/XMODEM (polynomial 0x1021) over s.
func crc16(crc uint16, s string) uint16 {
	for i := range len(s) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^s[i]]
	}
	return crc
}

var crcTable = makeCRCTable()

func makeCRCTable() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= 0x1021
			}
		}
		table[i] = crc
	}
	return table
}
