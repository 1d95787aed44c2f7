package history

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"time"

	"bucketproof/bucket"
)

// spill holds operations on disk in sorted runs, one after another in one
// temporary file, for an external merge sort (Knuth, The Art of Computer
// Programming 3, section 5.4). Names stay in memory: a record has their
// numbers.
type spill struct {
	file    *os.File
	hidden  bool // the file has no name any more: it goes when it is closed, whatever happens
	runs    []section
	size    int64
	names   []string
	numbers map[string]uint32
}

// section is where a run lies in the file, in bytes.
type section struct{ start, length int64 }

func newSpill(folder string) (*spill, error) {
	file, err := os.CreateTemp(folder, "history-*.sort")
	if err != nil {
		return nil, fmt.Errorf("sort history on disk: %w", err)
	}
	hidden := os.Remove(file.Name()) == nil // not on Windows, while it is open
	return &spill{file: file, hidden: hidden, numbers: make(map[string]uint32)}, nil
}

func (s *spill) close() error {
	err := s.file.Close()
	if !s.hidden {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	if err != nil {
		return fmt.Errorf("sort history on disk: %w", err)
	}
	return nil
}

// write appends a sorted run.
func (s *spill) write(ops []*Operation) error {
	out := bufio.NewWriterSize(s.file, readBuffer)
	record := make([]byte, 0, recordSize)
	for _, op := range ops {
		record = s.append(record[:0], op)
		if _, err := out.Write(record); err != nil {
			return fmt.Errorf("sort history on disk: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("sort history on disk: %w", err)
	}
	run := section{s.size, int64(len(ops)) * recordSize}
	s.runs = append(s.runs, run)
	s.size += run.length
	return nil
}

func (s *spill) number(name string) uint32 {
	n, ok := s.numbers[name]
	if !ok {
		n = uint32(len(s.names))
		s.numbers[name] = n
		s.names = append(s.names, name)
	}
	return n
}

// recordSize: fourteen fields of 8 bytes, two names of 4, the outcome, and
// which of the witness's states exist.
const recordSize = 14*8 + 2*4 + 2

func (s *spill) append(b []byte, op *Operation) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, uint64(op.Due))
	b = le.AppendUint64(b, uint64(op.Call))
	b = le.AppendUint64(b, uint64(op.Return))
	b = le.AppendUint64(b, uint64(op.Clock))
	b = le.AppendUint64(b, math.Float64bits(op.Cost))
	b = le.AppendUint64(b, math.Float64bits(op.Remaining))
	b = le.AppendUint64(b, uint64(op.RetryAfter))
	w := &op.Witness
	b = le.AppendUint64(b, uint64(w.Sequence))
	b = le.AppendUint64(b, uint64(w.BeforeMicros))
	b = le.AppendUint64(b, uint64(w.AfterMicros))
	exist := byte(0)
	for i, state := range []*bucket.State{&w.Before, &w.After} {
		b = le.AppendUint64(b, math.Float64bits(state.Tokens))
		b = le.AppendUint64(b, math.Float64bits(state.Time))
		if state.Exists {
			exist |= 1 << i
		}
	}
	b = le.AppendUint32(b, s.number(op.Key))
	b = le.AppendUint32(b, s.number(op.Instance))
	return append(b, byte(op.Outcome), exist)
}

func (s *spill) parse(b []byte, op *Operation) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	number := func(i int) float64 { return math.Float64frombits(word(i)) }
	name := func(at int) string { return s.names[binary.LittleEndian.Uint32(b[at:])] }
	exist := b[121]
	*op = Operation{
		Due: int64(word(0)), Call: int64(word(1)), Return: int64(word(2)), Clock: int64(word(3)),
		Cost: number(4), Remaining: number(5), RetryAfter: time.Duration(word(6)),
		Key: name(112), Instance: name(116), Outcome: Outcome(b[120]),
		Witness: bucket.Witness{
			Sequence: int64(word(7)), BeforeMicros: int64(word(8)), AfterMicros: int64(word(9)),
			Before: bucket.State{Tokens: number(10), Time: number(11), Exists: exist&1 != 0},
			After:  bucket.State{Tokens: number(12), Time: number(13), Exists: exist&2 != 0},
		},
	}
}

// merged yields the operations of all runs in order.
func (s *spill) merged() iter.Seq2[*Operation, error] {
	return func(yield func(*Operation, error) bool) {
		m := merge{spill: s}
		for i, run := range s.runs {
			size := int(min(readBuffer, run.length))
			r := bufio.NewReaderSize(io.NewSectionReader(s.file, run.start, run.length), size)
			m.heap = append(m.heap, &head{run: i, r: r})
		}
		if err := m.begin(); err != nil {
			yield(nil, err)
			return
		}
		for len(m.heap) > 0 {
			if !yield(m.heap[0].op, nil) {
				return
			}
			if err := m.advance(); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// merge is one pass over the runs: a binary heap of their next operations.
type merge struct {
	spill  *spill
	heap   []*head
	block  []Operation
	record [recordSize]byte
}

// head is the next operation of a run.
type head struct {
	run int // earlier runs have earlier lines
	r   *bufio.Reader
	op  *Operation
}

func (h *head) before(other *head) bool {
	if h.op.Call == other.op.Call && h.op.Due == other.op.Due {
		return h.run < other.run
	}
	return h.op.precedes(other.op)
}

// begin reads the first operation of every run; a run has at least one.
func (m *merge) begin() error {
	for _, h := range m.heap {
		if err := m.read(h); err != nil {
			return fmt.Errorf("sort history on disk: %w", err)
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	return nil
}

// advance replaces the least operation by the next one of its run.
func (m *merge) advance() error {
	switch err := m.read(m.heap[0]); {
	case err == io.EOF:
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	case err != nil:
		return fmt.Errorf("sort history on disk: %w", err)
	}
	m.sink(0)
	return nil
}

func (m *merge) read(h *head) error {
	if _, err := io.ReadFull(h.r, m.record[:]); err != nil {
		return err
	}
	h.op = fresh(&m.block)
	m.spill.parse(m.record[:], h.op)
	return nil
}

// sink restores the heap below i.
func (m *merge) sink(i int) {
	for {
		least := 2*i + 1
		if least >= len(m.heap) {
			return
		}
		if right := least + 1; right < len(m.heap) && m.heap[right].before(m.heap[least]) {
			least = right
		}
		if !m.heap[least].before(m.heap[i]) {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}
