package load

import (
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Alarm sleeps more exactly than time.Sleep, which on Linux wakes an idle
// process up to a millisecond late (the runtime waits for its timers in
// epoll_wait, in whole milliseconds). It waits for a timerfd instead, which is
// exact to some ten microseconds and holds no thread. The zero Alarm is ready
// to use, also concurrently. It is for real time only: the bubbles of
// testing/synctest do not know it.
type Alarm struct {
	mu   sync.Mutex
	idle []*timer
}

// timer is a timerfd. The file waits in the runtime's poller; its own Fd
// method would make it block a thread.
type timer struct {
	fd   int
	file *os.File
}

// soon is too short to ask the kernel for.
const soon = 20 * time.Microsecond

// Sleep waits for about t, rather less than more: the caller looks at its clock
// and sleeps again. Where there is no timer to be had it is time.Sleep.
func (a *Alarm) Sleep(t time.Duration) {
	if t < soon {
		runtime.Gosched()
		return
	}
	w, err := a.take()
	if err != nil {
		time.Sleep(t)
		return
	}
	if !w.wait(t) {
		w.file.Close()
		time.Sleep(t)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.idle = append(a.idle, w)
}

func (a *Alarm) take() (*timer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.idle); n > 0 {
		w := a.idle[n-1]
		a.idle = a.idle[:n-1]
		return w, nil
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &timer{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}, nil
}

// wait reports whether the timer was there to wait for.
func (w *timer) wait(t time.Duration) bool {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(t))}
	if err := unix.TimerfdSettime(w.fd, 0, &spec, nil); err != nil {
		return false
	}
	var expirations [8]byte
	_, err := w.file.Read(expirations[:])
	return err == nil
}

// Close gives the timers back. No Sleep may be under way.
func (a *Alarm) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.idle {
		w.file.Close() // nothing was written that could be lost
	}
	a.idle = nil
	return nil
}
