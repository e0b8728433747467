package bulkhead

/*
#include <bulkhead/host.h>
#include <stdlib.h>
*/
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unsafe"
)

// Code says what a caller can do about a failure (abi/errors.md).
type Code int32

// The codes. One that a later library adds reads as Unknown.
const (
	OK                 Code = C.BH_OK
	Cancelled          Code = C.BH_CANCELLED
	Unknown            Code = C.BH_UNKNOWN
	InvalidArgument    Code = C.BH_INVALID_ARGUMENT  // never repeat it unchanged
	DeadlineExceeded   Code = C.BH_DEADLINE_EXCEEDED // it may have been done all the same
	NotFound           Code = C.BH_NOT_FOUND
	AlreadyExists      Code = C.BH_ALREADY_EXISTS
	PermissionDenied   Code = C.BH_PERMISSION_DENIED   // a rule said no
	ResourceExhausted  Code = C.BH_RESOURCE_EXHAUSTED  // a quota, disk, thread or size limit
	FailedPrecondition Code = C.BH_FAILED_PRECONDITION // fix the state first
	Aborted            Code = C.BH_ABORTED             // lost a race; begin the larger step again
	OutOfRange         Code = C.BH_OUT_OF_RANGE        // past the end
	Unimplemented      Code = C.BH_UNIMPLEMENTED
	Internal           Code = C.BH_INTERNAL    // a bug
	Unavailable        Code = C.BH_UNAVAILABLE // repeat with back-off
	DataLoss           Code = C.BH_DATA_LOSS
	Unauthenticated    Code = C.BH_UNAUTHENTICATED
)

var codeNames = [...]string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED",
	"NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
	"ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
	"UNAUTHENTICATED"}

// String is the code's name as in the header, without BH_.
func (c Code) String() string {
	if c >= 0 && int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("CODE_%d", int32(c))
}

// Fault is why something failed. It owns all it holds and is not changed after it was returned.
// A handler of Serve may return one: its asker gets it as it is.
type Fault struct {
	Code    Code
	Message string          // for people: what, why, and what would help
	Details json.RawMessage // for programs: a JSON object, or empty
}

// Error is the message, with the code's name before it.
func (f *Fault) Error() string {
	if f == nil {
		return "a nil *Fault, which is no failure and no error either"
	}
	return f.Code.String() + ": " + f.Message
}

// Reason is the stable word of abi/errors.md that the details hold, or "".
func (f *Fault) Reason() string {
	var details struct {
		Reason string `json:"reason"`
	}
	if f == nil || json.Unmarshal(f.Details, &details) != nil {
		return ""
	}
	return details.Reason
}

// Is makes errors.Is(err, context.Canceled) true of Cancelled and context.DeadlineExceeded of
// DeadlineExceeded. A *Fault with nothing but a Code matches every fault of that code.
func (f *Fault) Is(target error) bool {
	if f == nil {
		return false
	}
	switch target {
	case context.Canceled:
		return f.Code == Cancelled
	case context.DeadlineExceeded:
		return f.Code == DeadlineExceeded
	}
	other, ok := target.(*Fault)
	return ok && other != nil && other.Message == "" && other.Details == nil && other.Code == f.Code
}

// CodeOf is the code of the *Fault in err's chain: OK for nil, Unknown for an error of others and for
// a nil *Fault.
func CodeOf(err error) Code {
	var f *Fault
	switch {
	case err == nil:
		return OK
	case errors.As(err, &f) && f != nil:
		return f.Code
	}
	return Unknown
}

func fault(code Code, reason, message string) *Fault {
	details, _ := json.Marshal(map[string]string{"reason": reason})
	return &Fault{Code: code, Message: message, Details: details}
}

func closedFault(what string) *Fault {
	return fault(FailedPrecondition, "closed", "the "+what+" is closed; make a new one")
}

// contextFault says why a context ended, in the library's words.
func contextFault(err error) *Fault {
	if errors.Is(err, context.DeadlineExceeded) {
		return fault(DeadlineExceeded, "deadline", "the context's deadline has passed")
	}
	return fault(Cancelled, "cancelled", "the context was cancelled")
}

// taken turns what a C function said into an error and frees f. nil for BH_OK.
func taken(st C.bh_status, f *C.bh_fault) error {
	if st == C.BH_OK {
		return nil
	}
	if f == nil {
		return &Fault{Code: Code(st), Message: "the library gave no reason"}
	}
	defer C.bh_fault_free(f)
	return faultFrom(f)
}

// faultFrom copies f, which stays its owner's.
func faultFrom(f *C.bh_fault) *Fault {
	var size C.size_t
	out := &Fault{Code: Code(C.bh_fault_code(f))}
	text := C.bh_fault_message(f, &size)
	out.Message = string(bytesOf(unsafe.Pointer(text), size))
	text = C.bh_fault_details(f, &size)
	if size > 0 {
		out.Details = bytesOf(unsafe.Pointer(text), size)
	}
	return out
}

// bytesOf copies bytes of the library's. Empty is nil.
func bytesOf(data unsafe.Pointer, size C.size_t) []byte {
	if data == nil || size == 0 {
		return nil
	}
	return append([]byte(nil), unsafe.Slice((*byte)(data), int(size))...)
}

// emptyText stands for bytes that there are none of: NULL would mean that nothing was given.
var emptyText = C.CString("")

// pointer is the address of b for the one C call that is written with it. The library copies what it
// keeps, so nothing of Go's outlives the call.
func pointer(b []byte) *C.char {
	if len(b) == 0 {
		return emptyText
	}
	return (*C.char)(unsafe.Pointer(&b[0]))
}
