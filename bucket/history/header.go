package history

import (
	"encoding/json"
	"fmt"

	"bucketproof/bucket"
)

// Header is what the first line of a history in JSON lines may say of it.
type Header struct {
	Limit *bucket.Limit // what the limiter was told to hold; nil: not said
}

// version is the only version of the format there is.
const version = 1

// headerLine is the first line, as it is written.
type headerLine struct {
	History json.Number   `json:"history"`
	Limit   *bucket.Limit `json:"limit,omitempty"`
}

// AppendHeader appends h as the first line of a history in JSON lines, without
// a line end.
func AppendHeader(b []byte, h Header) ([]byte, error) {
	line, err := json.Marshal(headerLine{History: "1", Limit: h.Limit})
	if err != nil {
		return b, fmt.Errorf("write header: %w", err)
	}
	return append(b, line...), nil
}

// isHeader reports whether line is an object with a member "history".
func isHeader(line []byte) bool {
	found := false
	s := scanner{line: line}
	err := s.object(func(name []byte) error {
		found = found || string(name) == "history"
		return s.skip()
	})
	return found && err == nil
}

func parseHeader(line []byte) (Header, error) {
	var l headerLine
	if err := json.Unmarshal(line, &l); err != nil {
		return Header{}, fmt.Errorf("header: %w", err)
	}
	if v, err := parseWhole([]byte(l.History)); err != nil || v != version {
		return Header{}, fmt.Errorf("history is %q, and only version %d is known", l.History, version)
	}
	if l.Limit != nil {
		if err := l.Limit.Validate(); err != nil {
			return Header{}, fmt.Errorf("limit: %w", err)
		}
	}
	return Header{Limit: l.Limit}, nil
}
