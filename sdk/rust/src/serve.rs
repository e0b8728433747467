//! The embedder answers: offers, and the questions that come of them. [`crate::Desk`] does all this for
//! closures.

use std::ptr::NonNull;

use crate::event::Queue;
use crate::fault::Fault;
use crate::ffi;
use crate::handle::{checked, handle, made};
use crate::json::Json;
use crate::runtime::{Runtime, Session};

handle! {
    /// An offer to answer something, until it is dropped; its open asks then fail, `UNAVAILABLE`. `Send` and
    /// `Sync`: it has no functions.
    pub Server, bh_server, bh_server_free
}
// SAFETY: bh_server_free, [last], is all there is.
unsafe impl Send for Server {}
unsafe impl Sync for Server {}

impl Session {
    /// From now on this program answers: `{"tool": {...}}` (`abi/schemas/tool.json`) defines a tool,
    /// `{"answers": "approval"}` or `{"answers": "policy.judge"}` takes the host's questions; for this session's
    /// persona or, from an operator's session, for all. `"attachments": true` beside a tool: callers' attachments
    /// arrive before their ask. What is asked arrives on `queue` with `tag`, as [`ffi::BH_EVENT_ASK`].
    ///
    /// # Errors
    /// `serve`, `tool_definition` for an offer that is wrong; `lent_session`; `two_runtimes`; `closed`.
    pub fn serve(&self, what: &Json, queue: &Queue, tag: u64) -> Result<Server, Fault> {
        let text = what.to_string();
        let (s, q) = (self.as_ptr(), queue.as_ptr());
        // SAFETY: both live, the text is borrowed for the call alone.
        made(|out, f| unsafe { ffi::bh_serve(s, text.as_ptr().cast(), text.len(), q, tag, out, f) })
            .map(Server)
    }
}

handle! {
    /// One question that has to be answered; dropped without an answer it fails, `UNAVAILABLE`. `Send`; `Sync`
    /// too: what is `[serial]` takes `&mut self`.
    pub Ask, bh_ask, bh_ask_free
}
// SAFETY: id, result, fail and session are [any]; emit and attach, [serial], take &mut self; free is
// [last].
unsafe impl Send for Ask {}
unsafe impl Sync for Ask {}

impl Ask {
    /// # Safety
    /// `raw` was given by the library and is nobody else's.
    pub(crate) unsafe fn of(raw: NonNull<ffi::bh_ask>) -> Ask {
        Ask(raw)
    }

    /// Its number, as of the events that belong to it.
    pub fn id(&self) -> u64 {
        // SAFETY: the ask lives.
        unsafe { ffi::bh_ask_id(self.as_ptr()) }
    }

    /// Output for the asker, as it appears; says how many of the bytes were taken. After less than all,
    /// [`ffi::BH_EVENT_ROOM`] with this id arrives when more would. Never waits.
    ///
    /// # Errors
    /// `ask_ended` (`OUT_OF_RANGE`); `stream`: that number belongs to attachments.
    pub fn emit(&mut self, stream: i32, data: &[u8]) -> Result<usize, Fault> {
        let mut taken = 0;
        // SAFETY: [serial] by &mut; the bytes are copied.
        checked(|f| unsafe {
            let (bytes, size) = (data.as_ptr().cast(), data.len());
            ffi::bh_ask_emit(self.as_ptr(), stream, bytes, size, &mut taken, f)
        })?;
        Ok(taken)
    }

    /// Bytes that the result names, whole or not at all, 64 MiB at most: what is larger is emitted.
    ///
    /// # Errors
    /// `ask_full`: again after [`ffi::BH_EVENT_ROOM`]; `attachment_too_large`; `ask_ended`.
    pub fn attach(&mut self, name: &str, media_type: &str, data: &[u8]) -> Result<(), Fault> {
        let (n, t, d) = (name.as_ptr().cast(), media_type.as_ptr().cast(), data.as_ptr().cast());
        let (n_len, t_len, d_len) = (name.len(), media_type.len(), data.len());
        // SAFETY: [serial] by &mut; all is copied.
        checked(|f| unsafe { ffi::bh_ask_attach(self.as_ptr(), n, n_len, t, t_len, d, d_len, f) })
    }

    /// The answer; of a tool `abi/schemas/tool_result.json`. The first of result and fail counts.
    ///
    /// # Errors
    /// `ask_ended` (`OUT_OF_RANGE`): nobody waits for it any more.
    pub fn result(&self, answer: &Json) -> Result<(), Fault> {
        let text = answer.to_string();
        // SAFETY: [any]; the text is copied.
        checked(|f| unsafe {
            ffi::bh_ask_result(self.as_ptr(), text.as_ptr().cast(), text.len(), f)
        })
    }

    /// That there is no answer, and why. A tool that ran and failed answers with `is_error` instead.
    ///
    /// # Errors
    /// `ask_ended`.
    pub fn fail(&self, fault: &Fault) -> Result<(), Fault> {
        let details = match &fault.details {
            Json::Object(_) => fault.details.to_string(),
            _ => String::new(),
        };
        let (m, d) = (fault.message.as_ptr().cast(), details.as_ptr().cast());
        let (m_len, d_len) = (fault.message.len(), details.len());
        // SAFETY: [any]; all is copied.
        checked(|f| unsafe { ffi::bh_ask_fail(self.as_ptr(), fault.code.0, m, m_len, d, d_len, f) })
    }

    /// A session with the asker's rights, deadline and cancellation, and no more. `runtime`: the one that
    /// the question came from.
    ///
    /// # Errors
    /// `ask_ended`.
    pub fn session(&self, runtime: &Runtime) -> Result<Session, Fault> {
        // SAFETY: the ask lives; the session becomes ours.
        unsafe {
            let raw = made(|out, f| ffi::bh_ask_session(self.as_ptr(), out, f))?;
            Ok(Session::of(raw, runtime.clone()))
        }
    }
}
