//! One call into the plugin, with Rust's types; and the border that no panic crosses.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::abi::*;
use crate::json::Json;

/// What a function here ends with instead of an answer: a code that the host knows the reason of.
pub struct Stop(pub bh_status);

pub type Done<T = ()> = Result<T, Stop>;

/// Valid until the host's function returns; never kept.
#[derive(Clone, Copy)]
pub struct Call {
    pub raw: *mut bh_call,
}

fn checked(code: bh_status) -> Done {
    match code {
        BH_OK => Ok(()),
        code => Err(Stop(code)),
    }
}

impl Call {
    /// Records the error for whoever called; the answer is what the function then returns.
    pub fn fail(&self, code: bh_status, reason: &str, message: &str) -> Stop {
        let details = crate::json::object([("reason", reason.into())]).to_string();
        let (m, d) = (message.as_ptr().cast(), details.as_ptr().cast());
        // SAFETY: here and below, the call is valid and all texts are borrowed for it alone.
        unsafe {
            match function!((*self.raw).api, fail) {
                Some(fail) => Stop(fail(self.raw, code, m, message.len(), d, details.len())),
                None => Stop(code),
            }
        }
    }

    fn lacks(&self) -> Stop {
        self.fail(BH_UNIMPLEMENTED, "not_offered", "this host is too old for the plugin")
    }

    /// Whether the host has what no tool here does without; otherwise the error says that it is too old.
    pub fn offers_all(&self) -> Done {
        if self.raw.is_null() {
            return Err(Stop(BH_INVALID_ARGUMENT));
        }
        unsafe {
            let api = (*self.raw).api;
            let (fail, result) = (function!(api, fail), function!(api, result));
            match fail.is_some() && result.is_some() && function!(api, item).is_some() {
                true => Ok(()),
                false => Err(self.lacks()),
            }
        }
    }

    /// The final answer, once.
    pub fn result(&self, json: &Json) -> Done {
        let text = json.to_string();
        unsafe {
            let result = function!((*self.raw).api, result).ok_or_else(|| self.lacks())?;
            checked(result(self.raw, text.as_ptr().cast(), text.len()))
        }
    }

    /// One element of a list.
    pub fn item(&self, json: &str) -> Done {
        unsafe {
            let item = function!((*self.raw).api, item).ok_or_else(|| self.lacks())?;
            checked(item(self.raw, json.as_ptr().cast(), json.len()))
        }
    }

    /// Output as it appears; waits while the reader is slow.
    pub fn emit(&self, stream: i32, data: &[u8]) -> Done {
        unsafe {
            let emit = function!((*self.raw).api, emit).ok_or_else(|| self.lacks())?;
            checked(emit(self.raw, stream, data.as_ptr().cast(), data.len()))
        }
    }

    /// Waits for input and says how much came; 0: it has ended.
    pub fn receive(&self, buffer: &mut [u8]) -> Done<usize> {
        let mut got = 0;
        unsafe {
            let receive = function!((*self.raw).api, receive).ok_or_else(|| self.lacks())?;
            checked(receive(self.raw, buffer.as_mut_ptr().cast(), buffer.len(), &mut got))?;
        }
        Ok(got.min(buffer.len()))
    }

    /// A table that belongs to this call. `id` ends with NUL.
    pub fn service(&self, id: &str) -> *const c_void {
        debug_assert!(id.ends_with('\0'));
        unsafe {
            match function!((*self.raw).api, get_service) {
                Some(get_service) => get_service(self.raw, id.as_ptr().cast()),
                None => std::ptr::null(),
            }
        }
    }
}

/// The bytes of an argument.
///
/// # Safety
/// `data` is NULL or good for `size` bytes as long as the answer is used.
pub unsafe fn bytes<'a, T>(data: *const T, size: usize) -> &'a [u8] {
    match data.is_null() {
        true => &[],
        false => std::slice::from_raw_parts(data.cast(), size),
    }
}

/// What a panic said.
pub fn words_of(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        _ => "without a text",
    }
}

/// The border: every function that the host calls is one of these inside. A panic becomes an error of
/// the call, with its words.
pub fn guarded(call: *mut bh_call, work: impl FnOnce(Call) -> Done) -> bh_status {
    let call = Call { raw: call };
    match catch_unwind(AssertUnwindSafe(|| work(call))) {
        Ok(Ok(())) => BH_OK,
        Ok(Err(Stop(code))) => code,
        Err(panic) => {
            let message = format!("the plugin panicked: {}", words_of(&*panic));
            let Stop(code) = call.fail(BH_INTERNAL, "exception", &message);
            // What was thrown may itself panic when it is dropped.
            std::mem::forget(panic);
            code
        }
    }
}
