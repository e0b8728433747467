// Package bindings tests sdk/go against the library that was built: run.py builds and starts it.
package bindings

import (
	"bulkhead"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

type object = map[string]any

var ctx = context.Background()

const patience = 60 * time.Second

// open gives a runtime with a data root of its own, below the folder that run.py names.
func open(t testing.TB) *bulkhead.Runtime {
	t.Helper()
	home := filepath.Join(os.Getenv("BH_GO_SCRATCH"), strings.ReplaceAll(t.Name(), "/", "-"))
	workspace := filepath.Join(home, "workspace")
	if err := os.MkdirAll(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	rt, err := bulkhead.New(object{"version": 1, "data_root": filepath.Join(home, "data"),
		"workers": 700, "defaults": object{"workspace": workspace}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Errorf("the runtime does not close: %v", err)
		}
	})
	return rt
}

func session(t testing.TB, rt *bulkhead.Runtime, persona string) *bulkhead.Session {
	t.Helper()
	s, err := rt.Session(persona)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// opened is a runtime with one session.
func opened(t testing.TB) (*bulkhead.Runtime, *bulkhead.Session) {
	t.Helper()
	rt := open(t)
	return rt, session(t, rt, "default")
}

func start(t *testing.T, s *bulkhead.Session, c context.Context, args any, options ...bulkhead.Option) *bulkhead.Run {
	t.Helper()
	run, err := s.Start(c, "sandbox.exec", args, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Close() })
	return run
}

func argv(words ...string) object { return object{"argv": words} }

func sh(script string) object { return argv("sh", "-c", script) }

// told is the run's stdout, after its end.
func told(t *testing.T, run *bulkhead.Run) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := run.CopyTo(&out, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// is checks an error's code and reason.
func is(t *testing.T, err error, code bulkhead.Code, reason string) *bulkhead.Fault {
	t.Helper()
	var f *bulkhead.Fault
	if !errors.As(err, &f) {
		t.Fatalf("a fault %v (%s) was due, not %v", code, reason, err)
	}
	if f.Code != code || f.Reason() != reason {
		t.Fatalf("%v (%s) was due, not %v, %s", code, reason, f, f.Details)
	}
	return f
}

func field(t *testing.T, text json.RawMessage, path ...string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for _, key := range path {
		inner, ok := value.(map[string]any)
		if !ok {
			t.Fatalf("no %v in %s", path, text)
		}
		value = inner[key]
	}
	return value
}

func tool(name string) bulkhead.Tool {
	return bulkhead.Tool{Name: name, Description: "For a test.",
		InputSchema: object{"type": "object", "additionalProperties": true}}
}

func serve(t testing.TB, s *bulkhead.Session, c context.Context, what bulkhead.Tool, handler bulkhead.Handler) *bulkhead.Server {
	t.Helper()
	server, err := s.Serve(c, what, handler)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func call(s *bulkhead.Session, c context.Context, name string, arguments any, options ...bulkhead.Option) (bulkhead.ToolResult, error) {
	var result bulkhead.ToolResult
	args := object{"name": name}
	if arguments != nil {
		args["arguments"] = arguments
	}
	text, err := s.Call(c, "tool.call", args, options...)
	if err == nil {
		err = json.Unmarshal(text, &result)
	}
	return result, err
}

// waiting serves a tool that answers when its asker is gone; begun gets one for each call.
func waiting(t *testing.T, s *bulkhead.Session, name string) (begun chan struct{}, ended chan error) {
	t.Helper()
	begun, ended = make(chan struct{}, 1000), make(chan error, 1000)
	serve(t, s, ctx, tool(name), func(c context.Context, _ *bulkhead.Ask) (any, error) {
		begun <- struct{}{}
		<-c.Done()
		ended <- c.Err()
		return nil, c.Err()
	})
	return begun, ended
}

// soon waits for one value of a channel.
func soon[T any](t *testing.T, from <-chan T, what string) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(patience):
		stacks := make([]byte, 1<<20)
		t.Fatalf("%s did not come\n%s", what, stacks[:runtime.Stack(stacks, true)])
	}
	return value
}

// becomes waits until ready says so.
func becomes(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !ready(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%s\n%s", what, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
