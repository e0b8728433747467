package bindings

import (
	"context"
	"runtime/pprof"
	"sync"
	"testing"
)

// threads are those that Go has made for goroutines so far.
func threads() int { return pprof.Lookup("threadcreate").Count() }

func TestGoroutinesThatWaitHoldNoThread(t *testing.T) {
	const many = 500
	_, s := opened(t)
	begun, _ := waiting(t, s, "wait")
	c, stop := context.WithCancel(ctx)
	defer stop()
	before := threads()
	var all sync.WaitGroup
	for i := 0; i < many; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			if _, err := call(s, c, "wait", nil); err == nil {
				t.Error("an answer")
			}
		}()
		soon(t, begun, "a call") // one after the other: it is waiting that costs nothing
	}
	made := threads() - before
	t.Logf("%d goroutines wait, Go made %d threads for them", many, made)
	if made > 20 {
		t.Errorf("%d threads for %d goroutines", made, many)
	}
	stop()
	all.Wait()
}
