//! Operations of the host, called from a tool: with the caller's persona, rights, deadline and
//! cancellation.

use std::ffi::c_void;
use std::os::raw::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::abi::*;
use crate::call::{bytes, Call, Done, Stop};
use crate::json::Json;

// Where the answers of one operation go. The host calls these one at a time, until run() returns.
struct Answers<'a> {
    output: &'a mut dyn FnMut(i32, &[u8]),
    result: Option<Json>,
    unreadable: bool,
    panicked: bool,
}

impl Call {
    /// Runs `operation` to its end: `output` gets its streams, the answer is its result. Why it failed is
    /// recorded in this call already.
    pub fn run(
        &self,
        operation: &str,
        args: &Json,
        output: &mut dyn FnMut(i32, &[u8]),
    ) -> Done<Json> {
        let table: *const bh_operations = self.service(BH_OPERATIONS).cast();
        // SAFETY: a table that the host hands out lives as long as the call.
        let run = match table.is_null() {
            true => None,
            false => unsafe { function!(table, run) },
        };
        let run = run.ok_or_else(|| {
            self.fail(BH_UNIMPLEMENTED, "no_operations", "this host gives tools no operations")
        })?;
        let args = args.to_string();
        let mut answers = Answers { output, result: None, unreadable: false, panicked: false };
        let io = bh_run_io {
            struct_size: std::mem::size_of::<bh_run_io>() as u32,
            flags: 0,
            tag: 0,
            timeout_ns: 0,
            ctx: std::ptr::addr_of_mut!(answers).cast(),
            result: Some(on_result),
            item: None,
            emit: Some(on_emit),
            attach: None,
            fault: None, // recorded in the outer call
        };
        // SAFETY: all of it is borrowed for the call alone; `answers` outlives it.
        let code = unsafe {
            let (o, a) = (operation.as_ptr().cast(), args.as_ptr().cast());
            run(self.raw, o, operation.len(), a, args.len(), std::ptr::null(), 0, &io)
        };
        if answers.panicked {
            return Err(self.fail(BH_INTERNAL, "exception", "the plugin panicked on output"));
        }
        if code != BH_OK {
            return Err(Stop(code));
        }
        match answers.result {
            Some(result) if !answers.unreadable => Ok(result),
            _ => Err(self.fail(BH_INTERNAL, "json", "the operation's result is missing or no JSON")),
        }
    }
}

// A callback is a border too: nothing unwinds into the host.
unsafe fn answer(ctx: *mut c_void, work: impl FnOnce(&mut Answers<'_>)) -> bh_status {
    let answers = &mut *ctx.cast::<Answers<'_>>();
    match catch_unwind(AssertUnwindSafe(|| work(answers))) {
        Ok(()) => BH_OK,
        Err(panic) => {
            std::mem::forget(panic);
            answers.panicked = true;
            BH_INTERNAL
        }
    }
}

unsafe extern "C" fn on_result(ctx: *mut c_void, json: *const c_char, len: usize) -> bh_status {
    answer(ctx, |answers| {
        let text = std::str::from_utf8(bytes(json, len)).ok();
        answers.result = text.and_then(|text| Json::parse(text).ok());
        answers.unreadable = answers.result.is_none();
    })
}

unsafe extern "C" fn on_emit(
    ctx: *mut c_void,
    stream: i32,
    data: *const c_void,
    size: usize,
) -> bh_status {
    answer(ctx, |answers| (answers.output)(stream, bytes(data, size)))
}
