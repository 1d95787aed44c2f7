package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// AppendCSVHeader appends the names of the columns, without a line end.
func AppendCSVHeader(b []byte) []byte {
	return append(b, strings.Join(fieldNames[:], ",")...)
}

// AppendCSV appends op as a row of [AppendCSVHeader]'s columns, without a line
// end. What is not known is an empty cell.
func AppendCSV(b []byte, op *Operation) []byte {
	b = append(strconv.AppendInt(b, op.Call, 10), ',')
	if op.Return != Forever {
		b = strconv.AppendInt(b, op.Return, 10)
	}
	b = append(b, ',')
	b = append(append(b, op.Outcome.String()...), ',')
	b = append(appendCell(b, op.Key), ',')
	b = append(appendCell(b, op.Instance), ',')
	b = append(strconv.AppendFloat(b, op.Cost, 'g', -1, 64), ',')
	b = append(strconv.AppendInt(b, op.Due, 10), ',')
	if op.Clock != NoClock {
		b = appendScaled(b, op.Clock, nowPlaces)
	}
	b = append(b, ',')
	if isFinite(op.Remaining) {
		b = strconv.AppendFloat(b, op.Remaining, 'g', -1, 64)
	}
	b = append(b, ',')
	if op.RetryAfter >= 0 {
		b = appendScaled(b, int64(op.RetryAfter), retryPlaces)
	}
	return appendWitnessCSV(b, &op.Witness)
}

// appendCell appends s, in quotes where RFC 4180 wants them.
func appendCell(b []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

// table reads the rows of a CSV file.
type table struct {
	columns []field // in the file's order; noField: somebody else's
	row     []byte  // a row that goes over several lines
	cells   [][]byte
	plain   []byte // cells whose quotes were taken off
}

var (
	errQuoteOpen  = errors.New(`a " is not closed`)
	errQuotePlace = errors.New(`a " within a cell that does not begin with one`)
	errQuoteAfter = errors.New(`want a comma after a closing "`)
)

// take splits the row that begins with line, the last one of l, into t.cells.
func (t *table) take(l *lines, line []byte) error {
	first := l.number
	if bytes.IndexByte(line, '"') >= 0 {
		var err error
		if line, err = t.join(l, line); err != nil {
			return err
		}
	}
	if err := t.split(bytes.TrimSuffix(line, carriageReturn)); err != nil {
		return l.wrongAt(first, err)
	}
	return nil
}

var (
	quote          = []byte{'"'}
	carriageReturn = []byte{'\r'}
)

// join reads on until the quotes of a row come in pairs: a line feed within
// quotes is part of a cell.
func (t *table) join(l *lines, line []byte) ([]byte, error) {
	first, odd := l.number, bytes.Count(line, quote)%2 != 0
	if !odd {
		return line, nil
	}
	t.row = append(t.row[:0], line...)
	for odd {
		more, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil, l.wrongAt(first, errQuoteOpen)
		}
		if err != nil {
			return nil, err
		}
		if len(t.row)+len(more) > MaxLine {
			return nil, l.wrongAt(first, errQuoteOpen)
		}
		t.row = append(append(t.row, '\n'), more...)
		odd = bytes.Count(more, quote)%2 == 0
	}
	return t.row, nil
}

// split takes a row apart.
func (t *table) split(row []byte) error {
	t.cells, t.plain = t.cells[:0], t.plain[:0]
	if cap(t.plain) < len(row) {
		t.plain = make([]byte, 0, 2*len(row)) // cells point into it, so it must not move
	}
	for {
		var cell []byte
		if len(row) > 0 && row[0] == '"' {
			start := len(t.plain)
			rest, err := t.unquote(row[1:])
			if err != nil {
				return err
			}
			cell, row = t.plain[start:], rest
		} else {
			end := bytes.IndexByte(row, ',')
			if end < 0 {
				end = len(row)
			}
			cell, row = row[:end], row[end:]
			if bytes.IndexByte(cell, '"') >= 0 {
				return errQuotePlace
			}
		}
		t.cells = append(t.cells, cell)
		if len(row) == 0 {
			return nil
		}
		if row[0] != ',' {
			return errQuoteAfter
		}
		row = row[1:]
	}
}

// unquote appends to t.plain what stands before the closing quote of row and
// returns what comes after it.
func (t *table) unquote(row []byte) (rest []byte, err error) {
	for {
		end := bytes.IndexByte(row, '"')
		if end < 0 {
			return nil, errQuoteOpen
		}
		t.plain = append(t.plain, row[:end]...)
		if row = row[end+1:]; len(row) == 0 || row[0] != '"' {
			return row, nil
		}
		t.plain = append(t.plain, '"')
		row = row[1:]
	}
}

// header takes the cells as the names of the columns.
func (t *table) header() error {
	var seen draft
	for _, cell := range t.cells {
		f := fieldOf(bytes.TrimSpace(cell))
		if f != noField {
			if err := seen.claim(f); err != nil {
				return fmt.Errorf("column %w", err)
			}
		}
		t.columns = append(t.columns, f)
	}
	if seen.present&required != required {
		return fmt.Errorf("%w from the row of column names (a history is one JSON object a line, or CSV with its column names first)", seen.missing())
	}
	return nil
}

// fill sets d's fields from the cells. An empty cell is a field that is missing.
func (t *table) fill(d *draft) error {
	if len(t.cells) != len(t.columns) {
		return fmt.Errorf("the row has %d cells and the first one %d", len(t.cells), len(t.columns))
	}
	for i, f := range t.columns {
		if f == noField {
			continue
		}
		if err := d.cell(f, t.cells[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *draft) cell(f field, cell []byte) error {
	if f != keyField && f != instanceField {
		cell = bytes.TrimSpace(cell)
	}
	if len(cell) == 0 {
		return nil
	}
	if err := d.claim(f); err != nil {
		return err
	}
	switch {
	case f.isText():
		return d.text(f, cell)
	case f.isState() && isWord(cell):
		return d.word(f, cell)
	}
	return d.number(f, cell)
}
