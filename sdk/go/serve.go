package bulkhead

/*
#include "bridge.h"
*/
import "C"

import (
	"context"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// Tool is one that the program offers; the keys of abi/schemas/tool.json.
type Tool struct {
	Name         string           `json:"name"` // 1 to 128 of A-Z a-z 0-9 _ - .
	Title        string           `json:"title,omitempty"`
	Description  string           `json:"description"`
	InputSchema  any              `json:"input_schema"` // JSON schema; nil: an object without keys
	OutputSchema any              `json:"output_schema,omitempty"`
	Annotations  *ToolAnnotations `json:"annotations,omitempty"`
	// Attachments: callers may send some. Without it a call that brings any is refused.
	Attachments bool `json:"-"`
}

// ToolAnnotations are hints for whoever decides about calls; nil means not said.
type ToolAnnotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"read_only,omitempty"`
	Destructive *bool  `json:"destructive,omitempty"`
	Idempotent  *bool  `json:"idempotent,omitempty"`
	OpenWorld   *bool  `json:"open_world,omitempty"`
}

// Handler answers one ask, on a goroutine of its own. ctx comes from that of Serve and ends when
// nobody waits for the answer any more. What it returns:
//
// Of a tool, a string is one text; a ToolResult is itself; json.RawMessage or []byte is the text of
// a tool result (abi/schemas/tool_result.json); anything else is its JSON, as text and as structured
// content. Of a question, the value's JSON is the answer.
//
// An error fails the ask: a *Fault as it is, a context's with Cancelled or DeadlineExceeded, others
// with Unknown. Of a *Fault the library sends a Code that it does not know as Unknown, and leaves out
// Details that are no JSON object. A panic, also one in the value's MarshalJSON or in the error's own
// methods, is Internal, reason "exception"; the program goes on, and a handler that wants the stack
// recovers itself. A nil *Fault inside an error is Internal too: return nil itself. For a tool that ran and failed, return a ToolResult with IsError.
type Handler func(ctx context.Context, ask *Ask) (any, error)

// Server is what Serve gives. It answers until Close, the end of Serve's context or of the runtime;
// holding on to it is not needed.
type Server struct {
	state *serverState
}

// Serve offers a tool to this session's persona or, from Operator, to all. It returns at once.
func (s *Session) Serve(ctx context.Context, tool Tool, handler Handler) (*Server, error) {
	if tool.InputSchema == nil {
		tool.InputSchema = map[string]any{"type": "object"}
	}
	what := map[string]any{"tool": tool}
	if tool.Attachments {
		what["attachments"] = true
	}
	return s.serve(ctx, what, handler, true)
}

// What ServeQuestions can answer.
const (
	Approval = "approval"     // may this be done?
	Judge    = "policy.judge" // what does policy say to this?
)

// ServeQuestions takes the host's questions of one kind for this session's persona or, from
// Operator, for all. It returns at once.
func (s *Session) ServeQuestions(ctx context.Context, kind string, handler Handler) (*Server, error) {
	return s.serve(ctx, map[string]any{"answers": kind}, handler, false)
}

func (s *Session) serve(ctx context.Context, what map[string]any, handler Handler, isTool bool) (*Server, error) {
	if handler == nil {
		return nil, fault(InvalidArgument, "null", "a handler is needed")
	}
	if err := ctx.Err(); err != nil {
		return nil, contextFault(err)
	}
	text, err := jsonOf(what, "what is served")
	if err != nil {
		return nil, err
	}
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
	v := &serverState{runtime: s.runtime, handler: handler, isTool: isTool,
		asks: make(map[uint64]*Ask), early: make(map[uint64]*early)}
	v.context, v.cancel = context.WithCancel(valuesOf{ctx})
	if v.tag, err = c.add(v); err != nil {
		v.cancel()
		return nil, err
	}
	var server *C.bh_server
	var f *C.bh_fault
	st := C.bh_serve((*C.bh_session)(session), pointer(text), C.size_t(len(text)),
		(*C.bh_queue)(queue), C.uint64_t(v.tag), &server, &f)
	err = taken(st, f)
	if err != nil {
		c.remove(v.tag)
		v.cancel()
		return nil, err
	}
	v.object.set(unsafe.Pointer(server), func(p unsafe.Pointer) { C.bh_server_free((*C.bh_server)(p)) })
	if ctx.Done() != nil {
		go func() {
			select {
			case <-ctx.Done():
				v.close()
			case <-v.context.Done():
			}
		}()
	}
	runtime.KeepAlive(s)
	return &Server{state: v}, nil
}

// Close withdraws the offer: open asks fail with Unavailable, and their handlers' contexts end. It
// waits for nobody and never fails.
func (v *Server) Close() error {
	v.state.close()
	return nil
}

// valuesOf is a context's values without its end: the server is withdrawn first, and only then do its
// handlers hear of it, so that none of them answers in between.
type valuesOf struct{ context.Context }

func (valuesOf) Deadline() (until time.Time, ok bool) { return }
func (valuesOf) Done() <-chan struct{}                { return nil }
func (valuesOf) Err() error                           { return nil }

// early is what came for an ask before it: the caller's attachments.
type early struct {
	done    []Attachment
	streams map[int32]int // of those whose bytes follow: their place in done
}

// serverState is the server as the pump knows it.
type serverState struct {
	runtime *Runtime
	object  handle
	tag     uint64
	handler Handler
	isTool  bool
	context context.Context
	cancel  context.CancelFunc

	early map[uint64]*early // of the pump alone

	mutex  sync.Mutex
	closed bool
	asks   map[uint64]*Ask // those that a handler is at
}

// arrived is called by the pump. The events are copied: an asker waits for none of our time.
func (v *serverState) arrived(e rawEvent) bool {
	id := uint64(e.id)
	switch e.is() {
	case EventAttachment, EventOutput:
		v.keep(id, &e)
	case eventAsk:
		v.begin(id, &e)
	case eventAskEnded:
		delete(v.early, id)
		if ask := v.open(id); ask != nil {
			ask.cancel()
		}
	case eventRoom:
		if ask := v.open(id); ask != nil {
			signal(ask.room)
		}
	}
	e.free()
	return false
}

func (v *serverState) keep(id uint64, e *rawEvent) {
	came := v.early[id]
	if came == nil {
		came = &early{streams: make(map[int32]int)}
		v.early[id] = came
	}
	stream := int32(e.stream)
	if e.is() == EventAttachment {
		if stream >= StreamAttached {
			came.streams[stream] = len(came.done)
		}
		came.done = append(came.done, Attachment{Name: e.title(), Type: e.media(), Data: e.bytes()})
	} else if at, ok := came.streams[stream]; ok {
		came.done[at].Data = append(came.done[at].Data, e.bytes()...)
	}
}

func (v *serverState) begin(id uint64, e *rawEvent) {
	object := C.bh_event_ask(e.event)
	if object == nil {
		return
	}
	ask := &Ask{server: v, ID: uint64(C.bh_ask_id(object)), Name: e.title(), Args: e.bytes(), room: make(chan struct{}, 1)}
	if came := v.early[id]; came != nil {
		ask.Attachments = came.done
		delete(v.early, id)
	}
	ask.object.set(unsafe.Pointer(object), func(p unsafe.Pointer) { C.bh_ask_free((*C.bh_ask)(p)) })
	ask.context, ask.cancel = context.WithCancel(v.context)
	v.mutex.Lock()
	closed := v.closed
	if !closed {
		v.asks[id] = ask
	}
	v.mutex.Unlock()
	if closed {
		ask.end()
		return
	}
	go ask.run()
}

func (v *serverState) open(id uint64) *Ask {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.asks[id]
}

func (v *serverState) over(*Fault) { v.close() }

func (v *serverState) close() {
	v.mutex.Lock()
	v.closed = true
	v.mutex.Unlock()
	v.runtime.core.remove(v.tag)
	v.object.close()
	v.cancel()
}
