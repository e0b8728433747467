package bulkhead

/*
#include "bridge.h"
*/
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"sync"
	"time"
)

// Run is one operation in progress. Any goroutine may use it; of several that call Next each event
// goes to one. A run whose events nobody takes waits once 1 MiB of them are there.
type Run struct {
	state   *runState
	runtime *Runtime // kept while the run is
	awaited sync.Once
}

// Next waits for the next event. After the last: io.EOF where the operation succeeded (Result has
// what it said), else its *Fault, each time again.
func (run *Run) Next() (Event, error) {
	defer runtime.KeepAlive(run)
	e, have, _ := run.state.next(nil)
	if have {
		return e.take(), nil
	}
	if run.state.outcome != nil {
		return Event{}, run.state.outcome
	}
	return Event{}, io.EOF
}

// Events is for a range loop (Go 1.23): each event with a nil error, and a fault, where there is
// one, with an empty event as the last. Leaving the loop early leaves the run as it is.
func (run *Run) Events() func(yield func(Event, error) bool) {
	return func(yield func(Event, error) bool) {
		for {
			e, err := run.Next()
			if err == io.EOF || !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Wait drops what is still to come and returns the result, a JSON object, or the *Fault.
func (run *Run) Wait() (json.RawMessage, error) { return run.CopyTo(nil, nil) }

// CopyTo is Wait that writes the output of Stdout and Stderr as it comes; nil drops it. A writer's
// error cancels the run and is returned, after the run's end.
func (run *Run) CopyTo(stdout, stderr io.Writer) (json.RawMessage, error) {
	defer runtime.KeepAlive(run)
	var failed error
	for {
		e, have, _ := run.state.next(nil)
		if !have {
			break
		}
		to := stdout
		if e.stream == C.BH_STREAM_STDERR {
			to = stderr
		}
		if e.is() != EventOutput || e.stream > C.BH_STREAM_STDERR || to == nil || failed != nil {
			e.free()
			continue
		}
		data := e.bytes()
		e.free()
		if _, failed = to.Write(data); failed != nil {
			run.Cancel()
		}
	}
	if failed != nil {
		return nil, failed
	}
	return run.Result()
}

// Result is the outcome of a run that has ended; it does not wait. FailedPrecondition before that.
func (run *Run) Result() (json.RawMessage, error) {
	r := run.state
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !r.finished {
		return nil, &Fault{Code: FailedPrecondition, Message: "the run has not ended; Wait waits for that"}
	}
	return r.result, r.outcome
}

// Done is closed when the run has ended; events of it may still be there to read. Once it was called
// the garbage collector leaves the run alone until then.
func (run *Run) Done() <-chan struct{} {
	// Who waits holds the channel and perhaps nothing else, so something has to hold the run.
	run.awaited.Do(func() {
		go func() {
			<-run.state.ended
			runtime.KeepAlive(run)
		}()
	})
	return run.state.ended
}

// Cancel ends the run with Cancelled, unless it has ended. It does not wait.
func (run *Run) Cancel() {
	run.state.cancel()
	runtime.KeepAlive(run)
}

// Close cancels a run that has not ended and drops the events that nobody read. Who waits in Next
// or Write gets FailedPrecondition (reason "closed"). It never fails.
func (run *Run) Close() error {
	run.state.close()
	runtime.SetFinalizer(run, nil)
	return nil
}

// runState is the run as the pump knows it.
type runState struct {
	core   *core
	tag    uint64
	object handle        // bh_run, until the last event
	ready  chan struct{} // one token: events may be there
	room   chan struct{} // one token: input may fit
	ended  chan struct{} // closed with finished

	sending sync.Mutex // bh_run_send is [serial]

	mutex    sync.Mutex // guards what follows; result and outcome are fixed once finished
	events   []rawEvent
	finished bool
	cause    *Fault // why it was cancelled, where the library could not say it so well
	result   json.RawMessage
	outcome  error
}

func newRunState(c *core) (*runState, error) {
	r := &runState{core: c, ready: make(chan struct{}, 1), room: make(chan struct{}, 1),
		ended: make(chan struct{})}
	tag, err := c.add(r)
	r.tag = tag
	return r, err
}

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// arrived is called by the pump.
func (r *runState) arrived(e rawEvent) bool {
	switch e.is() {
	case eventRoom:
		e.free()
		signal(r.room)
		return false
	case eventResult:
		result := e.bytes()
		e.free()
		r.finish(result, nil)
		return true
	case eventFault:
		f := e.fault()
		e.free()
		r.finish(nil, f)
		return true
	}
	r.mutex.Lock()
	late := r.finished
	if !late {
		r.events = append(r.events, e)
	}
	r.mutex.Unlock()
	if late {
		e.free()
		return false
	}
	signal(r.ready)
	return false
}

// over is called when nothing will arrive any more.
func (r *runState) over(why *Fault) { r.finish(nil, why) }

// finish fixes the outcome, the first time. The library's handle is of no use any more.
func (r *runState) finish(result json.RawMessage, f *Fault) bool {
	r.mutex.Lock()
	if r.finished {
		r.mutex.Unlock()
		return false
	}
	r.finished, r.result = true, result
	if f != nil {
		if f.Code == Cancelled && r.cause != nil {
			f = r.cause
		}
		r.outcome = f
	}
	close(r.ended) // within the mutex: who has read the end finds the input gone
	r.mutex.Unlock()
	r.object.close()
	return true
}

// next waits for an event, which is then the caller's. Without one the run has ended and all were
// read; stopped: stop was closed first.
func (r *runState) next(stop <-chan struct{}) (e rawEvent, have, stopped bool) {
	for {
		r.mutex.Lock()
		if len(r.events) > 0 {
			e = r.events[0]
			r.events = r.events[1:]
			if more := len(r.events); more > 0 {
				signal(r.ready)
			} else {
				r.events = nil
			}
			r.mutex.Unlock()
			return e, true, false
		}
		finished := r.finished
		r.mutex.Unlock()
		if finished {
			return e, false, false
		}
		select {
		case <-r.ready:
		case <-r.ended:
		case <-stop:
			return e, false, true
		}
	}
}

func (r *runState) cancel() {
	if object := r.object.use(); object != nil {
		C.bh_run_cancel((*C.bh_run)(object))
		r.object.done()
	}
}

// contextEnded cancels. The library keeps the same deadline and says more about it, so it has a
// moment to come first; its clock may stand still, so the context's counts in the end.
func (r *runState) contextEnded(why error) {
	if errors.Is(why, context.DeadlineExceeded) {
		select {
		case <-r.ended:
			return
		case <-time.After(100 * time.Millisecond):
		}
		r.mutex.Lock()
		r.cause = contextFault(why)
		r.mutex.Unlock()
	}
	r.cancel()
}

func (r *runState) close() {
	r.core.remove(r.tag)
	r.finish(nil, closedFault("run"))
	r.mutex.Lock()
	rest := r.events
	r.events = nil
	r.mutex.Unlock()
	for i := range rest {
		rest[i].free()
	}
}
