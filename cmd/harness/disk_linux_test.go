package main

import "syscall"

// smallDisk mounts a file system of 64 KiB at dir.
func smallDisk(dir string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k")
}

// readOnlyDisk mounts a file system at dir on which nothing can be written.
func readOnlyDisk(dir string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_RDONLY, "size=64k")
}

func unmount(dir string) error { return syscall.Unmount(dir, syscall.MNT_DETACH) }
