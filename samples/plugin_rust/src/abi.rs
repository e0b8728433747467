//! `bulkhead/plugin.h` and `bulkhead/toolset.h` in Rust: the same structs in the same order. What each
//! function does, its thread tag and its errors are said there, once.
//!
//! A test of Bulkhead compares sizes and offsets of all of these with the ABI's own. Tables that the
//! host hands out may be shorter than ours (an older host): see `function!`.

#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_void};

pub type bh_status = i32;
pub type bh_fd = isize;

pub const BH_OK: bh_status = 0;
pub const BH_INVALID_ARGUMENT: bh_status = 3;
pub const BH_NOT_FOUND: bh_status = 5;
pub const BH_RESOURCE_EXHAUSTED: bh_status = 8;
pub const BH_UNIMPLEMENTED: bh_status = 12;
pub const BH_INTERNAL: bh_status = 13;

pub const BH_STREAM_STDOUT: i32 = 1;
pub const BH_STREAM_STDERR: i32 = 2;
pub const BH_STREAM_DATA: i32 = 3;

pub const BH_ABI_MINOR: u32 = 0;
pub const BH_TOOLSET: &str = "bh.toolset/1";
pub const BH_OPERATIONS: &str = "bh.call.operations/1\0";

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bh_str {
    pub data: *const c_char,
    pub size: usize,
}

#[repr(C)]
pub struct bh_host {
    pub api: *const bh_host_api,
}

#[repr(C)]
pub struct bh_call {
    pub api: *const bh_call_api,
    pub host: *const bh_host,
}

#[repr(C)]
pub struct bh_host_api {
    pub struct_size: u32,
    pub abi_minor: u32,
    pub log_on: Option<unsafe extern "C" fn(host: *const bh_host, level: i32) -> u8>,
    pub log: Option<
        unsafe extern "C" fn(
            host: *const bh_host,
            call: *const bh_call,
            level: i32,
            msg: *const c_char,
            msg_len: usize,
            fields: *const c_char,
            fields_len: usize,
        ),
    >,
    pub notify:
        Option<unsafe extern "C" fn(host: *const bh_host, json: *const c_char, json_len: usize)>,
    pub get_service: Option<
        unsafe extern "C" fn(host: *const bh_host, service_id: *const c_char) -> *const c_void,
    >,
}

#[repr(C)]
pub struct bh_blob {
    pub struct_size: u32,
    pub reserved: u32,
    pub name: bh_str,
    pub media_type: bh_str,
    pub data: *const c_void,
    pub size: usize,
}

#[repr(C)]
pub struct bh_call_api {
    pub struct_size: u32,
    pub abi_minor: u32,
    pub fail: Option<
        unsafe extern "C" fn(
            call: *mut bh_call,
            code: bh_status,
            msg: *const c_char,
            msg_len: usize,
            details: *const c_char,
            details_len: usize,
        ) -> bh_status,
    >,
    pub result: Option<
        unsafe extern "C" fn(call: *mut bh_call, json: *const c_char, json_len: usize) -> bh_status,
    >,
    pub item: Option<
        unsafe extern "C" fn(call: *mut bh_call, json: *const c_char, json_len: usize) -> bh_status,
    >,
    pub emit: Option<
        unsafe extern "C" fn(
            call: *mut bh_call,
            stream: i32,
            data: *const c_void,
            size: usize,
        ) -> bh_status,
    >,
    pub attach: Option<unsafe extern "C" fn(call: *mut bh_call, blob: *const bh_blob) -> bh_status>,
    pub event:
        Option<unsafe extern "C" fn(call: *mut bh_call, json: *const c_char, json_len: usize)>,
    pub receive: Option<
        unsafe extern "C" fn(
            call: *mut bh_call,
            buffer: *mut c_void,
            size: usize,
            got: *mut usize,
        ) -> bh_status,
    >,
    pub receive_fd: Option<unsafe extern "C" fn(call: *mut bh_call) -> bh_fd>,
    pub end_input: Option<unsafe extern "C" fn(call: *mut bh_call)>,
    pub wait: Option<unsafe extern "C" fn(call: *mut bh_call, timeout_ns: i64) -> bh_status>,
    pub cancel_fd: Option<unsafe extern "C" fn(call: *mut bh_call) -> bh_fd>,
    pub time_left_ns: Option<unsafe extern "C" fn(call: *mut bh_call) -> i64>,
    pub get_service: Option<
        unsafe extern "C" fn(call: *mut bh_call, service_id: *const c_char) -> *const c_void,
    >,
}

#[repr(C)]
pub struct bh_plugin {
    pub struct_size: u32,
    pub abi_minor: u32,
    pub id: *const c_char,
    pub name: *const c_char,
    pub version: *const c_char,
    pub vendor: *const c_char,
    pub license: *const c_char,
    pub get_interface: Option<unsafe extern "C" fn(interface_id: *const c_char) -> *const c_void>,
    pub shutdown: Option<unsafe extern "C" fn(host: *const bh_host)>,
}

#[repr(C)]
pub struct bh_opening {
    pub struct_size: u32,
    pub reserved: u32,
    pub config: bh_str,
    pub instance: bh_str,
    pub owner: bh_str,
    pub state_dir: bh_str,
}

#[repr(C)]
pub struct bh_provider {
    pub struct_size: u32,
    pub abi_minor: u32,
    pub id: *const c_char,
    pub title: *const c_char,
    pub config_schema: *const c_char,
    pub capabilities: *const c_char,
    pub probe:
        Option<unsafe extern "C" fn(call: *mut bh_call, how: *const bh_opening) -> bh_status>,
    pub open: Option<
        unsafe extern "C" fn(
            call: *mut bh_call,
            how: *const bh_opening,
            out: *mut *mut c_void,
        ) -> bh_status,
    >,
    pub close: Option<unsafe extern "C" fn(self_: *mut c_void)>,
    pub table: *const c_void,
}

#[repr(C)]
pub struct bh_provider_list {
    pub struct_size: u32,
    pub count: u32,
    pub items: *const *const bh_provider,
}

#[repr(C)]
pub struct bh_toolset {
    pub struct_size: u32,
    pub abi_minor: u32,
    pub list: Option<unsafe extern "C" fn(self_: *mut c_void, call: *mut bh_call) -> bh_status>,
    pub call: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            call: *mut bh_call,
            tool: *const c_char,
            tool_len: usize,
            args: *const c_char,
            args_len: usize,
            blobs: *const *const bh_blob,
            blob_count: usize,
        ) -> bh_status,
    >,
    pub get_extension: Option<unsafe extern "C" fn(interface_id: *const c_char) -> *const c_void>,
}

#[repr(C)]
pub struct bh_run_io {
    pub struct_size: u32,
    pub flags: u32,
    pub tag: u64,
    pub timeout_ns: i64,
    pub ctx: *mut c_void,
    pub result: Option<
        unsafe extern "C" fn(ctx: *mut c_void, json: *const c_char, json_len: usize) -> bh_status,
    >,
    pub item: Option<
        unsafe extern "C" fn(ctx: *mut c_void, json: *const c_char, json_len: usize) -> bh_status,
    >,
    pub emit: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            stream: i32,
            data: *const c_void,
            size: usize,
        ) -> bh_status,
    >,
    pub attach: Option<unsafe extern "C" fn(ctx: *mut c_void, blob: *const bh_blob) -> bh_status>,
    pub fault: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            code: bh_status,
            msg: *const c_char,
            msg_len: usize,
            details: *const c_char,
            details_len: usize,
        ),
    >,
}

#[repr(C)]
pub struct bh_operations {
    pub struct_size: u32,
    pub abi_minor: u32,
    pub run: Option<
        unsafe extern "C" fn(
            call: *mut bh_call,
            operation: *const c_char,
            operation_len: usize,
            args: *const c_char,
            args_len: usize,
            blobs: *const *const bh_blob,
            blob_count: usize,
            io: *const bh_run_io,
        ) -> bh_status,
    >,
    pub cancel: Option<unsafe extern "C" fn(call: *mut bh_call, tag: u64)>,
}

/// The function `$field` of a host's table behind the pointer `$table`, or `None` where the table is
/// too short or does not have it. No reference is made: of a shorter table there is not all of it.

macro_rules! function {
    ($table:expr, $field:ident) => {{
        let table = $table;
        let at = std::ptr::addr_of!((*table).$field);
        let end = at as usize - table as usize + std::mem::size_of::<usize>();
        let size = std::ptr::addr_of!((*table).struct_size).read();
        if (size as usize) < end {
            None
        } else {
            at.read()
        }
    }};
}
pub(crate) use function;
