package bulkhead

/*
#include "bridge.h"
*/
import "C"

// batchOf is room for events, and no queue: a test of Go's cannot name types of C's.
func batchOf(room int) (*C.bhgo_event, *C.bh_queue) { return &make([]C.bhgo_event, room)[0], nil }
