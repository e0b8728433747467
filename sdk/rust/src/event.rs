//! Where everything that happens arrives, and one thing that happened.

use std::borrow::Cow;
use std::ptr::{null_mut, NonNull};
use std::time::Duration;

use crate::fault::Fault;
use crate::ffi;
use crate::handle::{bytes_of, checked, handle, millis};
use crate::serve::Ask;

handle! {
    /// Where events arrive. `Send` and `Sync`: its functions are `[any]`, several threads may pull. Dropping
    /// it cancels the runs that report to it.
    pub Queue, bh_queue, bh_queue_free
}
// SAFETY: next, fd and wake are [any], bh_queue_free is [last].
unsafe impl Send for Queue {}
unsafe impl Sync for Queue {}

impl Queue {
    /// # Safety
    /// `raw` was made by the library and is nobody else's.
    pub(crate) unsafe fn of(raw: NonNull<ffi::bh_queue>) -> Queue {
        Queue(raw)
    }

    /// The next event; those of one run keep their order. `None`: nothing came in time (no `timeout`: no
    /// limit), or somebody called [`Queue::wake`]. Waits.
    ///
    /// # Errors
    /// `closed`: the runtime is closed and all that it still had to say was taken. `forked`: this is the child
    /// of a fork.
    pub fn next(&self, timeout: Option<Duration>) -> Result<Option<Event>, Fault> {
        let mut out = null_mut();
        // SAFETY: the queue lives as long as `self`; the event becomes ours.
        checked(|f| unsafe { ffi::bh_queue_next(self.as_ptr(), millis(timeout), &mut out, f) })?;
        Ok(NonNull::new(out).map(Event))
    }

    /// A file descriptor that is readable when [`Queue::next`] would not wait: for poll, epoll or a reactor.
    /// Never read from it or close it; it lives as long as the queue.
    pub fn fd(&self) -> ffi::bh_fd {
        // SAFETY: the queue lives.
        unsafe { ffi::bh_queue_fd(self.as_ptr()) }
    }

    /// Ends one [`Queue::next`], the current or the coming one.
    pub fn wake(&self) {
        // SAFETY: the queue lives.
        unsafe { ffi::bh_queue_wake(self.as_ptr()) }
    }
}

handle! {
    /// One thing that happened. Dropping it gives its room back to its run: one with 1 MiB of events that
    /// nobody dropped waits. `Send` and `Sync`: reading is `[any]`.
    pub Event, bh_event, bh_event_free
}
// SAFETY: what takes &self is [any]; bh_event_ask, [serial], takes &mut self; free is [last].
unsafe impl Send for Event {}
unsafe impl Sync for Event {}

impl Event {
    /// Which kind, one of `ffi::BH_EVENT_*`; later libraries may have more: leave those alone.
    pub fn kind(&self) -> i32 {
        // SAFETY: here and below, the event lives as long as `self`.
        unsafe { ffi::bh_event_kind(self.as_ptr()) }
    }

    /// Whether it is the last event of its run.
    pub fn is_last(&self) -> bool {
        matches!(self.kind(), ffi::BH_EVENT_RESULT | ffi::BH_EVENT_FAULT)
    }

    /// Of which run or server: what was given when it was started.
    pub fn tag(&self) -> u64 {
        unsafe { ffi::bh_event_tag(self.as_ptr()) }
    }

    /// Of which ask; 0: of none.
    pub fn id(&self) -> u64 {
        unsafe { ffi::bh_event_id(self.as_ptr()) }
    }

    /// When, in nanoseconds of Unix time.
    pub fn time_ns(&self) -> i64 {
        unsafe { ffi::bh_event_time_ns(self.as_ptr()) }
    }

    /// Of which stream, `ffi::BH_STREAM_*` or the operation's own.
    pub fn stream(&self) -> i32 {
        unsafe { ffi::bh_event_stream(self.as_ptr()) }
    }

    /// Of an attachment its name, of an ask what is asked for (a tool's name, `approval`).
    pub fn name(&self) -> Cow<'_, str> {
        let mut size = 0;
        unsafe { text_of(ffi::bh_event_name(self.as_ptr(), &mut size).cast(), size) }
    }

    /// An attachment's media type.
    pub fn media_type(&self) -> Cow<'_, str> {
        let mut size = 0;
        unsafe { text_of(ffi::bh_event_type(self.as_ptr(), &mut size).cast(), size) }
    }

    /// Bytes, or JSON text, by kind.
    pub fn data(&self) -> &[u8] {
        let mut size = 0;
        unsafe {
            let data = ffi::bh_event_data(self.as_ptr(), &mut size);
            bytes_of(data.cast(), size)
        }
    }

    /// The data as text: JSON, by kind. What is not UTF-8 stands in it as U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.data())
    }

    /// Why the run failed, where it did.
    pub fn fault(&self) -> Option<Fault> {
        // SAFETY: the fault is the event's own; it is copied and not freed.
        unsafe {
            let raw = ffi::bh_event_fault(self.as_ptr());
            (!raw.is_null()).then(|| Fault::copied(raw, ffi::BH_UNKNOWN))
        }
    }

    /// The question of a [`ffi::BH_EVENT_ASK`], given once; then `None`. It outlives the event.
    pub fn take_ask(&mut self) -> Option<Ask> {
        // SAFETY: [serial] by &mut; the ask becomes ours.
        unsafe { NonNull::new(ffi::bh_event_ask(self.as_ptr())).map(|raw| Ask::of(raw)) }
    }
}

/// # Safety
/// `data` is NULL or good for `size` bytes as long as the answer is used.
unsafe fn text_of<'a>(data: *const u8, size: usize) -> Cow<'a, str> {
    String::from_utf8_lossy(bytes_of(data, size))
}
