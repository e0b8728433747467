package bindings

import (
	"bulkhead"
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestARuntimeClosedByItsOwnHandler(t *testing.T) {
	rt, s := opened(t)
	closed, late := make(chan error, 1), make(chan error, 8)
	serve(t, s, ctx, tool("close"), func(c context.Context, ask *bulkhead.Ask) (any, error) {
		lent, err := ask.Session()
		if err != nil {
			return nil, err
		}
		closed <- rt.Close()
		<-c.Done()
		_, err = lent.Call(ctx, "host.inspect", nil)
		late <- err
		_, err = lent.Start(ctx, "host.inspect", nil)
		late <- err
		_, err = ask.Session()
		late <- err
		_, err = ask.Emit(bulkhead.Stdout, []byte("x"))
		late <- err
		late <- ask.Attach(bulkhead.Attachment{Name: "a", Type: "a/b"})
		return "too late", nil
	})
	_, err := call(s, ctx, "close", nil)
	is(t, err, bulkhead.Cancelled, "cancelled")
	if err := soon(t, closed, "the end of Close"); err != nil {
		t.Error(err)
	}
	for i := 0; i < 5; i++ {
		if err := soon(t, late, "an answer"); err == nil {
			t.Error("something works after the end")
		}
	}
}

func TestACloseThatHasNoTime(t *testing.T) {
	rt, s := opened(t)
	run := start(t, s, ctx, sh("echo up; sleep 60"))
	for e, err := run.Next(); e.Kind != bulkhead.EventOutput; e, err = run.Next() {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := rt.CloseWithin(0); err != nil {
		is(t, err, bulkhead.DeadlineExceeded, "stuck")
	}
	_, err := s.Call(ctx, "host.inspect", nil)
	is(t, err, bulkhead.FailedPrecondition, "closed")
	_, err = run.Wait()
	is(t, err, bulkhead.Cancelled, "cancelled")
	if err := rt.CloseWithin(patience); err != nil {
		t.Error(err)
	}
}

func TestDeadlinesBeyondAllMeasure(t *testing.T) {
	_, s := opened(t)
	c, stop := context.WithDeadline(ctx, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	defer stop()
	if _, err := s.Call(c, "host.inspect", nil, bulkhead.WithTimeout(1<<63-1)); err != nil {
		t.Error(err)
	}
}

func TestNoDescriptorsLeft(t *testing.T) {
	_, s := opened(t)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)
	for few, most := uint64(0), uint64(descriptors(t)+12); few < most; few += 3 {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: few, Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		rt, err := bulkhead.New(nil)
		if err == nil {
			err = rt.Close()
		}
		if _, failed := s.Call(ctx, "host.inspect", nil); failed != nil {
			err = failed
		}
		var f *bulkhead.Fault
		if err != nil && (!errors.As(err, &f) || f.Message == "") {
			t.Errorf("with %d descriptors: %v", few, err)
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if result, err := s.Call(ctx, "sandbox.exec", argv("true")); err != nil || field(t, result, "exit", "code") != 0.0 {
		t.Error(err)
	}
}

func TestLargeThings(t *testing.T) {
	_, s := opened(t)
	_, err := s.Call(ctx, "sandbox.exec", argv(strings.Repeat("x", 65<<20)))
	is(t, err, bulkhead.ResourceExhausted, "arguments_too_large")
	_, err = s.Call(ctx, "tool.call", object{"name": "t"},
		bulkhead.WithAttachment(bulkhead.Attachment{Name: "a", Type: "a/b", Data: make([]byte, 65<<20)}))
	is(t, err, bulkhead.ResourceExhausted, "attachment_too_large")
	serve(t, s, ctx, tool("t"), func(_ context.Context, ask *bulkhead.Ask) (any, error) {
		err := ask.Attach(bulkhead.Attachment{Name: "a", Type: "a/b", Data: make([]byte, 65<<20)})
		is(t, err, bulkhead.ResourceExhausted, "attachment_too_large")
		return strings.Repeat("y", 9<<20), nil
	})
	_, err = call(s, ctx, "t", nil)
	is(t, err, bulkhead.ResourceExhausted, "result_too_large")
	serve(t, s, ctx, tool("fits"), func(context.Context, *bulkhead.Ask) (any, error) {
		return strings.Repeat("y", 7<<20), nil
	})
	if result, err := call(s, ctx, "fits", nil); err != nil || len(result.FirstText()) != 7<<20 {
		t.Error(err, len(result.FirstText()))
	}
}
