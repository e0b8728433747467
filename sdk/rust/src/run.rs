//! One operation in progress.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use crate::fault::Fault;
use crate::ffi;
use crate::handle::checked;

// The C handle, shared by a run, what sends its input and what cancels it. Freed by the last of them.
struct Shared {
    raw: NonNull<ffi::bh_run>,
    // bh_run_send and bh_run_send_end are [serial]. Neither waits, so neither does who wants the lock.
    sending: Mutex<()>,
}
// SAFETY: cancel is [any]; send and send_end happen under the lock; free is [last]: the Arc's.
unsafe impl Send for Shared {}
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: [last]: nobody else holds it.
        unsafe { ffi::bh_run_free(self.raw.as_ptr()) }
    }
}

/// One operation in progress. Dropping it cancels the run unless it has ended. `Send` and `Sync`.
pub struct Run {
    shared: Arc<Shared>,
}

impl Run {
    pub(crate) fn of(raw: NonNull<ffi::bh_run>) -> Run {
        Run { shared: Arc::new(Shared { raw, sending: Mutex::new(()) }) }
    }

    /// Sends input, and says how many of the bytes were taken: those that fit. After less than all,
    /// [`ffi::BH_EVENT_ROOM`] arrives when more would. Never waits.
    ///
    /// # Errors
    /// `input_ended` (`OUT_OF_RANGE`): nobody reads any more. `no_input`: the request announced none.
    pub fn send(&mut self, data: &[u8]) -> Result<usize, Fault> {
        self.sender().send(data)
    }

    /// The input has ended.
    ///
    /// # Errors
    /// `no_input`: the request announced none.
    pub fn send_end(&mut self) -> Result<(), Fault> {
        self.sender().send_end()
    }

    /// Stops it: it ends with a fault, [`crate::Code::CANCELLED`], unless it has ended. Never waits.
    pub fn cancel(&self) {
        // SAFETY: [any] on a live handle.
        unsafe { ffi::bh_run_cancel(self.shared.raw.as_ptr()) }
    }

    /// To cancel it from elsewhere. It keeps nothing going: dropping the run cancels all the same.
    pub fn canceller(&self) -> Canceller {
        Canceller { shared: self.shared.clone() }
    }

    pub(crate) fn sender(&self) -> Sender {
        Sender { shared: self.shared.clone() }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Others may hold the handle for longer: the run's end must not depend on them.
        self.cancel();
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Run({:p})", self.shared.raw)
    }
}

/// Cancels a run from any thread, during and after it. `Clone`, `Send` and `Sync`.
#[derive(Clone)]
pub struct Canceller {
    shared: Arc<Shared>,
}

impl Canceller {
    /// As [`Run::cancel`]; after the run's end it does nothing.
    pub fn cancel(&self) {
        // SAFETY: [any] on a live handle.
        unsafe { ffi::bh_run_cancel(self.shared.raw.as_ptr()) }
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Canceller({:p})", self.shared.raw)
    }
}

/// Sends a run's input; see [`Run::send`].
pub(crate) struct Sender {
    shared: Arc<Shared>,
}

impl Sender {
    pub(crate) fn send(&self, data: &[u8]) -> Result<usize, Fault> {
        let _serial = self.shared.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = 0;
        // SAFETY: [serial] by the lock; the bytes are copied.
        checked(|f| unsafe {
            let raw = self.shared.raw.as_ptr();
            ffi::bh_run_send(raw, data.as_ptr().cast(), data.len(), &mut taken, f)
        })?;
        Ok(taken)
    }

    pub(crate) fn send_end(&self) -> Result<(), Fault> {
        let _serial = self.shared.sending.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: [serial] by the lock.
        checked(|f| unsafe { ffi::bh_run_send_end(self.shared.raw.as_ptr(), f) })
    }
}
