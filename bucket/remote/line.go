package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"bucketproof/bucket"
	"bucketproof/bucket/limiterfile"
)

// question is one line to a program.
type question struct {
	ID    string  `json:"id"`
	Key   string  `json:"key"`
	Cost  float64 `json:"cost"`
	NowMS int64   `json:"now_ms"`
}

// line renders r as the n-th question.
func line(n uint64, r bucket.Request) ([]byte, error) {
	b, err := json.Marshal(question{ID: strconv.FormatUint(n, 10), Key: r.Key, Cost: r.Cost, NowMS: r.Now.UnixMilli()})
	return append(b, '\n'), err
}

// parseAnswer reads one line of a program and tells which question it is about.
func parseAnswer(text []byte) (n uint64, a limiterfile.Answer, err error) {
	var whole struct {
		ID *identity `json:"id"`
		limiterfile.Answer
	}
	wrong := func(why string) error {
		return fmt.Errorf("the program printed %s: %s; its standard output is for answers alone, as in {\"id\":\"1\",\"allowed\":true}", excerpt(text), why)
	}
	var kind *json.UnmarshalTypeError
	err = json.Unmarshal(text, &whole)
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		field := kind.Field[strings.LastIndexByte(kind.Field, '.')+1:] // without the name of an embedded struct
		return 0, a, wrong(fmt.Sprintf("`%s` is a JSON %s, want %s", field, kind.Value, wants[field]))
	case err != nil:
		return 0, a, wrong("this is no JSON object")
	case whole.ID == nil:
		return 0, a, wrong("it has no `id`")
	}
	n, err = strconv.ParseUint(string(*whole.ID), 10, 64)
	if err != nil {
		return 0, a, wrong("nothing was asked under this `id`")
	}
	return n, whole.Answer, nil
}

// wants are the types of an answer's fields.
var wants = map[string]string{
	"allowed": "true or false", "remaining": "a number of tokens", "retry_after": "a number of seconds", "error": "text",
}

// identity is an id as it comes back: the text that was sent, or, where a language
// takes "7" for a number, that.
type identity string

// UnmarshalJSON takes a string or a number.
func (i *identity) UnmarshalJSON(b []byte) error {
	*i = identity(bytes.Trim(b, `"`))
	return nil
}

// excerpt quotes the beginning of a line.
func excerpt(text []byte) string {
	const most = 100
	if len(text) > most {
		return fmt.Sprintf("%q…", text[:most])
	}
	return fmt.Sprintf("%q", text)
}
