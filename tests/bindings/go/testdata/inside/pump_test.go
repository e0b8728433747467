// Beside the package's own files, where run.py puts it: what the library cannot be made to do at a
// given moment.
package bulkhead

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func set[T ~int32](to *T, value int32) { *to = T(value) }

func event(tag uint64, kind EventKind, stream int32, data string) rawEvent {
	var e rawEvent
	setTag(&e.tag, tag)
	setTag(&e.id, tag)
	set(&e.kind, int32(kind))
	set(&e.stream, stream)
	if bytes := []byte(data); len(bytes) > 0 {
		e.data = unsafe.Pointer(&bytes[0])
		setTag(&e.data_size, uint64(len(bytes)))
	}
	return e
}

func setTag[T ~uint64 | ~uint32](to *T, value uint64) { *to = T(value) }

func newCore() *core { return &core{pumped: make(chan struct{}), receivers: make(map[uint64]receiver)} }

func begun(t *testing.T, c *core) *runState {
	t.Helper()
	r, err := newRunState(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestInsideAQueueThatFails(t *testing.T) {
	c := newCore()
	r := begun(t, c)
	broken := fault(ResourceExhausted, "memory", "no memory for an event")
	looks, ended := 0, make(chan struct{})
	go func() {
		c.handOut(func() ([]rawEvent, error) { looks++; return nil, broken })
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the pump goes on with a queue that gives nothing but errors")
	}
	if looks < 2 {
		t.Error("given up at the first error")
	}
	if _, have, _ := r.next(nil); have || r.outcome != error(broken) {
		t.Error(have, r.outcome)
	}
	if _, err := newRunState(c); err != error(broken) {
		t.Error(err)
	}
}

func TestInsideAQueueThatFailsForAMoment(t *testing.T) {
	c := newCore()
	r := begun(t, c)
	looks := 0
	c.handOut(func() ([]rawEvent, error) {
		switch looks++; {
		case looks%(lastTry/2) != 0:
			return nil, errors.New("not now")
		case looks < 3*lastTry:
			return []rawEvent{event(r.tag, EventOutput, 1, "x")}, nil
		}
		c.stopping.Store(true)
		return []rawEvent{event(r.tag, eventResult, 0, "{}")}, closedFault("runtime")
	})
	if result, err := r.result, r.outcome; err != nil || string(result) != "{}" || len(r.events) < 4 {
		t.Error(err, string(result), len(r.events))
	}
}

// The wake-up of closing may be what a look met: what arrived behind it is handed out all the same.
func TestInsideTheLastEventsAreHandedOut(t *testing.T) {
	c := newCore()
	r := begun(t, c)
	c.stopping.Store(true)
	looks := 0
	c.handOut(func() ([]rawEvent, error) {
		if looks++; looks == 2 {
			return []rawEvent{event(r.tag, eventResult, 0, "{}")}, nil
		}
		return nil, nil
	})
	if !r.finished || looks != 4 {
		t.Errorf("%v after %d looks", r.finished, looks)
	}
}

func TestInsideAnErrorOfTheQueueIsHandedOn(t *testing.T) {
	out, none := batchOf(1)
	count, err := takeFrom(none, 0, out, 1)
	if count != 0 || CodeOf(err) != InvalidArgument || !strings.Contains(err.Error(), "q") {
		t.Error(count, err)
	}
	if _, err := drain(none); CodeOf(err) != InvalidArgument {
		t.Error(err)
	}
}

func TestInsideAttachmentsWhoseBytesFollow(t *testing.T) {
	v := &serverState{early: make(map[uint64]*early), asks: make(map[uint64]*Ask)}
	for _, e := range []rawEvent{
		event(7, EventAttachment, StreamAttached, ""), event(7, EventAttachment, 0, "whole"),
		event(7, EventAttachment, StreamAttached+1, ""), event(7, EventOutput, StreamAttached, "ab"),
		event(7, EventOutput, StreamAttached+1, "1"), event(7, EventOutput, StreamAttached, "cd"),
		event(7, EventOutput, StreamAttached+2, "nobody's"), event(7, EventOutput, StreamAttached, ""),
		event(8, EventAttachment, 0, "another's"),
	} {
		if v.arrived(e) {
			t.Error("a server's event is never the last")
		}
	}
	got := ""
	for _, a := range v.early[7].done {
		got += string(a.Data) + ";"
	}
	if got != "abcd;whole;1;" || len(v.early) != 2 {
		t.Errorf("%q of %d", got, len(v.early))
	}
	v.arrived(event(7, eventAskEnded, 0, "")) // it ended before it was asked
	if _, left := v.early[7]; left || len(v.early) != 1 {
		t.Error("the attachments of an ask that has ended are kept")
	}
}
