package bulkhead

/*
#include "bridge.h"
*/
import "C"

import (
	"context"
	"encoding/json"
	"runtime"
	"unsafe"
)

// Session is one persona's view of a runtime: what it makes is seen by no other persona.
type Session struct {
	runtime *Runtime // kept while the session is
	object  handle
}

// Session gives the view of one persona, a name of [a-z0-9-]{1,40}.
func (rt *Runtime) Session(persona string) (*Session, error) {
	return rt.newSession(map[string]any{"persona": persona})
}

// Operator gives the view of who runs the program: it sees logs, audit and all personas, and what it
// serves is there for all of them.
func (rt *Runtime) Operator() (*Session, error) {
	return rt.newSession(map[string]any{"operator": true})
}

func (rt *Runtime) newSession(config map[string]any) (*Session, error) {
	text, err := jsonOf(config, "session")
	if err != nil {
		return nil, err
	}
	object := rt.core.runtime.use()
	if object == nil {
		return nil, closedFault("runtime")
	}
	defer rt.core.runtime.done()
	var session *C.bh_session
	var f *C.bh_fault
	st := C.bh_session_new((*C.bh_runtime)(object), pointer(text), C.size_t(len(text)), &session, &f)
	err = taken(st, f)
	if err != nil {
		return nil, err
	}
	return wrapSession(rt, session), nil
}

func wrapSession(rt *Runtime, session *C.bh_session) *Session {
	out := &Session{runtime: rt}
	out.object.set(unsafe.Pointer(session), func(p unsafe.Pointer) { C.bh_session_free((*C.bh_session)(p)) })
	runtime.SetFinalizer(out, func(s *Session) { s.object.close() })
	return out
}

// Close gives up the view. What was started or is served with it goes on. It never fails.
func (s *Session) Close() error {
	s.object.close()
	return nil
}

// Call runs one operation to its end and returns its result. args is the operation's JSON: nil for
// none, a []byte or json.RawMessage as it is, anything else by encoding/json, where a string that is
// not UTF-8 is refused (InvalidArgument, reason "json_utf8"): JSON would carry another one. Output, items and
// attachments on the way are dropped; Items and Start give them. When ctx ends, the operation is
// cancelled and Call waits for its end.
func (s *Session) Call(ctx context.Context, operation string, args any, options ...Option) (json.RawMessage, error) {
	_, result, err := s.collect(ctx, operation, args, options, false)
	return result, err
}

// Items is Call for operations that list something: their items, in order, beside the result. What
// came before a failure is returned with it.
func (s *Session) Items(ctx context.Context, operation string, args any, options ...Option) ([]json.RawMessage, json.RawMessage, error) {
	return s.collect(ctx, operation, args, options, true)
}

func (s *Session) collect(ctx context.Context, operation string, args any, options []Option, keep bool) ([]json.RawMessage, json.RawMessage, error) {
	r, err := s.start(ctx, operation, args, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	var items []json.RawMessage
	stop := ctx.Done() // this goroutine watches the context itself
	for {
		e, have, stopped := r.next(stop)
		switch {
		case stopped:
			stop = nil
			r.contextEnded(ctx.Err())
		case !have:
			runtime.KeepAlive(s)
			return items, r.result, r.outcome
		default:
			if keep && e.is() == EventItem {
				items = append(items, e.bytes())
			}
			e.free()
		}
	}
}

// Start begins one operation; its events are read from the Run. args is as for Call. When ctx ends,
// whoever reads or not, the run is cancelled. Read a run to its end or close it.
func (s *Session) Start(ctx context.Context, operation string, args any, options ...Option) (*Run, error) {
	r, err := s.start(ctx, operation, args, options)
	if err != nil {
		return nil, err
	}
	if done := ctx.Done(); done != nil {
		go func() {
			select {
			case <-done:
				r.contextEnded(ctx.Err())
			case <-r.ended:
			}
		}()
	}
	out := &Run{state: r, runtime: s.runtime}
	runtime.SetFinalizer(out, func(run *Run) { run.state.close() })
	runtime.KeepAlive(s)
	return out, nil
}

// Do is Call for what is over in a moment (operations marked "quick"): it runs on the calling
// thread, which it holds, with less to pay than Call. The context's deadline counts; that it is
// cancelled is noticed before the start alone.
func (s *Session) Do(ctx context.Context, operation string, args any, options ...Option) (json.RawMessage, error) {
	o := collectOptions(options)
	if o.input || o.from != nil {
		return nil, fault(InvalidArgument, "needs_start", "a run that takes input needs Start: nobody could send it meanwhile")
	}
	request, err := o.request(ctx, operation, args)
	if err != nil {
		return nil, err
	}
	defer C.bh_request_free(request)
	c := s.runtime.core
	rt := c.runtime.use()
	if rt == nil {
		return nil, closedFault("runtime")
	}
	defer c.runtime.done()
	session := s.object.use()
	if session == nil {
		return nil, closedFault("session")
	}
	defer s.object.done()
	queue, err := c.takeSpare(rt)
	if err != nil {
		return nil, err
	}
	defer c.giveSpare(queue)
	var f *C.bh_fault
	st := C.bh_do((*C.bh_session)(session), request, queue, 1, &f)
	told := taken(st, f)
	result, err := drain(queue)
	if told != nil {
		return nil, told
	}
	return result, err
}

// drain empties a queue after bh_do: the outcome is the last event. Past it nothing is asked for, since
// a runtime that was closed meanwhile would answer with that.
func drain(queue *C.bh_queue) (json.RawMessage, error) {
	for {
		var e C.bhgo_event
		count, failed := takeFrom(queue, 0, &e, 1)
		if failed != nil {
			return nil, failed
		}
		if count == 0 {
			return nil, &Fault{Code: Unknown, Message: "the operation ended without a last event"}
		}
		raw := rawEvent(e)
		switch raw.is() {
		case eventResult:
			result := raw.bytes()
			raw.free()
			return result, nil
		case eventFault:
			f := raw.fault()
			raw.free()
			return nil, f
		}
		raw.free()
	}
}

func (s *Session) start(ctx context.Context, operation string, args any, options []Option) (*runState, error) {
	o := collectOptions(options)
	request, err := o.request(ctx, operation, args)
	if err != nil {
		return nil, err
	}
	defer C.bh_request_free(request)
	c := s.runtime.core
	queue := c.queue.use()
	if queue == nil {
		return nil, closedFault("runtime")
	}
	defer c.queue.done()
	session := s.object.use()
	if session == nil {
		return nil, closedFault("session")
	}
	defer s.object.done()
	r, err := newRunState(c)
	if err != nil {
		return nil, err
	}
	var run *C.bh_run
	var f *C.bh_fault
	st := C.bh_start((*C.bh_session)(session), request, (*C.bh_queue)(queue), C.uint64_t(r.tag), &run, &f)
	err = taken(st, f)
	if err != nil {
		c.remove(r.tag)
		return nil, err
	}
	// It may have ended already, and then it is freed here.
	r.object.set(unsafe.Pointer(run), func(p unsafe.Pointer) { C.bh_run_free((*C.bh_run)(p)) })
	if o.from != nil {
		go r.feed(o.from)
	}
	return r, nil
}
