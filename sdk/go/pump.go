package bulkhead

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"os"
	"syscall"
	"unsafe"
)

const batch = 64 // events per crossing

// receiver is whom events with one tag are for. arrived owns the event; true: it was the last.
// over comes when the runtime is gone and nothing will arrive any more. Both are called by the pump
// or by who closes, hold no lock of the core's, and do not wait.
type receiver interface {
	arrived(e rawEvent) bool
	over()
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

// pump hands out what arrives, until the runtime is closed and the queue is empty. The only
// goroutine that reads the queue.
func (c *core) pump(queue *C.bh_queue, poll *os.File) {
	defer close(c.pumped)
	defer poll.Close()
	out := (*[batch]C.bhgo_event)(C.calloc(batch, C.sizeof_bhgo_event))
	defer C.free(unsafe.Pointer(out))
	count, empty := 0, 0
	take := func(uintptr) bool {
		count = int(C.bhgo_take(queue, 0, &out[0], batch))
		return count > 0 || c.stopping.Load()
	}
	raw, err := poll.SyscallConn()
	// One look may find nothing because it met the wake-up that stopping sends; two do not.
	for empty < 2 {
		if err == nil {
			err = raw.Read(take)
		}
		if err != nil {
			// The poller has no place for it: a thread waits instead, in slices.
			count = int(C.bhgo_take(queue, 100, &out[0], batch))
		}
		for i := 0; i < count; i++ {
			c.hand(rawEvent(out[i]))
		}
		switch {
		case count > 0:
			empty = 0
		case c.stopping.Load():
			empty++
		}
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

// add gives a receiver its tag.
func (c *core) add(to receiver) uint64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.lastTag++
	c.receivers[c.lastTag] = to
	return c.lastTag
}

func (c *core) remove(tag uint64) {
	c.mutex.Lock()
	delete(c.receivers, tag)
	c.mutex.Unlock()
}
