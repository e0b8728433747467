package bindings

import (
	"bulkhead"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func TestWhatAHandlerReturns(t *testing.T) {
	_, s := opened(t)
	for name, c := range map[string]struct {
		answer any
		text   string
		whole  string
	}{
		"text":   {"hello", "hello", `{"content":[{"type":"text","text":"hello"}]}`},
		"empty":  {"", "", `{"content":[{"type":"text","text":""}]}`},
		"none":   {nil, "", `{"content":[]}`},
		"result": {bulkhead.ToolResult{Content: bulkhead.Text("no").Content, IsError: true}, "no", `"is_error":true`},
		"raw":    {json.RawMessage(`{"content":[{"type":"link","uri":"u:x"}]}`), "", `"uri":"u:x"`},
		"bytes":  {[]byte(`{"content":[]}`), "", `{"content":[]}`},
		"value":  {object{"n": 7}, `{"n":7}`, `"structured":{"n":7}`},
	} {
		server := serve(t, s, ctx, tool("t-"+name), func(context.Context, *bulkhead.Ask) (any, error) {
			return c.answer, nil
		})
		whole, err := s.Call(ctx, "tool.call", object{"name": "t-" + name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var result bulkhead.ToolResult
		if err := json.Unmarshal(whole, &result); err != nil || result.FirstText() != c.text ||
			!strings.Contains(string(whole), c.whole) {
			t.Errorf("%s: %v %s", name, err, whole)
		}
		server.Close()
	}
}

// wild panics wherever the package comes to it; wilder cannot even be printed.
type wild struct{}

func (wild) MarshalJSON() ([]byte, error) { panic("wild marshal") }
func (wild) Error() string                { panic("wild error") }

type wilder struct{}

func (wilder) String() string { panic(wilder{}) }

func TestNumbersOfATool(t *testing.T) {
	_, s := opened(t)
	const large = `{"n":9007199254740993,"u":18446744073709551615}`
	part := bulkhead.Content{Type: "text", Text: "t", Annotations: object{"n": json.Number("9007199254740993")}}
	serve(t, s, ctx, tool("large"), func(_ context.Context, ask *bulkhead.Ask) (any, error) {
		return bulkhead.ToolResult{Content: []bulkhead.Content{part}, Structured: ask.Args,
			Meta: object{"large": ask.Args}}, nil
	})
	result, err := call(s, ctx, "large", json.RawMessage(large))
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(result)
	if err != nil || strings.Count(string(again), large) != 2 || !strings.Contains(string(again), `"annotations":{"n":9007199254740993}`) {
		t.Errorf("%v %s", err, again)
	}
	if text, ok := result.Structured.(json.RawMessage); !ok || string(text) != large {
		t.Errorf("%T %s", result.Structured, text)
	}
	var one bulkhead.Content
	if err := json.Unmarshal([]byte(`{"annotations":{"n":9007199254740993}}`), &one); err != nil ||
		one.Annotations["n"] != json.Number("9007199254740993") {
		t.Error(err, one)
	}
	var none bulkhead.ToolResult
	if err := json.Unmarshal([]byte(`{"content":[],"structured":null}`), &none); err != nil || none.Structured != nil {
		t.Error(err, none)
	}
	if err := json.Unmarshal([]byte(`{"content":7}`), &none); err == nil {
		t.Error("content of 7")
	}
}

func TestHowAHandlerFails(t *testing.T) {
	_, s := opened(t)
	own := &bulkhead.Fault{Code: bulkhead.NotFound, Message: "no such bird", Details: []byte(`{"reason":"bird"}`)}
	for name, c := range map[string]struct {
		handler bulkhead.Handler
		code    bulkhead.Code
		reason  string
		text    string
	}{
		"a fault":  {func(context.Context, *bulkhead.Ask) (any, error) { return nil, fmt.Errorf("so: %w", own) }, bulkhead.NotFound, "bird", "no such bird"},
		"an error": {func(context.Context, *bulkhead.Ask) (any, error) { return nil, errors.New("it rained") }, bulkhead.Unknown, "", "it rained"},
		"panic":    {func(context.Context, *bulkhead.Ask) (any, error) { panic("oh no") }, bulkhead.Internal, "exception", "oh no"},
		"nil map":  {func(context.Context, *bulkhead.Ask) (any, error) { var m map[string]int; m["a"] = 1; return nil, nil }, bulkhead.Internal, "exception", "nil map"},
		"no value": {func(context.Context, *bulkhead.Ask) (any, error) { panic(nil) }, bulkhead.Internal, "exception", "panicked"},
		"nil":      {func(context.Context, *bulkhead.Ask) (any, error) { var f *bulkhead.Fault; return nil, f }, bulkhead.Internal, "exception", "nil itself"},
		"in nil": {func(context.Context, *bulkhead.Ask) (any, error) {
			var f *bulkhead.Fault
			return "a", fmt.Errorf("b: %w", f)
		}, bulkhead.Internal, "exception", "nil itself"},
		"marshal":  {func(context.Context, *bulkhead.Ask) (any, error) { return wild{}, nil }, bulkhead.Internal, "exception", "wild marshal"},
		"in it":    {func(context.Context, *bulkhead.Ask) (any, error) { return bulkhead.ToolResult{Structured: wild{}}, nil }, bulkhead.Internal, "exception", "wild marshal"},
		"in error": {func(context.Context, *bulkhead.Ask) (any, error) { return nil, wild{} }, bulkhead.Internal, "exception", "wild error"},
		"string":   {func(context.Context, *bulkhead.Ask) (any, error) { panic(wilder{}) }, bulkhead.Internal, "exception", "wilder"},
		"no utf8":  {func(context.Context, *bulkhead.Ask) (any, error) { return "a\xffb", nil }, bulkhead.InvalidArgument, "json_utf8", "the answer.content[0].text"},
		"no such": {func(context.Context, *bulkhead.Ask) (any, error) {
			return nil, &bulkhead.Fault{Code: 99, Message: "99"}
		}, bulkhead.Unknown, "", "99"},
		"no map": {func(context.Context, *bulkhead.Ask) (any, error) {
			return nil, &bulkhead.Fault{Code: bulkhead.NotFound, Message: "5", Details: []byte("[5]")}
		}, bulkhead.NotFound, "", "5"},
		"goexit":   {func(context.Context, *bulkhead.Ask) (any, error) { runtime.Goexit(); return nil, nil }, bulkhead.Unavailable, "unanswered", "unanswered"},
		"no json":  {func(context.Context, *bulkhead.Ask) (any, error) { return make(chan int), nil }, bulkhead.InvalidArgument, "json", "JSON"},
		"bad json": {func(context.Context, *bulkhead.Ask) (any, error) { return []byte("{"), nil }, bulkhead.InvalidArgument, "json_syntax", "answer"},
		"no shape": {func(context.Context, *bulkhead.Ask) (any, error) { return []byte("{}"), nil }, bulkhead.Internal, "plugin_misuse", "content"},
		"deadline": {func(context.Context, *bulkhead.Ask) (any, error) { return nil, context.DeadlineExceeded }, bulkhead.DeadlineExceeded, "deadline", ""},
		"canceled": {func(context.Context, *bulkhead.Ask) (any, error) { return nil, context.Canceled }, bulkhead.Cancelled, "cancelled", ""},
	} {
		server := serve(t, s, ctx, tool("failing"), c.handler)
		_, err := call(s, ctx, "failing", nil)
		if f := is(t, err, c.code, c.reason); !strings.Contains(f.Message, c.text) {
			t.Errorf("%s: %v", name, f)
		}
		server.Close()
	}
}

func TestWhatIsServed(t *testing.T) {
	_, s := opened(t)
	echo := func(_ context.Context, ask *bulkhead.Ask) (any, error) { return string(ask.Args), nil }
	strict := bulkhead.Tool{Name: "strict", Title: "Strict", Description: "Takes a number.",
		InputSchema: object{"type": "object", "required": []string{"n"}, "additionalProperties": false,
			"properties": object{"n": object{"type": "integer"}}},
		OutputSchema: object{"type": "object", "required": []string{"n"}}, Annotations: &bulkhead.ToolAnnotations{ReadOnly: new(bool)}}
	serve(t, s, ctx, strict, func(_ context.Context, ask *bulkhead.Ask) (any, error) {
		if ask.Name != "strict" || ask.ID == 0 {
			t.Errorf("%q %d", ask.Name, ask.ID)
		}
		return ask.Args, nil
	})
	_, err := call(s, ctx, "strict", object{"n": "x"})
	is(t, err, bulkhead.InvalidArgument, "schema")
	_, err = call(s, ctx, "strict", object{"n": 1})
	is(t, err, bulkhead.Internal, "plugin_misuse") // its answer is the bare arguments
	items, _, err := s.Items(ctx, "tool.list", nil)
	if err != nil || !strings.Contains(string(items[0]), `"title":"Strict"`) ||
		!strings.Contains(string(items[0]), `"read_only":false`) {
		t.Errorf("%v %s", err, items[0])
	}
	serve(t, s, ctx, bulkhead.Tool{Name: "bare", Description: "Nothing."}, echo)
	if result, err := call(s, ctx, "bare", nil); err != nil || result.FirstText() != "{}" {
		t.Error(err, result)
	}
	_, err = s.Serve(ctx, bulkhead.Tool{Name: "no good name", Description: "x"}, echo)
	is(t, err, bulkhead.InvalidArgument, "tool_definition")
	_, err = s.Serve(ctx, tool("t"), nil)
	is(t, err, bulkhead.InvalidArgument, "null")
	_, err = s.ServeQuestions(ctx, "weather", echo)
	is(t, err, bulkhead.InvalidArgument, "serve")
	for _, kind := range []string{bulkhead.Approval, bulkhead.Judge} {
		server, err := s.ServeQuestions(ctx, kind, echo)
		if err != nil {
			t.Fatal(err)
		}
		server.Close()
	}
}

func TestOutputAndAttachmentsOfATool(t *testing.T) {
	_, s := opened(t)
	speaking := tool("speaking")
	speaking.Attachments = true
	serve(t, s, ctx, speaking, func(_ context.Context, ask *bulkhead.Ask) (any, error) {
		if _, err := ask.Writer(bulkhead.Stdout).Write(bytes.Repeat([]byte("x"), 4<<20)); err != nil {
			return nil, err
		}
		for _, a := range ask.Attachments {
			for i := 0; i < 3; i++ {
				if err := ask.Attach(bulkhead.Attachment{Name: fmt.Sprint(a.Name, i), Type: a.Type, Data: a.Data}); err != nil {
					return nil, err
				}
			}
		}
		_, err := ask.Emit(bulkhead.StreamAttached, []byte("x"))
		is(t, err, bulkhead.InvalidArgument, "stream")
		return "said", nil
	})
	data := bytes.Repeat([]byte{0, 255}, 500_000)
	run, err := s.Start(ctx, "tool.call", object{"name": "speaking"},
		bulkhead.WithAttachment(bulkhead.Attachment{Name: "a", Type: "image/png", Data: data}),
		bulkhead.WithAttachment(bulkhead.Attachment{Name: "none", Type: "text/plain"}))
	if err != nil {
		t.Fatal(err)
	}
	out, names := 0, ""
	for {
		e, err := run.Next()
		if err != nil {
			break
		}
		switch e.Kind {
		case bulkhead.EventOutput:
			out += len(e.Data)
		case bulkhead.EventAttachment:
			names += e.Name + " " + e.Type + ";"
			if e.Name[0] == 'a' && !bytes.Equal(e.Data, data) || e.Name[0] == 'n' && len(e.Data) != 0 {
				t.Errorf("%s: %d bytes", e.Name, len(e.Data))
			}
		}
	}
	if _, err := run.Result(); err != nil || out != 4<<20 ||
		names != "a0 image/png;a1 image/png;a2 image/png;none0 text/plain;none1 text/plain;none2 text/plain;" {
		t.Error(err, out, names)
	}
	serve(t, s, ctx, tool("deaf"), func(context.Context, *bulkhead.Ask) (any, error) { return "", nil })
	_, err = call(s, ctx, "deaf", nil, bulkhead.WithAttachment(bulkhead.Attachment{Name: "a", Type: "a/b"}))
	is(t, err, bulkhead.InvalidArgument, "schema")
	_, err = call(s, ctx, "speaking", nil, bulkhead.WithAttachment(bulkhead.Attachment{Name: "\xff", Type: "a/b"}))
	is(t, err, bulkhead.InvalidArgument, "utf8")
}

func TestAHandlerThatWaitsForRoomIsFreed(t *testing.T) {
	_, s := opened(t)
	ended := make(chan error, 1)
	serve(t, s, ctx, tool("flood"), func(c context.Context, ask *bulkhead.Ask) (any, error) {
		_, err := ask.Emit(bulkhead.Stdout, make([]byte, 16<<20))
		ended <- err
		return "all", err
	})
	run, err := s.Start(ctx, "tool.call", object{"name": "flood"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Next(); err != nil { // it has begun, and nobody reads on
		t.Fatal(err)
	}
	run.Close()
	if err := soon(t, ended, "the end of Emit"); err == nil {
		t.Error("16 MiB went where nobody reads")
	}
}

func TestServersEnd(t *testing.T) {
	_, s := opened(t)
	for name, end := range map[string]func(*bulkhead.Server, context.CancelFunc){
		"Close":   func(v *bulkhead.Server, _ context.CancelFunc) { v.Close(); v.Close() },
		"context": func(_ *bulkhead.Server, stop context.CancelFunc) { stop() },
	} {
		c, stop := context.WithCancel(ctx)
		begun, ended, failed := make(chan bool, 1), make(chan bool, 1), make(chan error, 1)
		server := serve(t, s, c, tool("here"), func(c context.Context, _ *bulkhead.Ask) (any, error) {
			begun <- true
			<-c.Done()
			ended <- true
			return "too late", nil
		})
		go func() {
			_, err := call(s, ctx, "here", nil)
			failed <- err
		}()
		soon(t, begun, "the call")
		end(server, stop)
		soon(t, ended, name+": the end of the handler's context")
		is(t, soon(t, failed, "the call's end"), bulkhead.Unavailable, "unanswered")
		_, err := call(s, ctx, "here", nil)
		is(t, err, bulkhead.NotFound, "unknown_tool")
		stop()
		_, err = s.Serve(c, tool("here"), func(context.Context, *bulkhead.Ask) (any, error) { return "", nil })
		is(t, err, bulkhead.Cancelled, "cancelled")
	}
}

func TestALentSession(t *testing.T) {
	rt, _ := opened(t)
	s := session(t, rt, "asker")
	operator, err := rt.Operator()
	if err != nil {
		t.Fatal(err)
	}
	var kept *bulkhead.Session
	var asked *bulkhead.Ask
	var left *bulkhead.Run
	begun, ended := waiting(t, operator, "wait")
	serve(t, operator, ctx, tool("borrow"), func(c context.Context, ask *bulkhead.Ask) (any, error) {
		lent, err := ask.Session()
		if err != nil {
			return nil, err
		}
		_, err = lent.Serve(c, tool("mine"), func(context.Context, *bulkhead.Ask) (any, error) { return "", nil })
		is(t, err, bulkhead.PermissionDenied, "lent_session")
		if left, err = lent.Start(ctx, "tool.call", object{"name": "wait"}); err != nil {
			return nil, err
		}
		<-begun
		told, err := lent.Call(c, "host.inspect", nil)
		kept, asked = lent, ask
		return field(t, told, "persona"), err
	})
	result, err := call(s, ctx, "borrow", nil)
	if err != nil || result.FirstText() != "asker" {
		t.Fatal(err, result)
	}
	soon(t, ended, "the end of what ran with the lent session")
	_, err = left.Wait()
	is(t, err, bulkhead.Cancelled, "cancelled")
	becomes(t, "the lent session is not closed", func() bool {
		_, err = kept.Call(ctx, "host.inspect", nil)
		return bulkhead.CodeOf(err) == bulkhead.FailedPrecondition // OutOfRange until then: it is over first
	})
	_, err = asked.Emit(bulkhead.Stdout, []byte("x"))
	is(t, err, bulkhead.OutOfRange, "ask_ended")
	is(t, asked.Attach(bulkhead.Attachment{Name: "a", Type: "a/b"}), bulkhead.OutOfRange, "ask_ended")
	_, err = asked.Session()
	is(t, err, bulkhead.OutOfRange, "ask_ended")
}

func TestAToolThatCallsItself(t *testing.T) {
	_, s := opened(t)
	serve(t, s, ctx, tool("count"), func(c context.Context, ask *bulkhead.Ask) (any, error) {
		var args struct{ N int }
		if err := json.Unmarshal(ask.Args, &args); err != nil || args.N == 0 {
			return "0", err
		}
		lent, err := ask.Session()
		if err != nil {
			return nil, err
		}
		result, err := call(lent, c, "count", object{"n": args.N - 1})
		return fmt.Sprint(args.N, " ", result.FirstText()), err
	})
	result, err := call(s, ctx, "count", object{"n": 5})
	if err != nil || result.FirstText() != "5 4 3 2 1 0" {
		t.Error(err, result)
	}
}
