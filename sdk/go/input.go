package bulkhead

/*
#include "bridge.h"
*/
import "C"

import (
	"io"
	"runtime"
)

// Write sends bytes to the run's input (WithInput) and waits until the run has taken them into its
// buffer; a Run is an io.Writer. Writers beside each other take turns. OutOfRange (reason
// "input_ended"): the run reads no more, or it has ended; n says how much it took before.
func (run *Run) Write(p []byte) (n int, err error) {
	defer runtime.KeepAlive(run)
	return run.state.write(p)
}

// CloseInput ends the input: the run reads its end after what was written. Twice is no error.
func (run *Run) CloseInput() error {
	defer runtime.KeepAlive(run)
	return run.state.endInput()
}

func (r *runState) write(p []byte) (n int, err error) {
	r.sending.Lock()
	defer r.sending.Unlock()
	for {
		took, err := r.send(p[n:])
		n += took
		if err != nil || n == len(p) {
			return n, err
		}
		select {
		case <-r.room:
		case <-r.ended:
		}
	}
}

// send offers bytes once. Without room it takes part of them, or none.
func (r *runState) send(p []byte) (int, error) {
	object := r.object.use()
	if object == nil {
		return 0, r.inputGone()
	}
	defer r.object.done()
	select {
	case <-r.ended: // the handle may outlive it by a moment
		return 0, r.inputGone()
	default:
	}
	var took C.size_t
	var f *C.bh_fault
	st := C.bhgo_run_send((*C.bh_run)(object), pointer(p), C.size_t(len(p)), &took, &f)
	return int(took), taken(st, f)
}

// inputGone says why there is nothing to send to.
func (r *runState) inputGone() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if f, ok := r.outcome.(*Fault); ok && f.Reason() == "closed" {
		return f
	}
	return fault(OutOfRange, "input_ended", "the run has ended and reads no input any more")
}

func (r *runState) endInput() error {
	r.sending.Lock()
	defer r.sending.Unlock()
	object := r.object.use()
	if object == nil {
		return nil // it has ended, and its input with it
	}
	defer r.object.done()
	var f *C.bh_fault
	st := C.bh_run_send_end((*C.bh_run)(object), &f)
	err := taken(st, f)
	if CodeOf(err) == OutOfRange {
		return nil
	}
	return err
}

// feed is WithInputFrom. What the reader cannot give ends the run: half an input is none.
func (r *runState) feed(from io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if _, gone := r.write(buffer[:n]); gone != nil {
				return
			}
		}
		if err == io.EOF {
			_ = r.endInput()
			return
		}
		if err != nil {
			r.mutex.Lock()
			r.cause = &Fault{Code: Cancelled, Message: "the run's input could not be read: " + err.Error(),
				Details: []byte(`{"reason":"cancelled"}`)}
			r.mutex.Unlock()
			r.cancel()
			return
		}
	}
}
