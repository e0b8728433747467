package bindings

import (
	"bulkhead"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// dispositions are the signals that this process ignores and catches, as the kernel has them.
func dispositions(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^Sig(Ign|Cgt):.*$`).FindAllString(string(text), -1)
	if len(lines) != 2 {
		t.Fatalf("%q", lines)
	}
	return strings.Join(lines, "\n")
}

func TestSignalsAreGos(t *testing.T) {
	interrupts, children := make(chan os.Signal, 100), make(chan os.Signal, 100)
	signal.Notify(interrupts, syscall.SIGINT)
	defer signal.Stop(interrupts)
	before := dispositions(t)
	_, s := opened(t)
	begun, _ := waiting(t, s, "wait")
	c, stop := context.WithCancel(ctx)
	defer stop()
	for i := 0; i < 20; i++ {
		run, err := s.Start(c, "tool.call", object{"name": "wait"})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		soon(t, begun, "a call")
	}
	sleeping := start(t, s, c, sh("echo up; sleep 60"))
	for e, err := sleeping.Next(); e.Kind != bulkhead.EventOutput; e, err = sleeping.Next() {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < 10; i++ {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		soon(t, interrupts, "SIGINT")
	}
	select {
	case <-sleeping.Done():
		t.Error("SIGINT reached the command")
	default:
	}
	if now := dispositions(t); now != before {
		t.Errorf("the library changed them:\n%s\n%s", before, now)
	}

	// A broken pipe is an error of the write, as Go has it for all but stdout and stderr.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if _, err := w.Write([]byte("x")); err == nil {
		t.Error("no EPIPE")
	}
	w.Close()

	// The program's own children are its own, beside those of the library.
	signal.Notify(children, syscall.SIGCHLD)
	defer signal.Stop(children)
	var all sync.WaitGroup
	for i := 0; i < 8; i++ {
		all.Add(2)
		go func() {
			defer all.Done()
			for n := 0; n < 5; n++ {
				err := exec.Command("sh", "-c", "exit 7").Run()
				if ended, ok := err.(*exec.ExitError); !ok || ended.ExitCode() != 7 {
					t.Errorf("a child of the program's: %v", err)
				}
			}
		}()
		go func() {
			defer all.Done()
			for n := 0; n < 5; n++ {
				result, err := s.Call(ctx, "sandbox.exec", sh("exit 7"))
				if err != nil || field(t, result, "exit", "code") != 7.0 {
					t.Errorf("a command: %v %s", err, result)
				}
			}
		}()
	}
	all.Wait()
	soon(t, children, "SIGCHLD")
}
