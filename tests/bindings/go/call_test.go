package bindings

import (
	"bulkhead"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	n := bulkhead.VersionNumber()
	if text := fmt.Sprintf("%d.%d.%d", n>>16, n>>8&0xff, n&0xff); text != bulkhead.Version() {
		t.Errorf("%s is not %s", text, bulkhead.Version())
	}
	if bulkhead.PluginABI()>>16 == 0 {
		t.Errorf("the plugin ABI is %x", bulkhead.PluginABI())
	}
}

func TestConfigIsRefusedByName(t *testing.T) {
	_, err := bulkhead.New(object{"version": 1, "colour": "blue"})
	if f := is(t, err, bulkhead.InvalidArgument, "schema"); !strings.Contains(f.Message, "colour") {
		t.Error(f)
	}
	_, err = bulkhead.New([]byte("{"))
	is(t, err, bulkhead.InvalidArgument, "json_syntax")
	_, err = bulkhead.New(func() {})
	is(t, err, bulkhead.InvalidArgument, "json")
}

func TestCallAndDoSayTheSame(t *testing.T) {
	_, s := opened(t)
	byCall, err := s.Call(ctx, "host.inspect", nil)
	if err != nil {
		t.Fatal(err)
	}
	if persona := field(t, byCall, "persona"); persona != "default" {
		t.Errorf("persona %v", persona)
	}
	for i := 0; i < 3; i++ {
		byDo, err := s.Do(ctx, "host.inspect/1", struct{}{})
		if err != nil || string(byDo) != string(byCall) {
			t.Errorf("%v\n%s\n%s", err, byDo, byCall)
		}
	}
	_, err = s.Do(ctx, "sandbox.exec", argv("cat"), bulkhead.WithInput())
	is(t, err, bulkhead.InvalidArgument, "needs_start")
	_, err = s.Do(ctx, "sandbox.get", object{"sandbox": "nobody-made-this"})
	is(t, err, bulkhead.NotFound, "sandbox_not_found")
}

func TestArguments(t *testing.T) {
	_, s := opened(t)
	type listing struct {
		States []string `json:"states"`
	}
	for _, good := range []any{nil, object{}, listing{[]string{"running"}}, &listing{[]string{"failed"}},
		json.RawMessage(`{"states":["paused"]}`), []byte(`{}`)} {
		if _, err := s.Call(ctx, "sandbox.list", good); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	_, err := s.Call(ctx, "sandbox.list", object{"state": "running"})
	is(t, err, bulkhead.InvalidArgument, "schema")
	_, err = s.Call(ctx, "sandbox.list", make(chan int))
	is(t, err, bulkhead.InvalidArgument, "json")
	for where, bad := range map[string]any{
		"args.argv[1]":                      argv("cat", "a\xffb"),
		"args.States[0]":                    struct{ States [1]*string }{[1]*string{&[]string{"\xc0"}[0]}},
		`the key "\xff" of args`:            object{"\xff": 1},
		"args.environment.content[0].text":  object{"environment": bulkhead.Text("\xff")},
		"args.environment.content[0].title": object{"environment": &bulkhead.ToolResult{Content: []bulkhead.Content{{Title: "\xff"}}}},
	} {
		_, err = s.Call(ctx, "sandbox.exec", bad)
		if f := is(t, err, bulkhead.InvalidArgument, "json_utf8"); !strings.HasPrefix(f.Message, where+" is not") ||
			!strings.Contains(f.Message, "base64") {
			t.Errorf("%s: %v", where, f)
		}
	}
	for _, good := range []any{"\\ufffd", "a\ufffdb", json.RawMessage(`"\ufffd"`)} {
		told, err := s.Call(ctx, "sandbox.exec", object{"argv": []any{"printf", "%s", good}, "collect": true})
		if err != nil || !strings.Contains(string(told), "fffd") && !strings.Contains(string(told), "�") {
			t.Errorf("%q: %v %s", good, err, told)
		}
	}
	_, err = s.Call(ctx, "sandbox.list", "a text")
	if bulkhead.CodeOf(err) != bulkhead.InvalidArgument {
		t.Error(err)
	}
	_, err = s.Call(ctx, "sandbox.lisp", nil)
	if f := is(t, err, bulkhead.NotFound, "unknown_operation"); !strings.Contains(f.Message, "sandbox.list") {
		t.Error(f)
	}
	_, err = s.Call(ctx, "", nil)
	is(t, err, bulkhead.NotFound, "unknown_operation")
	_, err = s.Call(ctx, "a\x00\xffb", nil)
	is(t, err, bulkhead.NotFound, "unknown_operation")
}

func TestPersonasAreApart(t *testing.T) {
	rt, s := opened(t)
	made, err := s.Call(ctx, "sandbox.create", nil)
	if err != nil {
		t.Fatal(err)
	}
	box := object{"sandbox": field(t, made, "sandbox")}
	_, err = session(t, rt, "other").Call(ctx, "sandbox.get", box)
	is(t, err, bulkhead.NotFound, "sandbox_not_found")
	operator, err := rt.Operator()
	if err != nil {
		t.Fatal(err)
	}
	items, result, err := operator.Items(ctx, "sandbox.list", nil)
	if err != nil || len(items) != 1 || field(t, result, "count") != 1.0 {
		t.Errorf("%v %s %s", err, items, result)
	}
	_, err = rt.Session("No Such Name")
	is(t, err, bulkhead.InvalidArgument, "persona")
	if _, err = s.Call(ctx, "sandbox.kill", box); err != nil {
		t.Error(err)
	}
}

func TestEventsOfARun(t *testing.T) {
	_, s := opened(t)
	run := start(t, s, ctx, sh("printf out; printf err >&2; exit 3"))
	_, early := run.Result()
	if early == nil {
		t.Error("a result before the end")
	}
	out, items := map[int32]string{}, 0
	run.Events()(func(e bulkhead.Event, err error) bool {
		if err != nil {
			t.Error(err)
		}
		switch e.Kind {
		case bulkhead.EventOutput:
			out[e.Stream] += string(e.Data)
		case bulkhead.EventItem:
			items++
		}
		if e.Time.Year() < 2020 {
			t.Error(e.Time)
		}
		return true
	})
	if out[bulkhead.Stdout] != "out" || out[bulkhead.Stderr] != "err" || items != 1 {
		t.Errorf("%v, %d items", out, items)
	}
	for i := 0; i < 2; i++ {
		if _, err := run.Next(); err != io.EOF {
			t.Error(err)
		}
		result, err := run.Wait()
		if err != nil || field(t, result, "exit", "code") != 3.0 {
			t.Errorf("%v %s", err, result)
		}
	}
	<-run.Done()
}

func TestALoopThatIsLeftEarly(t *testing.T) {
	_, s := opened(t)
	run := start(t, s, ctx, sh("echo a; cat"), bulkhead.WithInput())
	seen := 0
	run.Events()(func(e bulkhead.Event, err error) bool { seen++; return false })
	if seen != 1 {
		t.Errorf("%d events", seen)
	}
	if err := run.CloseInput(); err != nil {
		t.Error(err)
	}
	if text := told(t, run); text != "a\n" {
		t.Errorf("%q", text)
	}
	failing, err := s.Start(ctx, "sandbox.exec", object{"sandbox": "nobody-made-this", "argv": []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	var last error
	failing.Events()(func(_ bulkhead.Event, err error) bool { last = err; return true })
	is(t, last, bulkhead.NotFound, "sandbox_not_found")
	_, err = failing.Next()
	is(t, err, bulkhead.NotFound, "sandbox_not_found")
}

func TestFaultsAsErrors(t *testing.T) {
	err := error(&bulkhead.Fault{Code: bulkhead.NotFound, Message: "it is not there",
		Details: []byte(`{"reason":"file_not_found"}`)})
	err = fmt.Errorf("around: %w", err)
	switch {
	case !errors.Is(err, &bulkhead.Fault{Code: bulkhead.NotFound}),
		errors.Is(err, &bulkhead.Fault{Code: bulkhead.Internal}),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		bulkhead.CodeOf(err) != bulkhead.NotFound, bulkhead.CodeOf(nil) != bulkhead.OK,
		bulkhead.CodeOf(io.EOF) != bulkhead.Unknown,
		err.Error() != "around: NOT_FOUND: it is not there":
		t.Error(err)
	}
	if bulkhead.Unauthenticated.String() != "UNAUTHENTICATED" || bulkhead.Code(99).String() != "CODE_99" ||
		bulkhead.Code(-1).String() != "CODE_-1" {
		t.Error("a code's name")
	}
	var none *bulkhead.Fault
	if err := error(none); bulkhead.CodeOf(err) != bulkhead.Unknown || errors.Is(err, context.Canceled) ||
		errors.Is(&bulkhead.Fault{}, none) || none.Reason() != "" || none.Error() == "" {
		t.Error("a nil fault")
	}
	if reason := (&bulkhead.Fault{Details: []byte("no json")}).Reason(); reason != "" {
		t.Error(reason)
	}
}
