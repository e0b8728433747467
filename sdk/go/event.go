package bulkhead

/*
#include "bridge.h"
*/
import "C"

import (
	"time"
	"unsafe"
)

// EventKind says what an Event tells.
type EventKind int32

// What Run.Next gives. The last event of a run is no Event: it is what Next and Wait return.
const (
	EventOutput     EventKind = C.BH_EVENT_OUTPUT     // Data: bytes of Stream
	EventProgress   EventKind = C.BH_EVENT_PROGRESS   // Data: JSON; may be dropped on the way
	EventAttachment EventKind = C.BH_EVENT_ATTACHMENT // Data: bytes, with Name and Type
	EventItem       EventKind = C.BH_EVENT_ITEM       // Data: JSON, one element of a list or watch
)

// Those that the package answers itself.
const (
	eventResult   EventKind = C.BH_EVENT_RESULT
	eventFault    EventKind = C.BH_EVENT_FAULT
	eventRoom     EventKind = C.BH_EVENT_ROOM
	eventAsk      EventKind = C.BH_EVENT_ASK
	eventAskEnded EventKind = C.BH_EVENT_ASK_ENDED
)

// Streams of a run. 16 and above belong to the operation that documents them.
const (
	Stdout     int32 = C.BH_STREAM_STDOUT
	Stderr     int32 = C.BH_STREAM_STDERR
	StreamData int32 = C.BH_STREAM_DATA
	// StreamAttached and above: the bytes of one attachment each. An attachment above 64 MiB comes
	// without Data, with such a Stream; its bytes follow as EventOutput of that stream, and one
	// without bytes ends it.
	StreamAttached int32 = C.BH_STREAM_ATTACHED
)

// Event is one thing that happened to a run. It owns all it holds.
type Event struct {
	Kind   EventKind
	Stream int32     // of EventOutput, and of an EventAttachment whose bytes follow
	Name   string    // of EventAttachment
	Type   string    // the media type
	Data   []byte    // bytes or JSON, by Kind
	Time   time.Time // when it happened
}

// rawEvent is one that the library still owns: its bytes count against its run's room until free.
type rawEvent C.bhgo_event

func (e *rawEvent) is() EventKind { return EventKind(e.kind) }

func (e *rawEvent) free() {
	C.bh_event_free(e.event)
	e.event = nil
}

func (e *rawEvent) bytes() []byte { return bytesOf(e.data, e.data_size) }

func (e *rawEvent) title() string { return string(bytesOf(unsafe.Pointer(e.name), e.name_size)) }

func (e *rawEvent) media() string { return string(bytesOf(unsafe.Pointer(e._type), e.type_size)) }

// take copies it for the program and gives its room back.
func (e *rawEvent) take() Event {
	out := Event{Kind: e.is(), Stream: int32(e.stream), Name: e.title(), Type: e.media(),
		Data: e.bytes(), Time: time.Unix(0, int64(e.time_ns))}
	e.free()
	return out
}

// fault is that of an eventFault.
func (e *rawEvent) fault() *Fault {
	f := C.bh_event_fault(e.event)
	if f == nil {
		return &Fault{Code: Unknown, Message: "the library gave no reason"}
	}
	return faultFrom((*C.bh_fault)(f))
}
