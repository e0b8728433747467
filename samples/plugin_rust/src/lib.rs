//! A toolset in Rust, with the standard library alone. Read it from the bottom: the one exported
//! function gives the plugin's table, that gives the list of providers, a provider gives the table of its
//! kind. All of it is constant: there is no state, so there is nothing to open or close, and any
//! number of threads may call at once.

use std::ffi::CStr;
use std::mem::size_of;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null;

#[allow(dead_code)]
mod abi;
mod call;
#[allow(dead_code)]
#[path = "../../../sdk/rust/src/json.rs"]
mod json;
#[path = "../../../sdk/rust/src/json_read.rs"]
mod json_read;
mod operations;
#[cfg(test)]
mod tests;
mod tools;

use abi::*;
use call::{bytes, guarded};
use json::Json;

unsafe extern "C" fn list(_: *mut c_void, call: *mut bh_call) -> bh_status {
    guarded(call, |call| tools::DEFINITIONS.iter().try_for_each(|tool| call.item(tool)))
}

unsafe extern "C" fn call_tool(
    _: *mut c_void,
    call: *mut bh_call,
    tool: *const c_char,
    tool_len: usize,
    args: *const c_char,
    args_len: usize,
    _: *const *const bh_blob,
    _: usize,
) -> bh_status {
    guarded(call, |call| {
        let tool = std::str::from_utf8(bytes(tool, tool_len)).unwrap_or("");
        // The host has checked both: this is JSON, and satisfies the schema.
        let args = std::str::from_utf8(bytes(args, args_len)).unwrap_or("");
        let args = Json::parse(args)
            .map_err(|e| call.fail(BH_INVALID_ARGUMENT, "json_syntax", &e.to_string()))?;
        tools::call(call, tool, &args)
    })
}

unsafe extern "C" fn get_interface(interface_id: *const c_char) -> *const c_void {
    // There is no call to record a panic in: what cannot be told is not offered.
    let asked = AssertUnwindSafe(|| {
        !interface_id.is_null() && CStr::from_ptr(interface_id).to_bytes() == BH_TOOLSET.as_bytes()
    });
    match catch_unwind(asked) {
        Ok(true) => std::ptr::addr_of!(PROVIDERS.0).cast(),
        _ => null(),
    }
}

/// Tables hold pointers to what is constant, so every thread may read them.
struct Table<T>(T);
unsafe impl<T> Sync for Table<T> {}

/// IDs and descriptor texts end with NUL.
macro_rules! text {
    ($($part:expr),+) => {
        concat!($($part,)+ "\0").as_ptr() as *const c_char
    };
}

static TOOLSET: Table<bh_toolset> = Table(bh_toolset {
    struct_size: size_of::<bh_toolset>() as u32,
    abi_minor: BH_ABI_MINOR,
    list: Some(list),
    call: Some(call_tool),
    get_extension: None,
});

static PROVIDER: Table<bh_provider> = Table(bh_provider {
    struct_size: size_of::<bh_provider>() as u32,
    abi_minor: BH_ABI_MINOR,
    id: text!("words"),
    title: text!("Counts words and lines"),
    config_schema: text!(r#"{"type":"object","additionalProperties":false}"#),
    capabilities: text!(
        r#"{"tools":["word_count","line_numbers","output_lines"],"needs":["sandbox.exec/1"]}"#
    ),
    probe: None, // it always works
    open: None,
    close: None,
    table: std::ptr::addr_of!(TOOLSET.0) as *const c_void,
});

static ITEMS: Table<[*const bh_provider; 1]> = Table([std::ptr::addr_of!(PROVIDER.0)]);

static PROVIDERS: Table<bh_provider_list> = Table(bh_provider_list {
    struct_size: size_of::<bh_provider_list>() as u32,
    count: 1,
    items: std::ptr::addr_of!(ITEMS.0) as *const *const bh_provider,
});

static PLUGIN: Table<bh_plugin> = Table(bh_plugin {
    struct_size: size_of::<bh_plugin>() as u32,
    abi_minor: BH_ABI_MINOR,
    id: text!("org.example.words"),
    name: text!("Words"),
    version: text!(env!("CARGO_PKG_VERSION")),
    vendor: text!("Example"),
    license: text!("Apache-2.0"),
    get_interface: Some(get_interface),
    shutdown: None,
});

/// The entry.
///
/// # Safety
/// As `bulkhead/plugin.h` says.
#[no_mangle]
pub unsafe extern "C" fn bh_plugin_entry_v1(call: *mut bh_call) -> *const bh_plugin {
    match guarded(call, |call| call.offers_all()) {
        BH_OK => std::ptr::addr_of!(PLUGIN.0),
        _ => null(),
    }
}
