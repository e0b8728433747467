package bindings

import (
	"bulkhead"
	"context"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestUseAfterClose(t *testing.T) {
	rt, s := opened(t)
	other := session(t, rt, "other")
	run := start(t, s, ctx, argv("cat"), bulkhead.WithInput())
	server := serve(t, s, ctx, tool("t"), func(context.Context, *bulkhead.Ask) (any, error) { return "", nil })
	handler := func(context.Context, *bulkhead.Ask) (any, error) { return "", nil }
	closed := func(err error) {
		t.Helper()
		is(t, err, bulkhead.FailedPrecondition, "closed")
	}
	s.Close()
	s.Close()
	use := func(s *bulkhead.Session) {
		t.Helper()
		_, err := s.Call(ctx, "host.inspect", nil)
		closed(err)
		_, err = s.Do(ctx, "host.inspect", nil)
		closed(err)
		_, _, err = s.Items(ctx, "tool.list", nil)
		closed(err)
		_, err = s.Start(ctx, "host.inspect", nil)
		closed(err)
		_, err = s.Serve(ctx, tool("t"), handler)
		closed(err)
		_, err = s.ServeQuestions(ctx, bulkhead.Judge, handler)
		closed(err)
	}
	use(s)
	if _, err := run.Write([]byte("still there")); err != nil {
		t.Error(err) // a run does not need the session that started it
	}
	run.Close()
	_, err := run.Write([]byte("x"))
	closed(err)
	_, err = run.Next()
	closed(err)
	_, err = run.Wait()
	closed(err)
	_, err = run.Result()
	closed(err)
	run.Cancel()
	if err := run.CloseInput(); err != nil {
		t.Error(err)
	}
	for i := 0; i < 3; i++ {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
	use(other)
	_, err = rt.Session("default")
	closed(err)
	_, err = rt.Operator()
	closed(err)
	server.Close()
	other.Close()
}

// A program that waits for Done may hold nothing else of the run.
func TestTheCollectorLeavesARunThatIsWaitedFor(t *testing.T) {
	_, s := opened(t)
	outcome := make(chan error, 1)
	done := func() <-chan struct{} {
		run, err := s.Start(ctx, "sandbox.exec", sh("sleep 2; exit 5"))
		if err != nil {
			t.Fatal(err)
		}
		runtime.SetFinalizer(run, nil) // only one is allowed: what follows stands for the package's
		runtime.SetFinalizer(run, func(run *bulkhead.Run) {
			_, err := run.Result()
			outcome <- err
			run.Close()
		})
		return run.Done()
	}()
	for ended := false; !ended; {
		runtime.GC()
		select {
		case <-done:
			ended = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	var err error
	becomes(t, "the run is never collected", func() bool {
		runtime.GC()
		select {
		case err = <-outcome:
			return true
		default:
			return false
		}
	})
	if err != nil {
		t.Errorf("collected while it was waited for: %v", err)
	}
}

// Whoever waits for something comes back when the runtime is closed, with a fault.
func TestCloseWhileEverybodyWaits(t *testing.T) {
	rt, s := opened(t)
	begun, ended := waiting(t, s, "wait")
	var all sync.WaitGroup
	failures := make(chan error, 100)
	wait := func(what func() error) {
		all.Add(1)
		go func() {
			defer all.Done()
			failures <- what()
		}()
	}
	wait(func() error { _, err := call(s, ctx, "wait", nil); return err })
	wait(func() error { _, err := s.Do(ctx, "tool.call", object{"name": "wait"}); return err })
	run, err := s.Start(ctx, "tool.call", object{"name": "wait"})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 3; i++ {
		soon(t, begun, "a call")
		wait(func() error { _, err := run.Next(); return err })
		wait(func() error { _, err := run.Wait(); return err })
	}
	writing := start(t, s, ctx, argv("sleep", "60"), bulkhead.WithInput())
	wait(func() error { _, err := writing.Write(make([]byte, large)); return err })
	reading := start(t, s, ctx, argv("sleep", "60"))
	wait(func() error { _, err := reading.CopyTo(nil, nil); return err })
	time.Sleep(100 * time.Millisecond)
	closes := make(chan error, 8)
	for i := 0; i < cap(closes); i++ {
		go func() { closes <- rt.Close() }()
	}
	for i := 0; i < cap(closes); i++ {
		if err := soon(t, closes, "the end of Close"); err != nil {
			t.Error(err)
		}
	}
	finished := make(chan bool)
	go func() { all.Wait(); close(finished) }()
	soon(t, finished, "the end of everybody")
	close(failures)
	for err := range failures {
		switch bulkhead.CodeOf(err) {
		case bulkhead.Cancelled, bulkhead.FailedPrecondition, bulkhead.OutOfRange:
		default:
			t.Error(err)
		}
	}
	for i := 0; i < 3; i++ {
		soon(t, ended, "the end of a handler's context")
	}
}

// What the program forgets, the collector finds.
func TestForgottenObjects(t *testing.T) {
	before := runtime.NumGoroutine()
	fds := descriptors(t)
	func() {
		rt, err := bulkhead.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		s := session(t, rt, "default")
		begun, ended := waiting(t, session(t, rt, "default"), "wait")
		func() {
			if _, err := s.Start(ctx, "tool.call", object{"name": "wait"}); err != nil {
				t.Fatal(err)
			}
			soon(t, begun, "the call")
		}()
		becomes(t, "a forgotten run goes on", func() bool { runtime.GC(); return len(ended) == 1 })
		if _, err := s.Call(ctx, "host.inspect", nil); err != nil {
			t.Error(err)
		}
		rt.Close()
	}()
	func() {
		rt, err := bulkhead.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session(t, rt, "default").Call(ctx, "host.inspect", nil); err != nil {
			t.Error(err)
		}
	}()
	becomes(t, "a forgotten runtime goes on", func() bool {
		runtime.GC()
		return runtime.NumGoroutine() <= before && descriptors(t) <= fds
	})
}

// Close of each kind beside the calls that use it.
func TestCloseBesideUse(t *testing.T) {
	for round := 0; round < 20; round++ {
		rt := open(t)
		s := session(t, rt, "default")
		serve(t, s, ctx, tool("t"), func(context.Context, *bulkhead.Ask) (any, error) { return "", nil })
		run := start(t, s, ctx, argv("cat"), bulkhead.WithInput())
		var all sync.WaitGroup
		for i := 0; i < 8; i++ {
			all.Add(1)
			go func(i int) {
				defer all.Done()
				for n := 0; n < 20; n++ {
					run.Write([]byte("some"))
					run.Cancel()
					call(s, ctx, "t", nil)
					s.Do(ctx, "host.inspect", nil)
					switch {
					case i == 0 && n == 3:
						run.Close()
					case i == 1 && n == 7:
						s.Close()
					case i == 2 && n == 5:
						if err := rt.Close(); err != nil {
							t.Error(err)
						}
					}
				}
			}(i)
		}
		all.Wait()
	}
}
