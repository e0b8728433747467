// What all handles share: a pointer that is freed once, and calls that leave a fault behind.

use std::ptr::{null_mut, NonNull};
use std::slice;
use std::time::Duration;

use crate::fault::Fault;
use crate::ffi;

/// The bytes at `data`; none for NULL.
///
/// # Safety
/// `data` is NULL or good for `size` bytes, for as long as the answer is used.
pub(crate) unsafe fn bytes_of<'a>(data: *const u8, size: usize) -> &'a [u8] {
    if data.is_null() || size == 0 {
        return &[];
    }
    slice::from_raw_parts(data, size)
}

/// Makes one call of the library, which gets a place for its fault.
pub(crate) fn checked(
    call: impl FnOnce(*mut *mut ffi::bh_fault) -> ffi::bh_status,
) -> Result<(), Fault> {
    let mut raw = null_mut();
    let code = call(&mut raw);
    // SAFETY: the fault is ours, and is freed after it was copied; NULL is accepted.
    unsafe {
        let out = if code == ffi::BH_OK { Ok(()) } else { Err(Fault::copied(raw, code)) };
        ffi::bh_fault_free(raw);
        out
    }
}

/// The same for a call that makes something; the fault's place comes last.
pub(crate) fn made<T>(
    call: impl FnOnce(*mut *mut T, *mut *mut ffi::bh_fault) -> ffi::bh_status,
) -> Result<NonNull<T>, Fault> {
    let mut out = null_mut();
    checked(|f| call(&mut out, f))?;
    NonNull::new(out).ok_or_else(|| {
        Fault::new(crate::Code::INTERNAL, "", "the library said BH_OK and made nothing")
    })
}

/// Milliseconds as the library takes them: -1 for no limit, rounded up, cut at the largest.
pub(crate) fn millis(time: Option<Duration>) -> i32 {
    time.map_or(-1, |t| {
        let whole = t.as_millis() + u128::from(t.subsec_nanos() % 1_000_000 != 0);
        i32::try_from(whole).unwrap_or(i32::MAX)
    })
}

// A newtype over a handle that is freed when dropped. `Send` and `Sync` are given where the type is
// defined, with the reason.
macro_rules! handle {
    ($(#[$doc:meta])* $vis:vis $name:ident, $raw:ident, $free:ident) => {
        $(#[$doc])*
        $vis struct $name(std::ptr::NonNull<$crate::ffi::$raw>);

        impl $name {
            /// The C handle, for functions that this crate does not wrap; it stays ours.
            $vis fn as_ptr(&self) -> *mut $crate::ffi::$raw {
                self.0.as_ptr()
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: [last], and ours alone: nobody borrows what is being dropped.
                unsafe { $crate::ffi::$free(self.0.as_ptr()) }
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({:p})"), self.0)
            }
        }
    };
}
pub(crate) use handle;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_rounded_up_and_cut() {
        let ms = |nanos| millis(Some(Duration::from_nanos(nanos)));
        assert_eq!([ms(0), ms(1), ms(1_000_000), ms(1_000_001)], [0, 1, 1, 2]);
        assert_eq!((millis(None), millis(Some(Duration::MAX))), (-1, i32::MAX));
    }
}
