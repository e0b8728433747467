//! What is to be done: built up, then started, also again.

use std::time::Duration;

use crate::fault::Fault;
use crate::ffi;
use crate::handle::{checked, handle, made};
use crate::json::Json;

handle! {
    /// An operation with its arguments. `Send`; `Sync` too: what changes it takes `&mut self`, and starting
    /// it is `[any]`.
    pub Request, bh_request, bh_request_free
}
// SAFETY: args, attach, timeout and input are [serial] and take &mut self; bh_start and bh_do read it
// and are [any]; free is [last].
unsafe impl Send for Request {}
unsafe impl Sync for Request {}

impl Request {
    /// A request for `operation` (`host/operations.md`, as `sandbox.exec` or `sandbox.exec/1`) with its arguments,
    /// an object. They are checked here, once, however often it is started.
    ///
    /// # Errors
    /// `unknown_operation`; `schema` with the `field` that is wrong.
    pub fn new(operation: &str, args: &Json) -> Result<Request, Fault> {
        let (name, size) = (operation.as_ptr().cast(), operation.len());
        // SAFETY: the name is borrowed for the call alone.
        let raw = made(|out, f| unsafe { ffi::bh_request_new(name, size, out, f) })?;
        let mut request = Request(raw);
        request.set_args(args)?;
        Ok(request)
    }

    /// Other arguments in place of those before; runs that were started keep theirs. After an error the old
    /// ones stay.
    ///
    /// # Errors
    /// `schema` with the `field` that is wrong; `arguments_too_large`.
    pub fn set_args(&mut self, args: &Json) -> Result<(), Fault> {
        let text = args.to_string();
        // SAFETY: [serial] by &mut; the text is borrowed for the call alone.
        checked(|f| unsafe {
            ffi::bh_request_args(self.as_ptr(), text.as_ptr().cast(), text.len(), f)
        })
    }

    /// Bytes beside the arguments, copied: 64 MiB at most; what is larger is sent as input.
    ///
    /// # Errors
    /// `attachment_too_large`.
    pub fn attach(self, name: &str, media_type: &str, data: &[u8]) -> Result<Request, Fault> {
        let (n, t, d) = (name.as_ptr().cast(), media_type.as_ptr().cast(), data.as_ptr().cast());
        let (n_len, t_len, d_len) = (name.len(), media_type.len(), data.len());
        // SAFETY: [serial]: the request is ours; all is borrowed for the call alone.
        checked(|f| unsafe {
            ffi::bh_request_attach(self.as_ptr(), n, n_len, t, t_len, d, d_len, f)
        })?;
        Ok(self)
    }

    /// A time limit, from the start of each run; rounded up to milliseconds, zero: none but the
    /// operation's own.
    ///
    /// # Errors
    /// `timeout`: beyond 292 years.
    pub fn timeout(self, limit: Duration) -> Result<Request, Fault> {
        let whole = limit.as_millis() + u128::from(limit.subsec_nanos() % 1_000_000 != 0);
        let ms = i64::try_from(whole).unwrap_or(i64::MAX);
        // SAFETY: [serial]: the request is ours.
        checked(|f| unsafe { ffi::bh_request_timeout(self.as_ptr(), ms, f) })?;
        Ok(self)
    }

    /// Bytes will be sent ([`crate::Stream::send`], [`crate::Run::send`]); without it the run's input is empty.
    ///
    /// # Errors
    /// `no_input`: the operation takes none.
    pub fn input(self) -> Result<Request, Fault> {
        // SAFETY: [serial]: the request is ours.
        checked(|f| unsafe { ffi::bh_request_input(self.as_ptr(), f) })?;
        Ok(self)
    }
}
