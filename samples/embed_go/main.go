// embed_go: what a program does with Bulkhead, from Go. Started as
//
//	embed_go CONFIG WORKSPACE
//
// with the runtime's configuration as JSON and an existing folder; prints what samples/embed_output.txt
// shows.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"bulkhead"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: embed_go CONFIG WORKSPACE")
		os.Exit(1)
	}
	if err := all(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "embed_go:", err)
		os.Exit(1)
	}
}

type object = map[string]any

func all(config, workspace string) error {
	rt, err := bulkhead.New(json.RawMessage(config))
	if err != nil {
		return err
	}
	defer rt.Close()
	session, err := rt.Session("sample")
	if err != nil {
		return err
	}
	box, err := create(session, workspace)
	if err != nil {
		return err
	}
	steps := []func(*bulkhead.Session, string) error{
		stream, input, cancel, fault, tools, serve, remove,
	}
	for _, step := range steps {
		if err := step(session, box); err != nil {
			return err
		}
	}
	if err := rt.Close(); err != nil {
		return err
	}
	fmt.Println("closed")
	return nil
}

// create makes the sandbox that the other steps use.
func create(session *bulkhead.Session, workspace string) (string, error) {
	result, err := session.Call(context.Background(), "sandbox.create", object{"workspace": workspace})
	if err != nil {
		return "", err
	}
	var made struct{ Sandbox, State string }
	if err := json.Unmarshal(result, &made); err != nil {
		return "", err
	}
	fmt.Println("sandbox:", made.State)
	return made.Sandbox, nil
}

// lines prints each line as it arrives.
type lines struct{ rest []byte }

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		fmt.Printf("out: %s\n", line)
		l.rest = rest
	}
}

// stream runs a command whose output comes in pieces.
func stream(session *bulkhead.Session, box string) error {
	script := "echo one; sleep 0.2; echo two; echo three >&2; exit 3"
	run, err := session.Start(context.Background(), "sandbox.exec",
		object{"sandbox": box, "argv": []string{"sh", "-c", script}})
	if err != nil {
		return err
	}
	defer run.Close()
	var stderr bytes.Buffer
	result, err := run.CopyTo(&lines{}, &stderr)
	if err != nil {
		return err
	}
	var ended struct {
		Exit struct {
			Reason string
			Code   int
		}
	}
	if err := json.Unmarshal(result, &ended); err != nil {
		return err
	}
	fmt.Printf("err: %s", stderr.String())
	fmt.Printf("exit: %s %d\n", ended.Exit.Reason, ended.Exit.Code)
	return nil
}

// input sends bytes to two commands: by hand, and more than the library holds from a reader.
func input(session *bulkhead.Session, box string) error {
	run, err := session.Start(context.Background(), "sandbox.exec",
		object{"sandbox": box, "argv": []string{"tr", "a-z", "A-Z"}}, bulkhead.WithInput())
	if err != nil {
		return err
	}
	defer run.Close()
	if _, err := run.Write([]byte("hello from the embedder\n")); err != nil {
		return err
	}
	if err := run.CloseInput(); err != nil {
		return err
	}
	var stdout bytes.Buffer
	if _, err := run.CopyTo(&stdout, nil); err != nil {
		return err
	}
	fmt.Printf("stdin: %s", stdout.String())

	counting, err := session.Start(context.Background(), "sandbox.exec",
		object{"sandbox": box, "argv": []string{"wc", "-c"}},
		bulkhead.WithInputFrom(bytes.NewReader(make([]byte, 4<<20))))
	if err != nil {
		return err
	}
	defer counting.Close()
	stdout.Reset()
	if _, err := counting.CopyTo(&stdout, nil); err != nil {
		return err
	}
	fmt.Printf("through: %s bytes\n", strings.TrimSpace(stdout.String()))
	return nil
}

// cancel ends a command by its context, once it has started.
func cancel(session *bulkhead.Session, box string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	run, err := session.Start(ctx, "sandbox.exec",
		object{"sandbox": box, "argv": []string{"sleep", "60"}})
	if err != nil {
		return err
	}
	defer run.Close()
	for {
		event, err := run.Next()
		if err != nil {
			return err
		}
		if event.Kind == bulkhead.EventItem {
			break
		}
	}
	stop()
	_, err = run.Wait()
	return show("cancelled", err)
}

// fault shows what a program finds in an error.
func fault(session *bulkhead.Session, _ string) error {
	_, err := session.Call(context.Background(), "sandbox.exec",
		object{"sandbox": "nobody-made-this", "argv": []string{"true"}})
	return show("fault", err)
}

func show(what string, err error) error {
	f, ok := err.(*bulkhead.Fault)
	if !ok {
		return fmt.Errorf("%s: a fault was due, not %v", what, err)
	}
	fmt.Printf("%s: %d %s\n", what, f.Code, f.Reason())
	return nil
}

// tools lists the tools that a model would see, and calls one.
func tools(session *bulkhead.Session, box string) error {
	items, result, err := session.Items(context.Background(), "tool.list", nil)
	if err != nil {
		return err
	}
	var counted struct{ Count int }
	if err := json.Unmarshal(result, &counted); err != nil {
		return err
	}
	if counted.Count != len(items) {
		return fmt.Errorf("tool.list counts %d and gave %d", counted.Count, len(items))
	}
	found := false
	for _, item := range items {
		var tool struct{ Name string }
		if err := json.Unmarshal(item, &tool); err != nil {
			return err
		}
		found = found || tool.Name == "command_run"
	}
	if !found {
		return fmt.Errorf("command_run is not among the %d tools", counted.Count)
	}
	fmt.Println("tools: command_run is among them")
	if _, err := callTool(session, "sandbox_connect", object{"sandbox_id": box}); err != nil {
		return err
	}
	told, err := callTool(session, "command_run",
		object{"sandbox_id": box, "command": "echo from a tool"})
	if err != nil {
		return err
	}
	var ran struct {
		Logs struct{ Stdout []struct{ Text string } }
	}
	if err := json.Unmarshal(told.structured, &ran); err != nil || len(ran.Logs.Stdout) == 0 {
		return fmt.Errorf("command_run told %s", told.structured)
	}
	fmt.Println("tool:", strings.TrimSpace(ran.Logs.Stdout[0].Text))
	return nil
}

// answer is what a tool told: its first text, and its structured content as it came.
type answer struct {
	text       string
	structured json.RawMessage
}

func callTool(session *bulkhead.Session, name string, arguments object) (answer, error) {
	result, err := session.Call(context.Background(), "tool.call",
		object{"name": name, "arguments": arguments})
	if err != nil {
		return answer{}, err
	}
	var told bulkhead.ToolResult
	if err := json.Unmarshal(result, &told); err != nil {
		return answer{}, err
	}
	if told.IsError {
		return answer{}, fmt.Errorf("%s failed: %s", name, told.FirstText())
	}
	structured, _ := told.Structured.(json.RawMessage)
	return answer{told.FirstText(), structured}, nil
}

// serve offers a tool of this program's own, and calls it as a model would.
func serve(session *bulkhead.Session, _ string) error {
	shout := bulkhead.Tool{
		Name:        "shout",
		Description: "Says it louder.",
		InputSchema: object{"type": "object", "required": []string{"text"},
			"properties": object{"text": object{"type": "string"}}},
	}
	server, err := session.Serve(context.Background(), shout,
		func(_ context.Context, ask *bulkhead.Ask) (any, error) {
			var args struct{ Text string }
			if err := json.Unmarshal(ask.Args, &args); err != nil {
				return nil, err
			}
			return strings.ToUpper(args.Text), nil
		})
	if err != nil {
		return err
	}
	defer server.Close()
	told, err := callTool(session, "shout", object{"text": "hello"})
	if err != nil {
		return err
	}
	fmt.Println("served:", told.text)
	return nil
}

// remove ends the sandbox and looks that none is left.
func remove(session *bulkhead.Session, box string) error {
	if _, err := session.Call(context.Background(), "sandbox.kill", object{"sandbox": box}); err != nil {
		return err
	}
	left, _, err := session.Items(context.Background(), "sandbox.list", nil)
	if err != nil {
		return err
	}
	fmt.Println("left:", len(left))
	return nil
}
