package bulkhead

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

const batch = 64 // events per crossing

// receiver is whom events with one tag are for. arrived owns the event; true: it was the last.
// over comes when nothing will arrive any more, and says why: the runtime is closed, or its queue fails
// for good. Both are called by the pump
// or by who closes, hold no lock of the core's, and do not wait.
type receiver interface {
	arrived(e rawEvent) bool
	over(why *Fault)
}

// openPoll gives a descriptor of the queue's that Go's poller waits on. It is a copy, since a file of
// Go's closes what it holds.
func openPoll(queue *C.bh_queue) (*os.File, error) {
	fd := C.bh_queue_fd(queue)
	if fd < 0 {
		return nil, fault(ResourceExhausted, "descriptors", "no file descriptors are left for the queue")
	}
	dup, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, 0)
	if errno != 0 {
		return nil, fault(ResourceExhausted, "descriptors", "the queue's descriptor: "+errno.Error())
	}
	// It is non-blocking as the library made it, so NewFile hands it to the poller.
	return os.NewFile(dup, "bulkhead-queue"), nil
}

// takeFrom takes what is in the queue, waiting up to ms for the first.
func takeFrom(queue *C.bh_queue, ms int, out *C.bhgo_event, room int) (int, error) {
	var found C.int
	var f *C.bh_fault
	st := C.bhgo_take(queue, C.int32_t(ms), out, C.int(room), &found, &f)
	return int(found), taken(st, f)
}

// pump hands out what arrives, until the runtime is closed and the queue is empty. The only
// goroutine that reads the queue.
func (c *core) pump(queue *C.bh_queue, poll *os.File) {
	defer close(c.pumped)
	defer poll.Close()
	out := (*[batch]C.bhgo_event)(C.calloc(batch, C.sizeof_bhgo_event))
	defer C.free(unsafe.Pointer(out))
	count, failed := 0, error(nil)
	take := func(uintptr) bool {
		count, failed = takeFrom(queue, 0, &out[0], batch)
		if isClosed(failed) {
			failed = nil // there is nothing, now and later, but what still ends may say so
		}
		return count > 0 || failed != nil || c.stopping.Load()
	}
	raw, noPoll := poll.SyscallConn()
	c.handOut(func() ([]rawEvent, error) {
		if noPoll == nil {
			noPoll = raw.Read(take)
		}
		if noPoll != nil {
			// The poller has no place for it: a thread waits instead, in slices.
			count, failed = takeFrom(queue, 100, &out[0], batch)
		}
		return (*[batch]rawEvent)(unsafe.Pointer(out))[:count], failed
	})
}

func isClosed(err error) bool {
	f, ok := err.(*Fault)
	return ok && f.Reason() == "closed"
}

// A queue that fails lastTry times in a row, pause apart, is given up: memory that was short for a
// moment is no reason to.
const (
	lastTry = 20
	pause   = 10 * time.Millisecond
)

// handOut is pump without the library: look waits for what arrives.
func (c *core) handOut(look func() ([]rawEvent, error)) {
	// One look may find nothing because it met the wake-up that stopping sends; two do not.
	for empty, failures := 0, 0; empty < 2; {
		found, err := look()
		for _, e := range found {
			c.hand(e)
		}
		switch {
		case err == nil:
			failures = 0
		case !isClosed(err):
			if failures++; failures == lastTry {
				c.over(faultOf(err))
				return
			}
			time.Sleep(pause)
			continue
		case !c.stopping.Load():
			time.Sleep(pause)
		}
		switch {
		case len(found) > 0:
			empty = 0
		case c.stopping.Load():
			empty++
		}
	}
}

// over tells all receivers that nothing will arrive any more, and whoever comes later.
func (c *core) over(why *Fault) {
	c.mutex.Lock()
	rest := c.receivers
	c.receivers = make(map[uint64]receiver)
	if c.lost == nil {
		c.lost = why
	}
	c.mutex.Unlock()
	for _, to := range rest {
		to.over(why)
	}
}

func (c *core) hand(e rawEvent) {
	tag := uint64(e.tag)
	c.mutex.Lock()
	to := c.receivers[tag]
	c.mutex.Unlock()
	if to == nil {
		e.free() // its run was closed before its end
		return
	}
	if to.arrived(e) {
		c.remove(tag)
	}
}

// add gives a receiver its tag. Where nothing can arrive any more it says why.
func (c *core) add(to receiver) (uint64, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.lost != nil {
		return 0, c.lost
	}
	c.lastTag++
	c.receivers[c.lastTag] = to
	return c.lastTag, nil
}

func (c *core) remove(tag uint64) {
	c.mutex.Lock()
	delete(c.receivers, tag)
	c.mutex.Unlock()
}
