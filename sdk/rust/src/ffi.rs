//! `bulkhead/host.h` as it stands there: every function, type and constant, nothing else.
//!
//! What each function does, its thread tag, what it borrows and its errors are said in that
//! header; the safe types of this crate say it again where it matters. A test compares this file
//! with the header, name by name and parameter by parameter.

#![allow(non_camel_case_types)]
#![allow(missing_docs)]

use std::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_void};

pub type bh_status = i32;
pub type bh_fd = isize;

pub const BH_HOST_VERSION: u32 = 0x000100;

pub const BH_STREAM_STDOUT: i32 = 1;
pub const BH_STREAM_STDERR: i32 = 2;
pub const BH_STREAM_DATA: i32 = 3;
pub const BH_STREAM_ATTACHED: i32 = 0x40000000;

pub const BH_OK: bh_status = 0;
pub const BH_CANCELLED: bh_status = 1;
pub const BH_UNKNOWN: bh_status = 2;
pub const BH_INVALID_ARGUMENT: bh_status = 3;
pub const BH_DEADLINE_EXCEEDED: bh_status = 4;
pub const BH_NOT_FOUND: bh_status = 5;
pub const BH_ALREADY_EXISTS: bh_status = 6;
pub const BH_PERMISSION_DENIED: bh_status = 7;
pub const BH_RESOURCE_EXHAUSTED: bh_status = 8;
pub const BH_FAILED_PRECONDITION: bh_status = 9;
pub const BH_ABORTED: bh_status = 10;
pub const BH_OUT_OF_RANGE: bh_status = 11;
pub const BH_UNIMPLEMENTED: bh_status = 12;
pub const BH_INTERNAL: bh_status = 13;
pub const BH_UNAVAILABLE: bh_status = 14;
pub const BH_DATA_LOSS: bh_status = 15;
pub const BH_UNAUTHENTICATED: bh_status = 16;

pub const BH_EVENT_OUTPUT: i32 = 1;
pub const BH_EVENT_PROGRESS: i32 = 2;
pub const BH_EVENT_ATTACHMENT: i32 = 3;
pub const BH_EVENT_RESULT: i32 = 4;
pub const BH_EVENT_FAULT: i32 = 5;
pub const BH_EVENT_ITEM: i32 = 6;
pub const BH_EVENT_ROOM: i32 = 7;
pub const BH_EVENT_ASK: i32 = 8;
pub const BH_EVENT_ASK_ENDED: i32 = 9;

// Only ever behind a pointer: no size, and neither Send nor Sync by itself.
macro_rules! opaque {
    ($($name:ident)*) => {$(
        #[repr(C)]
        pub struct $name {
            nothing: [u8; 0],
            marker: PhantomData<(*mut u8, PhantomPinned)>,
        }
    )*};
}

opaque! {
    bh_runtime
    bh_session
    bh_queue
    bh_request
    bh_run
    bh_event
    bh_server
    bh_ask
    bh_fault
}

#[link(name = "bulkhead")]
extern "C" {
    pub fn bh_version() -> u32;
    pub fn bh_version_text() -> *const c_char;
    pub fn bh_plugin_abi() -> u32;
    pub fn bh_fault_code(f: *const bh_fault) -> bh_status;
    pub fn bh_fault_message(f: *const bh_fault, len: *mut usize) -> *const c_char;
    pub fn bh_fault_details(f: *const bh_fault, len: *mut usize) -> *const c_char;
    pub fn bh_fault_free(f: *mut bh_fault);
    pub fn bh_runtime_new(
        config: *const c_char,
        config_len: usize,
        out: *mut *mut bh_runtime,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_runtime_close(
        rt: *mut bh_runtime,
        timeout_ms: i32,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_runtime_free(rt: *mut bh_runtime);
    pub fn bh_session_new(
        rt: *mut bh_runtime,
        config: *const c_char,
        config_len: usize,
        out: *mut *mut bh_session,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_session_free(s: *mut bh_session);
    pub fn bh_queue_new(
        rt: *mut bh_runtime,
        out: *mut *mut bh_queue,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_queue_next(
        q: *mut bh_queue,
        timeout_ms: i32,
        out: *mut *mut bh_event,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_queue_fd(q: *mut bh_queue) -> bh_fd;
    pub fn bh_queue_wake(q: *mut bh_queue);
    pub fn bh_queue_free(q: *mut bh_queue);
    pub fn bh_request_new(
        operation: *const c_char,
        operation_len: usize,
        out: *mut *mut bh_request,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_request_args(
        r: *mut bh_request,
        json: *const c_char,
        json_len: usize,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_request_attach(
        r: *mut bh_request,
        name: *const c_char,
        name_len: usize,
        media_type: *const c_char,
        type_len: usize,
        data: *const c_void,
        size: usize,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_request_timeout(
        r: *mut bh_request,
        timeout_ms: i64,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_request_input(r: *mut bh_request, f: *mut *mut bh_fault) -> bh_status;
    pub fn bh_request_free(r: *mut bh_request);
    pub fn bh_start(
        s: *mut bh_session,
        r: *const bh_request,
        q: *mut bh_queue,
        tag: u64,
        out: *mut *mut bh_run,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_do(
        s: *mut bh_session,
        r: *const bh_request,
        q: *mut bh_queue,
        tag: u64,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_run_send(
        run: *mut bh_run,
        data: *const c_void,
        size: usize,
        taken: *mut usize,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_run_send_end(run: *mut bh_run, f: *mut *mut bh_fault) -> bh_status;
    pub fn bh_run_cancel(run: *mut bh_run);
    pub fn bh_run_free(run: *mut bh_run);
    pub fn bh_event_kind(e: *const bh_event) -> i32;
    pub fn bh_event_tag(e: *const bh_event) -> u64;
    pub fn bh_event_id(e: *const bh_event) -> u64;
    pub fn bh_event_time_ns(e: *const bh_event) -> i64;
    pub fn bh_event_stream(e: *const bh_event) -> i32;
    pub fn bh_event_name(e: *const bh_event, len: *mut usize) -> *const c_char;
    pub fn bh_event_type(e: *const bh_event, len: *mut usize) -> *const c_char;
    pub fn bh_event_data(e: *const bh_event, size: *mut usize) -> *const c_void;
    pub fn bh_event_fault(e: *const bh_event) -> *const bh_fault;
    pub fn bh_event_ask(e: *mut bh_event) -> *mut bh_ask;
    pub fn bh_event_free(e: *mut bh_event);
    pub fn bh_serve(
        s: *mut bh_session,
        what: *const c_char,
        what_len: usize,
        q: *mut bh_queue,
        tag: u64,
        out: *mut *mut bh_server,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_server_free(v: *mut bh_server);
    pub fn bh_ask_id(a: *const bh_ask) -> u64;
    pub fn bh_ask_emit(
        a: *mut bh_ask,
        stream: i32,
        data: *const c_void,
        size: usize,
        taken: *mut usize,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_ask_attach(
        a: *mut bh_ask,
        name: *const c_char,
        name_len: usize,
        media_type: *const c_char,
        type_len: usize,
        data: *const c_void,
        size: usize,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_ask_result(
        a: *mut bh_ask,
        json: *const c_char,
        json_len: usize,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_ask_fail(
        a: *mut bh_ask,
        code: bh_status,
        msg: *const c_char,
        msg_len: usize,
        details: *const c_char,
        details_len: usize,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_ask_session(
        a: *mut bh_ask,
        out: *mut *mut bh_session,
        f: *mut *mut bh_fault,
    ) -> bh_status;
    pub fn bh_ask_free(a: *mut bh_ask);
}
