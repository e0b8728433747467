package bulkhead

/*
#include "bridge.h"
*/
import "C"

import (
	"context"
	"io"
	"time"
)

// Option is something beside the arguments of an operation.
type Option func(*options)

type options struct {
	input   bool
	from    io.Reader
	timeout time.Duration
	blobs   []Attachment
}

// Attachment is bytes with a name and a media type, beside the JSON of a call or of an answer.
type Attachment struct {
	Name string
	Type string
	Data []byte // 64 MiB at most; what is larger is sent as input, or emitted
}

// WithInput: the run's input is written with Run.Write and ended with Run.CloseInput. Without it, or
// WithInputFrom, the input is empty. InvalidArgument where the operation takes none.
func WithInput() Option { return func(o *options) { o.input = true } }

// WithInputFrom: the run's input is what from gives, to its end, as far as the run reads it. A
// goroutine reads from it until then, also past the run's end where a Read is under way. An error
// of its own (other than io.EOF) cancels the run.
func WithInputFrom(from io.Reader) Option { return func(o *options) { o.from = from } }

// WithAttachment sends bytes beside the arguments.
func WithAttachment(a Attachment) Option {
	return func(o *options) { o.blobs = append(o.blobs, a) }
}

// WithTimeout ends the operation with DeadlineExceeded after that time on the library's clock, which
// stands still while people decide; 0 sets no limit. The context's deadline holds beside it.
func WithTimeout(timeout time.Duration) Option {
	return func(o *options) { o.timeout = timeout }
}

func collectOptions(given []Option) options {
	var o options
	for _, each := range given {
		each(&o)
	}
	return o
}

// request builds what is started once; the caller frees it. A context that has ended is its error.
func (o *options) request(ctx context.Context, operation string, args any) (*C.bh_request, error) {
	timeout := o.timeout
	if err := ctx.Err(); err != nil {
		return nil, contextFault(err)
	}
	if until, ok := ctx.Deadline(); ok {
		left := time.Until(until)
		if left <= 0 {
			return nil, contextFault(context.DeadlineExceeded)
		}
		if timeout == 0 || left < timeout {
			timeout = left
		}
	}
	text, err := jsonOf(args, "args")
	if err != nil {
		return nil, err
	}
	name := []byte(operation)
	var r *C.bh_request
	var f *C.bh_fault
	st := C.bh_request_new(pointer(name), C.size_t(len(name)), &r, &f)
	if err := taken(st, f); err != nil {
		return nil, err
	}
	if err := o.fill(r, text, timeout); err != nil {
		C.bh_request_free(r)
		return nil, err
	}
	return r, nil
}

func (o *options) fill(r *C.bh_request, args []byte, timeout time.Duration) error {
	var f *C.bh_fault
	st := C.bh_request_args(r, pointer(args), C.size_t(len(args)), &f)
	if err := taken(st, f); err != nil {
		return err
	}
	for _, blob := range o.blobs {
		name, media := []byte(blob.Name), []byte(blob.Type)
		st := C.bhgo_request_attach(r, pointer(name), C.size_t(len(name)), pointer(media),
			C.size_t(len(media)), pointer(blob.Data), C.size_t(len(blob.Data)), &f)
		if err := taken(st, f); err != nil {
			return err
		}
	}
	if timeout != 0 {
		ms := milliseconds(timeout)
		if timeout < 0 {
			ms = -1 // refused by the library, in its words
		}
		st := C.bh_request_timeout(r, C.int64_t(ms), &f)
		if err := taken(st, f); err != nil {
			return err
		}
	}
	if o.input || o.from != nil {
		st := C.bh_request_input(r, &f)
		return taken(st, f)
	}
	return nil
}
