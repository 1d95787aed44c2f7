package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// resultsFile is the name of the report in a result folder.
const resultsFile = "results.json"

// Read returns the report of a result folder. An error is one line that names
// the file and what is wrong with it.
func Read(dir string) (*Report, error) {
	path := filepath.Join(dir, resultsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, readError(dir, path, err)
	}
	r, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return r, nil
}

func readError(dir, path string, err error) error {
	cause := (*fs.PathError)(nil)
	if errors.As(err, &cause) {
		err = cause.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w: %s is no result folder (harness run writes one)", path, err, dir)
	}
	return fmt.Errorf("read %s: %w", path, err)
}

// parse decodes results.json, after its version was looked at: a report of
// another version may have fields of another meaning.
func parse(data []byte) (*Report, error) {
	var head struct {
		SchemaVersion *int `json:"schema_version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, placed(data, err)
	}
	switch {
	case head.SchemaVersion == nil:
		return nil, errors.New("no schema_version: this is no report")
	case *head.SchemaVersion != SchemaVersion:
		return nil, fmt.Errorf("schema_version is %d, this harness reads %d", *head.SchemaVersion, SchemaVersion)
	}
	r := new(Report)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, placed(data, err)
	}
	return r, nil
}

// placed adds line and column to what encoding/json says.
func placed(data []byte, err error) error {
	var (
		syntax *json.SyntaxError
		wrong  *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &syntax):
		line, column := position(data, syntax.Offset)
		if int(syntax.Offset) >= len(data) {
			return fmt.Errorf("line %d: %w: the file is cut short", line, io.ErrUnexpectedEOF)
		}
		return fmt.Errorf("line %d, column %d: %w", line, column, err)
	case errors.As(err, &wrong):
		line, column := position(data, wrong.Offset)
		return fmt.Errorf("line %d, column %d: %s is a %s, want %s", line, column, wrong.Field, wrong.Value, wrong.Type)
	}
	return err
}

// position turns an offset into a line and a column, both from 1.
func position(data []byte, offset int64) (line, column int) {
	line, column = 1, 1
	for _, b := range data[:min(int(offset), len(data))] {
		column++
		if b == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}
