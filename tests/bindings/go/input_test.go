package bindings

import (
	"bulkhead"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// pattern gives bytes that repeat in no power of two.
type pattern struct{ left, at int }

func (p *pattern) Read(into []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	if len(into) > p.left {
		into = into[:p.left]
	}
	for i := range into {
		into[i] = byte((p.at + i) % 251)
	}
	p.at += len(into)
	p.left -= len(into)
	return len(into), nil
}

const large = 64 << 20

func sumOf(from io.Reader) string {
	sum := sha256.New()
	io.Copy(sum, from)
	return string(sum.Sum(nil))
}

func Test64MiBThroughACommand(t *testing.T) {
	_, s := opened(t)
	want := sumOf(&pattern{left: large})
	for name, send := range map[string]func(*testing.T) *bulkhead.Run{
		"Write": func(t *testing.T) *bulkhead.Run {
			run := start(t, s, ctx, argv("cat"), bulkhead.WithInput())
			go func() {
				if n, err := io.CopyBuffer(run, &pattern{left: large}, make([]byte, 3<<20)); err != nil || n != large {
					t.Errorf("%d bytes: %v", n, err)
				}
				if err := run.CloseInput(); err != nil {
					t.Error(err)
				}
			}()
			return run
		},
		"WithInputFrom": func(t *testing.T) *bulkhead.Run {
			return start(t, s, ctx, argv("cat"), bulkhead.WithInputFrom(&pattern{left: large}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			sum := sha256.New()
			if _, err := send(t).CopyTo(sum, nil); err != nil {
				t.Fatal(err)
			}
			if string(sum.Sum(nil)) != want {
				t.Error("other bytes came back")
			}
		})
	}
}

func TestWriteWaitsForTheCommand(t *testing.T) {
	_, s := opened(t)
	run := start(t, s, ctx, argv("sleep", "60"), bulkhead.WithInput())
	type outcome struct {
		n   int
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		n, err := run.Write(make([]byte, large))
		done <- outcome{n, err}
	}()
	select {
	case told := <-done:
		t.Fatalf("nobody reads, and %d bytes went through: %v", told.n, told.err)
	case <-time.After(500 * time.Millisecond):
	}
	run.Cancel()
	out := soon(t, done, "the end of Write")
	is(t, out.err, bulkhead.OutOfRange, "input_ended")
	if out.n < 4096 || out.n > 8<<20 {
		t.Errorf("%d bytes were taken before", out.n)
	}
}

func TestOutputWaitsForTheReader(t *testing.T) {
	_, s := opened(t)
	run := start(t, s, ctx, argv("head", "-c", "67108864", "/dev/zero"))
	select {
	case <-run.Done():
		t.Error("64 MiB went where nobody reads")
	case <-time.After(500 * time.Millisecond):
	}
	if got := len(told(t, run)); got != large {
		t.Errorf("%d bytes", got)
	}
}

func TestInputThatIsNotThere(t *testing.T) {
	_, s := opened(t)
	run := start(t, s, ctx, argv("cat"))
	if n, err := run.Write([]byte("x")); n != 0 {
		t.Error(n)
	} else if code := bulkhead.CodeOf(err); code != bulkhead.FailedPrecondition && code != bulkhead.OutOfRange {
		t.Error(err)
	}
	if text := told(t, run); text != "" {
		t.Errorf("%q", text)
	}
	_, err := run.Write([]byte("x"))
	is(t, err, bulkhead.OutOfRange, "input_ended")
	if err := run.CloseInput(); err != nil {
		t.Error(err)
	}
	_, err = s.Start(ctx, "sandbox.list", nil, bulkhead.WithInput())
	is(t, err, bulkhead.InvalidArgument, "no_input")

	short := start(t, s, ctx, argv("cat"), bulkhead.WithInput())
	if n, err := short.Write(nil); n != 0 || err != nil {
		t.Error(n, err)
	}
	if err := short.CloseInput(); err != nil {
		t.Error(err)
	}
	if err := short.CloseInput(); err != nil {
		t.Error(err)
	}
	_, err = short.Write([]byte("x"))
	is(t, err, bulkhead.OutOfRange, "input_ended")
}

func TestAReaderThatFailsCancels(t *testing.T) {
	_, s := opened(t)
	broken := io.MultiReader(strings.NewReader("half"), badReader{})
	_, err := start(t, s, ctx, argv("cat"), bulkhead.WithInputFrom(broken)).Wait()
	if f := is(t, err, bulkhead.Cancelled, "cancelled"); !strings.Contains(f.Message, "torn") {
		t.Error(f)
	}
}

var errTorn = errors.New("torn")

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, errTorn }

type badWriter struct{}

func (badWriter) Write([]byte) (int, error) { return 0, errTorn }

func TestAWriterThatFailsCancels(t *testing.T) {
	_, s := opened(t)
	run := start(t, s, ctx, sh("echo a; sleep 60"))
	if _, err := run.CopyTo(badWriter{}, nil); err != errTorn {
		t.Error(err)
	}
}

// Bytes in the middle of an object that holds pointers of Go's are bytes like others.
func TestBytesInsideOfAnObject(t *testing.T) {
	_, s := opened(t)
	inside := &struct {
		before *int
		bytes  [8]byte
		after  any
	}{before: new(int), after: t}
	copy(inside.bytes[:], "in there")
	run := start(t, s, ctx, argv("cat"), bulkhead.WithInput())
	if _, err := run.Write(inside.bytes[:]); err != nil {
		t.Fatal(err)
	}
	if err := run.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if text := told(t, run); text != "in there" {
		t.Errorf("%q", text)
	}
}
