//! Bulkhead from Rust: runs AI agents' tool calls in isolation, in this process, through
//! libbulkhead's C ABI. No dependency but the library; Rust 1.63 and newer.
//!
//! ```no_run
//! use bulkhead::{object, Json, Runtime};
//! # fn main() -> Result<(), bulkhead::Fault> {
//! let runtime = Runtime::new(&object([("version", 1.into())]))?;
//! let session = runtime.session("default")?;
//! let argv = Json::from(vec!["id", "-u"]);
//! let done = session.call("sandbox.exec", &object([("argv", argv)]))?;
//! print!("{}", String::from_utf8_lossy(done.stdout()));
//! runtime.close(1000)?;
//! # Ok(())
//! # }
//! ```
//!
//! What can be called is listed in `host/operations.md`. Two layers:
//!
//! - **handles**, as the C header has them: [`Runtime`], [`Session`], [`Queue`], [`Request`], [`Run`],
//!   [`Event`], [`Server`], [`Ask`]. A program with an event loop of its own uses these: one queue for
//!   everything, [`Queue::fd`] to wait on.
//! - **calls**: [`Session::call`] waits for the end, [`Session::open`] gives what happens as it happens
//!   ([`Stream`], an iterator, with input and cancelling), [`Desk`] answers the host's questions and
//!   serves tools that are closures.
//!
//! All that happens is pulled: no thread of the library ever enters Rust code. Handles may be
//! dropped in any order, no drop waits, and each keeps what it needs of its parents. A handle is
//! `Send` and `Sync` as far as the header's thread tags go: where a function is not to run beside
//! itself it takes `&mut self`.

#![warn(missing_docs)]

mod call;
mod desk;
mod desk_state;
mod event;
mod fault;
pub mod ffi;
mod handle;
#[cfg(test)]
mod inside;
pub mod json;
mod json_read;
mod offer;
mod request;
mod run;
mod runtime;
mod serve;
mod stream;

pub use call::{Attachment, Outcome};
pub use desk::{Desk, Serving};
pub use event::{Event, Queue};
pub use fault::{Code, Fault};
pub use json::{object, Json};
pub use offer::{error_result, text_result, Asked, Tool};
pub use request::Request;
pub use run::{Canceller, Run};
pub use runtime::{version, Runtime, Session};
pub use serve::{Ask, Server};
pub use stream::{Input, Piece, Stream};

// The README's example is compiled with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
