package bulkhead

import (
	"sync"
	"unsafe"
)

// handle guards one object of the library: functions marked [last] come when no other call on it
// runs, and none comes after. Closing never waits; who still uses it frees it.
type handle struct {
	mutex  sync.Mutex
	object unsafe.Pointer // nil before set and after the last use
	free   func(unsafe.Pointer)
	users  int
	closed bool
}

// set gives it its object. Where it was closed before, the object is freed at once.
func (h *handle) set(object unsafe.Pointer, free func(unsafe.Pointer)) {
	h.mutex.Lock()
	if !h.closed {
		h.object, h.free = object, free
		h.mutex.Unlock()
		return
	}
	h.mutex.Unlock()
	free(object)
}

// use gives the object for one call; done ends it. nil: there is none, and no done.
func (h *handle) use() unsafe.Pointer {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.closed || h.object == nil {
		return nil
	}
	h.users++
	return h.object
}

func (h *handle) done() {
	h.mutex.Lock()
	h.users--
	h.freeUnused()
}

// close frees the object, now or after the calls that use it. True the first time.
func (h *handle) close() bool {
	h.mutex.Lock()
	if h.closed {
		h.mutex.Unlock()
		return false
	}
	h.closed = true
	h.freeUnused()
	return true
}

// freeUnused gives up the mutex: what _free sets off may come back to this handle.
func (h *handle) freeUnused() {
	object, free := h.object, h.free
	if !h.closed || h.users > 0 || object == nil {
		h.mutex.Unlock()
		return
	}
	h.object = nil
	h.mutex.Unlock()
	free(object)
}
