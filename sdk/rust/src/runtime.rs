//! The library, loaded and configured, and one persona's view of it.

use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::event::Queue;
use crate::fault::Fault;
use crate::ffi;
use crate::handle::{checked, handle, made};
use crate::json::{object, Json};
use crate::request::Request;
use crate::run::Run;

/// The library's version, as `0.1.0`.
pub fn version() -> &'static str {
    // SAFETY: a static text that ends with NUL.
    unsafe { CStr::from_ptr(ffi::bh_version_text()) }.to_str().unwrap_or("")
}

handle! {
    RuntimeHandle, bh_runtime, bh_runtime_free
}
// SAFETY: bh_runtime_close, bh_session_new and bh_queue_new are [any], bh_runtime_free is [last].
unsafe impl Send for RuntimeHandle {}
unsafe impl Sync for RuntimeHandle {}

/// Plugins and configuration. Its clones and its sessions share it; with the last of them it closes, on a
/// thread of the library's own. [`Runtime::close`] does it at once and says how it went. `Clone`, `Send`
/// and `Sync`: its functions are `[any]`.
#[derive(Clone, Debug)]
pub struct Runtime(Arc<RuntimeHandle>);

impl Runtime {
    /// Reads the plugins' manifests. `config`: `{"version": 1}` and what differs from the defaults (data_root,
    /// config_dir, plugins, isolation, toolsets, defaults, workers, log). Waits for the disk.
    ///
    /// # Errors
    /// `config` with the field that is wrong; `data_root`, `log_file`.
    pub fn new(config: &Json) -> Result<Runtime, Fault> {
        Runtime::from_text(&config.to_string())
    }

    /// The same with the configuration as JSON text.
    ///
    /// # Errors
    /// Those of [`Runtime::new`], and `json_syntax`.
    pub fn from_text(config: &str) -> Result<Runtime, Fault> {
        // SAFETY: the text is borrowed for the call alone.
        made(|out, f| unsafe { ffi::bh_runtime_new(config.as_ptr().cast(), config.len(), out, f) })
            .map(|raw| Runtime(Arc::new(RuntimeHandle(raw))))
    }

    /// A session of that persona, NAME of `[a-z0-9-]{1,40}`.
    ///
    /// # Errors
    /// `persona` for a text that is no name, `closed`.
    pub fn session(&self, persona: &str) -> Result<Session, Fault> {
        self.session_with(&object([("persona", persona.into())]))
    }

    /// The operator's session: sees logs, audit and all personas.
    ///
    /// # Errors
    /// `closed`.
    pub fn operator(&self) -> Result<Session, Fault> {
        self.session_with(&object([("operator", true.into())]))
    }

    fn session_with(&self, config: &Json) -> Result<Session, Fault> {
        let text = config.to_string();
        let rt = self.as_ptr();
        // SAFETY: the runtime lives, the text is borrowed for the call alone.
        made(|out, f| unsafe { ffi::bh_session_new(rt, text.as_ptr().cast(), text.len(), out, f) })
            .map(|raw| Session { handle: SessionHandle(raw), runtime: self.clone() })
    }

    /// A queue, where events arrive: one for a call, or one for a whole server.
    ///
    /// # Errors
    /// `closed`.
    pub fn queue(&self) -> Result<Queue, Fault> {
        let rt = self.as_ptr();
        // SAFETY: the runtime lives; the queue becomes ours.
        unsafe { Ok(Queue::of(made(|out, f| ffi::bh_queue_new(rt, out, f))?)) }
    }

    /// The C handle, for functions that this crate does not wrap; it stays ours.
    pub fn as_ptr(&self) -> *mut ffi::bh_runtime {
        self.0.as_ptr()
    }

    /// Stops all runs, closes the plugins, and waits for that, `timeout_ms` at most; below 0 counts as 0.
    /// What still lives (sessions, queues) then answers `closed`.
    ///
    /// # Errors
    /// `DEADLINE_EXCEEDED` (`stuck`): a plugin does not return; its memory stays.
    pub fn close(&self, timeout_ms: i32) -> Result<(), Fault> {
        // SAFETY: the runtime lives.
        checked(|f| unsafe { ffi::bh_runtime_close(self.as_ptr(), timeout_ms.max(0), f) })
    }
}

handle! {
    SessionHandle, bh_session, bh_session_free
}
// SAFETY: bh_start, bh_do and bh_serve are [any], bh_session_free is [last].
unsafe impl Send for SessionHandle {}
unsafe impl Sync for SessionHandle {}

/// One persona's view of a runtime, through which everything is called. `Send` and `Sync`: its
/// functions are `[any]`.
#[derive(Debug)]
pub struct Session {
    handle: SessionHandle,
    runtime: Runtime,
}

impl Session {
    /// # Safety
    /// `raw` was made by that runtime's library and is nobody else's.
    pub(crate) unsafe fn of(raw: NonNull<ffi::bh_session>, runtime: Runtime) -> Session {
        Session { handle: SessionHandle(raw), runtime }
    }

    /// Whose view it is.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The C handle, for functions that this crate does not wrap; it stays ours.
    pub fn as_ptr(&self) -> *mut ffi::bh_session {
        self.handle.as_ptr()
    }

    /// Starts a run on a worker of the host and returns at once. Its events carry `tag` and arrive on
    /// `queue`, the last of them is [`ffi::BH_EVENT_RESULT`] or [`ffi::BH_EVENT_FAULT`]. Dropping the
    /// [`Run`] before its end cancels it.
    ///
    /// # Errors
    /// `pool_full` (`RESOURCE_EXHAUSTED`): come back with back-off; arguments that were never given;
    /// `two_runtimes`; `closed`.
    pub fn start(&self, request: &Request, queue: &Queue, tag: u64) -> Result<Run, Fault> {
        let (s, r, q) = (self.as_ptr(), request.as_ptr(), queue.as_ptr());
        // SAFETY: all three live; bh_start is [any] on each, also while others start the request.
        made(|out, f| unsafe { ffi::bh_start(s, r, q, tag, out, f) }).map(Run::of)
    }

    /// The same without a handle: it goes on until it ends, or until the queue is dropped.
    ///
    /// # Errors
    /// Those of [`Session::start`].
    pub fn start_detached(&self, request: &Request, queue: &Queue, tag: u64) -> Result<(), Fault> {
        let (s, r, q) = (self.as_ptr(), request.as_ptr(), queue.as_ptr());
        let nothing = std::ptr::null_mut();
        // SAFETY: as in start(); without a place for the run the engine alone keeps it.
        checked(|f| unsafe { ffi::bh_start(s, r, q, tag, nothing, f) })
    }

    /// Runs it on this thread, for short calls: back when it has ended, its events in `queue`. Whether it
    /// went well is said by its last event. Questions for the same `queue` fail meanwhile
    /// (`would_deadlock`).
    ///
    /// # Errors
    /// `needs_start` for a request with input; `two_runtimes`; `closed`.
    pub fn run_here(&self, request: &Request, queue: &Queue, tag: u64) -> Result<(), Fault> {
        let (s, r, q) = (self.as_ptr(), request.as_ptr(), queue.as_ptr());
        // SAFETY: all three live.
        checked(|f| unsafe { ffi::bh_do(s, r, q, tag, f) })
    }
}
