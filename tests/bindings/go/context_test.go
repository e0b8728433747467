package bindings

import (
	"bulkhead"
	"context"
	"errors"
	"testing"
	"time"
)

func TestACallIsCancelledByItsContext(t *testing.T) {
	_, s := opened(t)
	begun, ended := waiting(t, s, "wait")
	c, stop := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		_, err := call(s, c, "wait", nil)
		failed <- err
	}()
	soon(t, begun, "the call")
	stop()
	err := soon(t, failed, "the end of the call")
	is(t, err, bulkhead.Cancelled, "cancelled")
	if !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	soon(t, ended, "the end of the handler's context")
	_, err = call(s, c, "wait", nil)
	if is(t, err, bulkhead.Cancelled, "cancelled"); len(begun) != 0 {
		t.Error("a context that had ended started something")
	}
}

func TestDeadlines(t *testing.T) {
	_, s := opened(t)
	waiting(t, s, "wait")
	for name, end := range map[string]func() error{
		"the context's": func() error {
			c, stop := context.WithTimeout(ctx, 200*time.Millisecond)
			defer stop()
			_, err := call(s, c, "wait", nil)
			return err
		},
		"the option's": func() error {
			_, err := call(s, ctx, "wait", nil, bulkhead.WithTimeout(200*time.Millisecond))
			return err
		},
		"the shorter of both": func() error {
			c, stop := context.WithTimeout(ctx, time.Hour)
			defer stop()
			_, err := call(s, c, "wait", nil, bulkhead.WithTimeout(time.Nanosecond))
			return err
		},
		"a deadline that is past": func() error {
			c, stop := context.WithDeadline(ctx, time.Now().Add(-time.Second))
			defer stop()
			_, err := call(s, c, "wait", nil)
			return err
		},
		"that of a run": func() error {
			c, stop := context.WithTimeout(ctx, 200*time.Millisecond)
			defer stop()
			run := start(t, s, c, argv("sleep", "60"))
			_, err := run.Wait()
			return err
		},
		"that of Do": func() error {
			c, stop := context.WithTimeout(ctx, 200*time.Millisecond)
			defer stop()
			_, err := s.Do(c, "sandbox.exec", argv("sleep", "60"))
			return err
		},
	} {
		err := end()
		is(t, err, bulkhead.DeadlineExceeded, "deadline")
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := s.Call(ctx, "host.inspect", nil, bulkhead.WithTimeout(-time.Second))
	is(t, err, bulkhead.InvalidArgument, "timeout")
}

func TestARunThatNobodyReadsIsCancelled(t *testing.T) {
	_, s := opened(t)
	begun, ended := waiting(t, s, "wait")
	c, stop := context.WithCancel(ctx)
	run, err := s.Start(c, "tool.call", object{"name": "wait"})
	if err != nil {
		t.Fatal(err)
	}
	soon(t, begun, "the call")
	stop()
	soon(t, run.Done(), "the run's end")
	soon(t, ended, "the end of the handler's context")
	_, err = run.Wait()
	is(t, err, bulkhead.Cancelled, "cancelled")
}

func TestCancelAndCloseOfARun(t *testing.T) {
	_, s := opened(t)
	begun, ended := waiting(t, s, "wait")
	for _, way := range []func(*bulkhead.Run){
		func(run *bulkhead.Run) { run.Cancel(); run.Cancel() },
		func(run *bulkhead.Run) { run.Close(); run.Close() },
	} {
		run, err := s.Start(ctx, "tool.call", object{"name": "wait"})
		if err != nil {
			t.Fatal(err)
		}
		soon(t, begun, "the call")
		next := make(chan error, 1)
		go func() {
			_, err := run.Next()
			next <- err
		}()
		way(run)
		if err := soon(t, next, "the end of Next"); err == nil {
			t.Error("an event out of nothing")
		}
		soon(t, ended, "the end of the handler's context")
		run.Cancel()
		run.Close()
		if _, err := run.Next(); err == nil {
			t.Error("an event out of nothing")
		}
	}
}

// However early the end comes, also while the library still looks at what the machine can do, it is
// told as what it is.
func TestAVeryEarlyEndIsToldAsSuch(t *testing.T) {
	for pause := time.Millisecond; pause < 24*time.Millisecond; pause += 2 * time.Millisecond {
		t.Run(pause.String(), func(t *testing.T) {
			_, s := opened(t)
			c, stop := context.WithTimeout(ctx, pause)
			defer stop()
			if _, err := s.Call(c, "sandbox.exec", argv("sleep", "60")); err != nil {
				is(t, err, bulkhead.DeadlineExceeded, "deadline")
			}
			c, stop = context.WithCancel(ctx)
			defer stop()
			time.AfterFunc(pause, stop)
			_, err := s.Call(c, "sandbox.exec", argv("sleep", "60"))
			is(t, err, bulkhead.Cancelled, "cancelled")
			if _, err := s.Call(ctx, "sandbox.exec", argv("true")); err != nil {
				t.Error(err)
			}
		})
	}
}
