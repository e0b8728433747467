// Package bulkhead runs the tool calls of AI agents in isolation: the binding of libbulkhead
// (bulkhead/host.h) for Go programs.
//
//	rt, err := bulkhead.New(nil)
//	defer rt.Close()
//	session, err := rt.Session("default")
//	result, err := session.Call(ctx, "sandbox.exec", map[string]any{
//		"argv": []string{"id", "-u"}, "collect": true,
//	})
//
// # Operations
//
// What can be done is listed in host/operations.md with the schema of its arguments and its result:
// "sandbox.exec", "tool.call" and so on. Session.Call runs one to its end; Session.Start gives a Run
// whose events are read as they come and whose input is written. Session.Serve answers instead: a
// tool that this program defines.
//
// # Goroutines, contexts, threads
//
// All functions may be called from any goroutine, beside each other. A context given to Call, Start
// or Serve counts for all of it: when it ends, the run is cancelled, and its deadline is the
// operation's own. One goroutine per Runtime waits in Go's poller and hands out what happens, so a
// goroutine that waits holds no thread of the system. The library never calls into Go, installs no
// signal handler and waits for no child of the program's.
//
// # Errors
//
// An error of the library is a *Fault: a code, a sentence for people, and details for programs.
// errors.Is knows context.Canceled and context.DeadlineExceeded in it.
//
// # Closing
//
// Every Close may be called at any time, also twice and beside other calls; what is used after it
// answers with a *Fault (FailedPrecondition, reason "closed"). What is forgotten is closed when the
// garbage collector finds it; that is a net, not a plan.
//
// # Building
//
// cgo finds the library by pkg-config (bulkhead.pc, which "cmake --install" puts beside it): where
// it is not in a standard place, PKG_CONFIG_PATH names the folder, as for any C library.
package bulkhead

/*
#cgo pkg-config: bulkhead
#include <bulkhead/host.h>
*/
import "C"

import "fmt"

// Version is that of the library in use, "major.minor.patch".
func Version() string { return C.GoString(C.bh_version_text()) }

// VersionNumber is the same as a number: major<<16 | minor<<8 | patch.
func VersionNumber() uint32 { return uint32(C.bh_version()) }

// PluginABI is the version of the plugin interface that the library in use speaks:
// major<<16 | minor.
func PluginABI() uint32 { return uint32(C.bh_plugin_abi()) }

// fits says whether the library that was found when the program started can be what the program
// was built against: the same major, and no function less.
func fits() error {
	built, found := uint32(C.BH_HOST_VERSION), VersionNumber()
	if found>>16 == built>>16 && found >= built {
		return nil
	}
	return &Fault{Code: FailedPrecondition, Message: fmt.Sprintf(
		"the program was built for libbulkhead %d.%d.%d and found %s; install that one, or build the program again",
		built>>16, built>>8&0xff, built&0xff, Version())}
}
