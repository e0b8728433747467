package bulkhead

/*
#include "bridge.h"
*/
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Ask is one question that a Handler answers by what it returns. It is over when the handler has
// returned; what is called then, or after nobody waits any more, is OutOfRange ("ask_ended").
type Ask struct {
	ID          uint64          // unique in the runtime
	Name        string          // of what is asked: the tool's
	Args        json.RawMessage // they satisfy the tool's schema
	Attachments []Attachment    // of the caller

	server  *serverState
	object  handle
	context context.Context
	cancel  context.CancelFunc
	room    chan struct{}

	giving sync.Mutex // emit and attach are [serial]
	mutex  sync.Mutex
	lent   []*Session
}

// Emit sends output to the asker before the answer, all of p, waiting while the asker is slow.
func (a *Ask) Emit(stream int32, p []byte) (n int, err error) {
	a.giving.Lock()
	defer a.giving.Unlock()
	for {
		took, err := a.emit(stream, p[n:])
		n += took
		if err != nil || n == len(p) {
			return n, err
		}
		if err := a.waitRoom(); err != nil {
			return n, err
		}
	}
}

// Writer is Emit as an io.Writer.
func (a *Ask) Writer(stream int32) io.Writer { return askWriter{a, stream} }

type askWriter struct {
	ask    *Ask
	stream int32
}

func (w askWriter) Write(p []byte) (int, error) { return w.ask.Emit(w.stream, p) }

// Attach sends bytes that the result names, waiting while the asker is slow.
func (a *Ask) Attach(what Attachment) error {
	a.giving.Lock()
	defer a.giving.Unlock()
	for {
		err := a.attach(what)
		var f *Fault
		if !errors.As(err, &f) || f.Reason() != "ask_full" {
			return err
		}
		if err := a.waitRoom(); err != nil {
			return err
		}
	}
}

// Session lends a session with the asker's rights, deadline and cancellation, and no more. It is
// closed when the handler has returned, and what runs with it ends then.
func (a *Ask) Session() (*Session, error) {
	object := a.object.use()
	if object == nil {
		return nil, askEnded()
	}
	defer a.object.done()
	var session *C.bh_session
	var f *C.bh_fault
	st := C.bh_ask_session((*C.bh_ask)(object), &session, &f)
	if err := taken(st, f); err != nil {
		return nil, err
	}
	out := wrapSession(a.server.runtime, session)
	a.mutex.Lock()
	a.lent = append(a.lent, out)
	a.mutex.Unlock()
	return out, nil
}

func askEnded() error {
	return fault(OutOfRange, "ask_ended", "nobody waits for this answer any more")
}

func (a *Ask) waitRoom() error {
	select {
	case <-a.room:
		return nil
	case <-a.context.Done():
		return contextFault(a.context.Err())
	}
}

func (a *Ask) emit(stream int32, p []byte) (int, error) {
	object := a.object.use()
	if object == nil {
		return 0, askEnded()
	}
	defer a.object.done()
	var took C.size_t
	var f *C.bh_fault
	st := C.bhgo_ask_emit((*C.bh_ask)(object), C.int32_t(stream), pointer(p), C.size_t(len(p)), &took, &f)
	return int(took), taken(st, f)
}

func (a *Ask) attach(what Attachment) error {
	object := a.object.use()
	if object == nil {
		return askEnded()
	}
	defer a.object.done()
	name, media := []byte(what.Name), []byte(what.Type)
	var f *C.bh_fault
	st := C.bhgo_ask_attach((*C.bh_ask)(object), pointer(name), C.size_t(len(name)),
		pointer(media), C.size_t(len(media)), pointer(what.Data), C.size_t(len(what.Data)), &f)
	return taken(st, f)
}

// run is the ask's goroutine. A handler that leaves by runtime.Goexit has not answered.
func (a *Ask) run() {
	defer a.end()
	text, f := a.answer()
	if f == nil {
		err := a.result(text)
		if err == nil || CodeOf(err) == OutOfRange {
			return
		}
		f = faultOf(err)
	}
	a.fail(f)
}

// answer is all that runs code of the program's: the handler, its value's MarshalJSON, its error's
// Error and Is. Whichever panics has failed the ask, also by panic(nil), which recover does not tell
// from nothing before Go 1.21.
func (a *Ask) answer() (text []byte, f *Fault) {
	returned := false
	defer func() {
		if what := recover(); !returned {
			text, f = nil, fault(Internal, "exception", "the handler of "+a.Name+" panicked: "+panicText(what))
		}
	}()
	answer, err := a.server.handler(a.context, a)
	if err == nil {
		text, err = a.server.text(answer)
	}
	if err != nil {
		f = faultOf(err)
	}
	returned = true
	return text, f
}

// panicText is what was given to panic. fmt catches a String that panics, but not one that panics
// with another of its kind.
func panicText(what any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("a %T that cannot be printed", what)
		}
	}()
	return fmt.Sprint(what)
}

// result gives the answer; the library refuses what is not JSON.
func (a *Ask) result(text []byte) error {
	object := a.object.use()
	if object == nil {
		return askEnded()
	}
	defer a.object.done()
	var f *C.bh_fault
	st := C.bh_ask_result((*C.bh_ask)(object), pointer(text), C.size_t(len(text)), &f)
	return taken(st, f)
}

func (a *Ask) fail(told *Fault) {
	object := a.object.use()
	if object == nil {
		return
	}
	defer a.object.done()
	message := []byte(told.Message)
	var f *C.bh_fault
	st := C.bh_ask_fail((*C.bh_ask)(object), C.bh_status(told.Code), pointer(message), C.size_t(len(message)),
		pointer(told.Details), C.size_t(len(told.Details)), &f)
	_ = taken(st, f) // too late: then nobody wants to know
}

// faultOf is a handler's error as the asker gets it.
func faultOf(err error) *Fault {
	var f *Fault
	switch found := errors.As(err, &f); {
	case found && f == nil:
		return fault(Internal, "exception", "the handler returned an error that holds a nil *Fault; where nothing failed it is to return nil itself")
	case found && f.Code != OK:
		return f
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return contextFault(err)
	}
	return &Fault{Code: Unknown, Message: err.Error()}
}

// end lets go of everything that hangs on the ask.
func (a *Ask) end() {
	a.server.mutex.Lock()
	delete(a.server.asks, a.ID)
	a.server.mutex.Unlock()
	a.object.close()
	a.cancel()
	a.mutex.Lock()
	lent := a.lent
	a.lent = nil
	a.mutex.Unlock()
	for _, session := range lent {
		session.Close()
	}
}
