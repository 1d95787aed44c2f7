package reports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// replace puts data in path: first in a new file beside it, then by renaming,
// so that an interrupted or failed write leaves what was there before.
func replace(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return writeError(path, err)
	}
	err = fill(temp, data)
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // the first error is the one to tell
		return writeError(path, err)
	}
	return nil
}

// fill writes data to a new file, makes it readable for everybody and closes it.
func fill(file *os.File, data []byte) error {
	_, err := file.Write(data)
	if err == nil {
		err = file.Chmod(0o644)
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// writeError names the file that was wanted in place of the temporary one.
func writeError(path string, err error) error {
	if cause := (*fs.PathError)(nil); errors.As(err, &cause) {
		err = cause.Err
	}
	if cause := (*os.LinkError)(nil); errors.As(err, &cause) {
		err = cause.Err
	}
	return fmt.Errorf("write %s: %w", path, err)
}
