package backend

import (
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// shareInt64 maps the first eight bytes of a file into memory, so that whoever
// maps it too sees each change at once. Nothing may use the number after unmap.
func shareInt64(path string) (n *atomic.Int64, unmap func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // the mapping stays
	data, err := syscall.Mmap(int(f.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return (*atomic.Int64)(unsafe.Pointer(&data[0])), func() error { return syscall.Munmap(data) }, nil
}
