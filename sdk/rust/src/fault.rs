//! Why something failed.

use std::fmt;

use crate::ffi;
use crate::handle::bytes_of;
use crate::json::Json;

/// What a caller can do about a failure (`abi/errors.md`). Codes that this crate does not know may come
/// from a later library: they are kept, and mean no more than [`Code::UNKNOWN`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code(pub i32);

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $raw:ident;)*) => {
        impl Code {
            $($(#[$doc])* pub const $name: Code = Code(ffi::$raw);)*
            /// Its name in words, as `CANCELLED`; `UNKNOWN` for one that is not listed.
            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$name => stringify!($name),)*
                    _ => "UNKNOWN",
                }
            }
        }
    };
}

codes! {
    /// The caller asked for it.
    CANCELLED = BH_CANCELLED;
    /// Nothing better is known.
    UNKNOWN = BH_UNKNOWN;
    /// The request is wrong: never repeat it unchanged.
    INVALID_ARGUMENT = BH_INVALID_ARGUMENT;
    /// Its time was over; it may have been done all the same.
    DEADLINE_EXCEEDED = BH_DEADLINE_EXCEEDED;
    /// What was named is not there.
    NOT_FOUND = BH_NOT_FOUND;
    /// What was to be made is there.
    ALREADY_EXISTS = BH_ALREADY_EXISTS;
    /// A rule said no.
    PERMISSION_DENIED = BH_PERMISSION_DENIED;
    /// A quota, disk, thread or size limit.
    RESOURCE_EXHAUSTED = BH_RESOURCE_EXHAUSTED;
    /// Fix the state first.
    FAILED_PRECONDITION = BH_FAILED_PRECONDITION;
    /// It lost a race: restart the larger step.
    ABORTED = BH_ABORTED;
    /// Past the end; nobody reads or waits any more.
    OUT_OF_RANGE = BH_OUT_OF_RANGE;
    /// This one never can.
    UNIMPLEMENTED = BH_UNIMPLEMENTED;
    /// A bug, including a panic.
    INTERNAL = BH_INTERNAL;
    /// Repeat with back-off.
    UNAVAILABLE = BH_UNAVAILABLE;
    /// What was kept is damaged or gone.
    DATA_LOSS = BH_DATA_LOSS;
    /// Credentials are missing or wrong.
    UNAUTHENTICATED = BH_UNAUTHENTICATED;
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name(), self.0)
    }
}

/// Why something failed: owns its texts, belongs to no handle.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What a caller can do about it.
    pub code: Code,
    /// A sentence for people: what, why, what would help.
    pub message: String,
    /// An object for programs: `reason`, and beside it what fits (`field`, `remedy`, `limit`, `partial`,
    /// ...); [`Json::Null`] where there is nothing to say.
    pub details: Json,
}

impl Fault {
    /// One of your own, for an answer to the host. An empty `reason`: none.
    pub fn new(code: Code, reason: &str, message: impl Into<String>) -> Fault {
        let details = match reason {
            "" => Json::Null,
            _ => crate::json::object([("reason", reason.into())]),
        };
        Fault { code, message: message.into(), details }
    }

    /// The stable word from `abi/errors.md` that says which case it is; empty where there is none.
    pub fn reason(&self) -> &str {
        self.details["reason"].as_str().unwrap_or("")
    }

    /// # Safety
    /// `raw` is NULL or a live fault.
    pub(crate) unsafe fn copied(raw: *const ffi::bh_fault, code: i32) -> Fault {
        if raw.is_null() {
            return Fault::new(Code(code), "", "the library gave no reason");
        }
        let text = |read: unsafe extern "C" fn(_, *mut usize) -> *const std::os::raw::c_char| {
            let mut size = 0;
            let data = read(raw, &mut size);
            String::from_utf8_lossy(bytes_of(data.cast(), size)).into_owned()
        };
        let details = text(ffi::bh_fault_details);
        Fault {
            code: Code(ffi::bh_fault_code(raw)),
            message: text(ffi::bh_fault_message),
            details: Json::parse(&details).unwrap_or(Json::Null),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.reason() {
            "" => write!(f, " ({})", self.code.name()),
            reason => write!(f, " ({}, {})", self.code.name(), reason),
        }
    }
}

impl std::error::Error for Fault {}
