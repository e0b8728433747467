package bindings

import (
	"bulkhead"
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Everything at once, for the race detector: calls, runs that end half-way, servers that come and
// go, and a runtime that is closed under all of it.
func TestEverythingAtOnce(t *testing.T) {
	rt, s := opened(t)
	var calls, faults, late, wrong atomic.Int64
	var shutting, shut atomic.Bool // before Close, and after it
	var all sync.WaitGroup
	closing := make(chan struct{})
	serve(t, s, ctx, tool("echo"), func(_ context.Context, ask *bulkhead.Ask) (any, error) {
		return string(ask.Args), nil
	})
	one := func(rng *rand.Rand, i int) error {
		c, stop := context.WithCancel(ctx)
		defer stop()
		switch rng.Intn(8) {
		case 0, 1, 2:
			want := fmt.Sprintf(`{"n":%d}`, i)
			result, err := call(s, ctx, "echo", object{"n": i})
			if err == nil && result.FirstText() != want {
				wrong.Add(1)
			}
			return err
		case 3:
			_, err := s.Do(ctx, "host.inspect", nil)
			return err
		case 4: // cancelled at any moment
			go func(pause time.Duration) { time.Sleep(pause); stop() }(time.Duration(rng.Intn(2000)) * time.Microsecond)
			_, err := call(s, c, "echo", object{"n": i})
			return err
		case 5: // left half-way
			run, err := s.Start(c, "tool.list", nil)
			if err != nil {
				return err
			}
			run.Next()
			if rng.Intn(2) == 0 {
				run.Cancel()
			}
			return run.Close()
		case 6: // forgotten
			_, err := s.Start(c, "tool.list", nil)
			return err
		default: // a server that comes and goes
			name := fmt.Sprintf("own-%d", i)
			server, err := s.Serve(c, tool(name), func(c context.Context, ask *bulkhead.Ask) (any, error) {
				if rng := i % 3; rng == 0 {
					panic("now")
				}
				lent, err := ask.Session()
				if err != nil {
					return nil, err
				}
				_, err = lent.Call(c, "host.inspect", nil)
				return "own", err
			})
			if err != nil {
				return err
			}
			_, err = call(s, ctx, name, nil)
			server.Close()
			return err
		}
	}
	for i := 0; i < 200; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			rng := rand.New(rand.NewSource(int64(i)))
			for {
				select {
				case <-closing:
					return
				default:
				}
				was := shut.Load()
				err := one(rng, i)
				switch {
				case was:
					late.Add(1)
					if err == nil {
						wrong.Add(1)
					}
					time.Sleep(time.Millisecond)
				case err != nil && !shutting.Load():
					faults.Add(1)
					fallthrough
				default:
					calls.Add(1)
				}
			}
		}(i)
	}
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for n := 0; n < 5; n++ {
				sent := bytes.Repeat([]byte("line\n"), 100_000)
				run, err := s.Start(ctx, "sandbox.exec", argv("cat"), bulkhead.WithInputFrom(bytes.NewReader(sent)))
				if err != nil {
					return
				}
				var back bytes.Buffer
				if _, err := run.CopyTo(&back, nil); err == nil && !bytes.Equal(back.Bytes(), sent) {
					wrong.Add(1)
				}
				run.Close()
			}
		}()
	}
	for until := time.Now().Add(4 * time.Second); time.Now().Before(until); {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
	shutting.Store(true)
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	shut.Store(true)
	time.Sleep(10 * time.Millisecond)
	close(closing)
	all.Wait()
	t.Logf("%d calls, of which %d failed, and %d when it was closed", calls.Load(), faults.Load(), late.Load())
	// Those that are cancelled and those that meet a panic fail, and none else: a quarter at most.
	if wrong.Load() != 0 || calls.Load() < 500 || faults.Load() > calls.Load()/4 {
		t.Errorf("%d wrong answers", wrong.Load())
	}
}

// Nothing is left of thousands of runs.
func TestThousandsOfRuns(t *testing.T) {
	_, s := opened(t)
	serve(t, s, ctx, tool("echo"), func(_ context.Context, ask *bulkhead.Ask) (any, error) {
		return string(ask.Args), nil
	})
	some := func(n int) {
		var all sync.WaitGroup
		for i := 0; i < 8; i++ {
			all.Add(1)
			go func(i int) {
				defer all.Done()
				for k := 0; k < n; k++ {
					c, stop := context.WithCancel(ctx)
					run, err := s.Start(c, "tool.call", object{"name": "echo", "arguments": object{}})
					if err != nil {
						t.Error(err)
						stop()
						return
					}
					switch k % 4 {
					case 0:
						run.Wait()
					case 1:
						run.Close()
					case 2:
						stop()
						run.Wait()
					case 3: // forgotten
					}
					stop()
				}
			}(i)
		}
		all.Wait()
	}
	some(20)
	// The library opens its database when it is first needed, and keeps it.
	if _, err := s.Call(ctx, "sandbox.list", nil); err != nil {
		t.Fatal(err)
	}
	fds, goroutines := descriptors(t), runtime.NumGoroutine()
	some(500)
	becomes(t, "descriptors or goroutines are left", func() bool {
		runtime.GC()
		return descriptors(t) <= fds+2 && runtime.NumGoroutine() <= goroutines+2
	})
}
