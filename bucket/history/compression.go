package history

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"

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
// longer read.
func unpack(r io.Reader) (*bufio.Reader, func(), error) {
	packed := bufio.NewReaderSize(r, readBuffer)
	first, err := packed.Peek(4)
	if err != nil && len(first) == 0 && err != io.EOF {
		return nil, nil, err
	}
	switch sniff(first) {
	case gzipped:
		z, err := gzip.NewReader(packed)
		if err != nil {
			return nil, nil, fmt.Errorf("unpack: %w", err)
		}
		return bufio.NewReaderSize(z, readBuffer), func() { z.Close() }, nil
	case zstandard:
		z, err := zstd.NewReader(packed, zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("unpack: %w", err)
		}
		return bufio.NewReaderSize(z, readBuffer), z.Close, nil
	}
	return packed, func() {}, nil
}
