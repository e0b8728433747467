package bulkhead

/*
#include <bulkhead/host.h>
*/
import "C"

import (
	"encoding/json"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Runtime is the library with its plugins and its configuration. A program needs one.
type Runtime struct {
	core *core
}

// core is what goes on without the program's handle: the pump refers to it, never to Runtime, so
// that a Runtime which is forgotten can be found.
type core struct {
	runtime  handle
	queue    handle
	stopping atomic.Bool
	pumped   chan struct{}

	closing sync.Mutex // one at a time
	closed  bool

	mutex     sync.Mutex // guards what follows
	receivers map[uint64]receiver
	lastTag   uint64
	lost      *Fault        // why the queue gives nothing any more
	spare     []*C.bh_queue // of Do, empty
	noSpare   bool
}

// New reads the configuration and the plugins' manifests. config is the runtime's JSON: nil for the
// defaults, a []byte or json.RawMessage as it is, anything else by encoding/json. Its keys are
// "version" (1, needed), "data_root", "config_dir", "plugins", "isolation", "files", "images",
// "sandbox", "toolsets", "defaults", "workers" and "log"; what is wrong with one is said by name.
func New(config any) (*Runtime, error) {
	if err := fits(); err != nil {
		return nil, err
	}
	if config == nil {
		config = json.RawMessage(`{"version":1}`)
	}
	text, err := jsonOf(config, "config")
	if err != nil {
		return nil, err
	}
	var rt *C.bh_runtime
	var f *C.bh_fault
	st := C.bh_runtime_new(pointer(text), C.size_t(len(text)), &rt, &f)
	if err := taken(st, f); err != nil {
		return nil, err
	}
	c := &core{pumped: make(chan struct{}), receivers: make(map[uint64]receiver)}
	c.runtime.set(unsafe.Pointer(rt), func(p unsafe.Pointer) { C.bh_runtime_free((*C.bh_runtime)(p)) })
	queue, poll, err := openQueue(rt)
	if err != nil {
		c.runtime.close()
		return nil, err
	}
	c.queue.set(unsafe.Pointer(queue), freeQueue)
	go c.pump(queue, poll)
	out := &Runtime{core: c}
	runtime.SetFinalizer(out, func(rt *Runtime) { go func() { _ = rt.core.close(closeTime) }() })
	return out, nil
}

const closeTime = 10 * time.Second

// Close is CloseWithin(10 * time.Second).
func (rt *Runtime) Close() error { return rt.CloseWithin(closeTime) }

// CloseWithin stops all runs, ends the servers and closes the plugins; what still waits for a run
// gets its fault. DeadlineExceeded (reason "stuck"): a plugin did not come back in time; the runtime
// starts nothing any more, and CloseWithin may be called again. After success it returns nil.
// It holds one thread of the system while it waits.
func (rt *Runtime) CloseWithin(timeout time.Duration) error {
	err := rt.core.close(timeout)
	if err == nil {
		runtime.SetFinalizer(rt, nil)
	}
	runtime.KeepAlive(rt)
	return err
}

func (c *core) close(timeout time.Duration) error {
	c.closing.Lock()
	defer c.closing.Unlock()
	if c.closed {
		return nil
	}
	object := c.runtime.use()
	var f *C.bh_fault
	st := C.bh_runtime_close((*C.bh_runtime)(object), milliseconds32(timeout), &f)
	err := taken(st, f)
	c.runtime.done()
	if err != nil {
		return err
	}
	c.closed = true
	c.stopping.Store(true)
	C.bh_queue_wake((*C.bh_queue)(c.queue.use()))
	c.queue.done()
	<-c.pumped
	c.queue.close()
	c.runtime.close()

	c.mutex.Lock()
	spare := c.spare
	c.spare, c.noSpare = nil, true
	c.mutex.Unlock()
	c.over(closedFault("runtime"))
	for _, queue := range spare {
		C.bh_queue_free(queue)
	}
	return nil
}

// takeSpare gives a queue of its own for one Do; object is the runtime in use.
func (c *core) takeSpare(object unsafe.Pointer) (*C.bh_queue, error) {
	c.mutex.Lock()
	if last := len(c.spare) - 1; last >= 0 {
		queue := c.spare[last]
		c.spare = c.spare[:last]
		c.mutex.Unlock()
		return queue, nil
	}
	c.mutex.Unlock()
	var queue *C.bh_queue
	var f *C.bh_fault
	st := C.bh_queue_new((*C.bh_runtime)(object), &queue, &f)
	err := taken(st, f)
	return queue, err
}

func (c *core) giveSpare(queue *C.bh_queue) {
	c.mutex.Lock()
	keep := !c.noSpare && len(c.spare) < 64
	if keep {
		c.spare = append(c.spare, queue)
	}
	c.mutex.Unlock()
	if !keep {
		C.bh_queue_free(queue)
	}
}

func openQueue(rt *C.bh_runtime) (*C.bh_queue, *os.File, error) {
	var queue *C.bh_queue
	var f *C.bh_fault
	st := C.bh_queue_new(rt, &queue, &f)
	if err := taken(st, f); err != nil {
		return nil, nil, err
	}
	poll, err := openPoll(queue)
	if err != nil {
		C.bh_queue_free(queue)
		return nil, nil, err
	}
	return queue, poll, nil
}

func freeQueue(p unsafe.Pointer) { C.bh_queue_free((*C.bh_queue)(p)) }

// jsonOf is a value as the text that the library takes; nil is the empty object.
func jsonOf(value any, what string) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return []byte("{}"), nil
	case json.RawMessage:
		return v, nil
	case []byte:
		return v, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fault(InvalidArgument, "json", what+" cannot be written as JSON: "+err.Error())
	}
	return text, kept(text, value, what)
}

// milliseconds rounds up, so that nothing ends before its time, but for the longest there is.
func milliseconds(d time.Duration) int64 {
	const most = math.MaxInt64 / int64(time.Millisecond)
	switch ms := int64(d / time.Millisecond); {
	case d <= 0:
		return 0
	case d%time.Millisecond == 0 || ms == most:
		return ms
	default:
		return ms + 1
	}
}

func milliseconds32(d time.Duration) C.int32_t {
	ms := milliseconds(d)
	if ms > math.MaxInt32 {
		ms = math.MaxInt32
	}
	return C.int32_t(ms)
}
