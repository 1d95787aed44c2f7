package main

import "syscall"

// smallDisk mounts a file system of 64 KiB at dir.
func smallDisk(dir string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k")
}

func unmount(dir string) error { return syscall.Unmount(dir, syscall.MNT_DETACH) }
