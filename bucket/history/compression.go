package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// compression is how a history's bytes are packed.
type compression string

const (
	plain      compression = ""
	gzipped    compression = ".gz"
	zstandard  compression = ".zst"
	readBuffer             = 64 << 10
)

// compressionOf goes by a file's name.
func compressionOf(path string) compression {
	switch c := compression(filepath.Ext(path)); c {
	case gzipped, zstandard:
		return c
	}
	return plain
}

// The first bytes of packed data. Zstandard data may begin with a frame that
// is to be skipped, as parallel packers write; its first byte is 0x50 to 0x5f.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	skipMagic = []byte{0x2a, 0x4d, 0x18}
)

// sniff goes by the first bytes, whatever the name says.
func sniff(first []byte) compression {
	switch {
	case bytes.HasPrefix(first, gzipMagic):
		return gzipped
	case bytes.HasPrefix(first, zstdMagic),
		len(first) > 3 && first[0]&0xf0 == 0x50 && bytes.Equal(first[1:4], skipMagic):
		return zstandard
	}
	return plain
}

// maxWindow bounds the memory that packed data may ask for, as the zstd command
// does unless it is told otherwise.
const maxWindow = 128 << 20

// unpack returns the text in r, packed or not, and what to call when it is no
// longer read. Reading packed data that are damaged fails with a [*packError],
// and with r's own error where that is the cause.
func unpack(r io.Reader) (*bufio.Reader, func(), error) {
	src := &source{r: r}
	packed := bufio.NewReaderSize(src, readBuffer)
	first, err := packed.Peek(4)
	if err != nil && len(first) == 0 && err != io.EOF {
		return nil, nil, err
	}
	var text io.Reader
	var done func()
	how := sniff(first)
	switch how {
	case gzipped:
		z, err := gzip.NewReader(packed)
		if err != nil {
			return nil, nil, src.blame(how, err)
		}
		text, done = z, func() { z.Close() }
	case zstandard:
		z, err := zstd.NewReader(packed, zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, src.blame(how, err)
		}
		text, done = z, z.Close
	default:
		return packed, func() {}, nil
	}
	return bufio.NewReaderSize(&unpacked{text, src, how}, readBuffer), done, nil
}

// source remembers how reading r failed, so that what is wrong with packed data
// can be told from what is wrong with where they are.
type source struct {
	r      io.Reader
	failed atomic.Pointer[error] // nil: nothing but the end so far; zstd reads ahead in a goroutine of its own
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.failed.Store(&err)
	}
	return n, err
}

// blame is s's own error, or else that of the data.
func (s *source) blame(how compression, err error) error {
	if own := s.failed.Load(); own != nil {
		return *own
	}
	return &packError{how, err}
}

// unpacked is the text in packed data.
type unpacked struct {
	text io.Reader
	src  *source
	how  compression
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.text.Read(p)
	if err != nil && err != io.EOF {
		err = u.src.blame(u.how, err)
	}
	return n, err
}

// packError says that packed data are not whole.
type packError struct {
	how compression
	err error
}

func (e *packError) Error() string {
	name := map[compression]string{gzipped: "gzip", zstandard: "zstd"}[e.how]
	switch {
	case errors.Is(e.err, io.ErrUnexpectedEOF), errors.Is(e.err, io.EOF):
		return fmt.Sprintf("the %s data end too early: the file was cut off, write or copy it again", name)
	case errors.Is(e.err, zstd.ErrWindowSizeExceeded), errors.Is(e.err, zstd.ErrDecoderSizeExceeded):
		return fmt.Sprintf("the %s data want more than %d MiB of memory: pack them again without --long or --ultra", name, maxWindow>>20)
	}
	return fmt.Sprintf("the %s data are damaged (%v): write or copy the file again", name, e.err)
}

func (e *packError) Unwrap() error { return e.err }
