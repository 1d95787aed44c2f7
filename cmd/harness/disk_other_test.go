//go:build !linux

package main

import "errors"

func smallDisk(string) error { return errors.New("only on Linux") }

func readOnlyDisk(string) error { return errors.New("only on Linux") }

func unmount(string) error { return nil }
