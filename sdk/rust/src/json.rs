//! JSON, as much of it as calls need: read, look at, build, write. The standard library has none.
//!
//! ```
//! use bulkhead::json::{object, Json};
//! let args = object([("argv", Json::from(vec!["echo", "hi"])), ("collect", true.into())]);
//! assert_eq!(args.to_string(), r#"{"argv":["echo","hi"],"collect":true}"#);
//! let back = Json::parse(&args.to_string()).unwrap();
//! assert_eq!(back["argv"][1].as_str(), Some("hi"));
//! assert!(back["no such key"]["nor below it"].is_null());
//! ```

use std::fmt;
use std::ops::Index;

/// Deeper texts are refused, as the library refuses them.
pub const DEPTH: usize = 128;

/// A JSON value. Objects keep the order of their members. One that a program nests itself, tens of
/// thousands deep, overflows the stack where it is written, compared, copied or dropped; what is read
/// ends at [`DEPTH`], and so does what the library accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`; also what looking for something that is not there gives.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction and exponent that fits.
    Int(i64),
    /// One that fits only here: above `i64::MAX`.
    UInt(u64),
    /// Any other number. One that is not finite is written as `null`.
    Float(f64),
    /// A text.
    String(String),
    /// Its elements.
    Array(Vec<Json>),
    /// Its members, in order; each name once.
    Object(Vec<(String, Json)>),
}

/// Why a text is not JSON: what is wrong and at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The byte, from 0, at which reading stopped.
    pub at: usize,
    /// What is wrong there.
    pub what: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not JSON at byte {}: {}", self.at, self.what)
    }
}

impl std::error::Error for JsonError {}

static NULL: Json = Json::Null;

/// An object of these members.
pub fn object<K: Into<String>>(members: impl IntoIterator<Item = (K, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(k, v)| (k.into(), v)).collect())
}

impl Json {
    /// Reads one value that is the whole text. Refuses what is deeper than [`DEPTH`], a name twice in one
    /// object, and half of a surrogate pair.
    pub fn parse(text: &str) -> Result<Json, JsonError> {
        crate::json_read::read(text)
    }
    /// The member of that name; `None` where there is none, or where this is no object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(k, _)| k == name).map(|(_, v)| v),
            _ => None,
        }
    }
    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }
    /// A whole number, also one that is written with a fraction or an exponent (`5.0`, `1e3`), as far as
    /// such are exact: up to 2^53.
    pub fn as_i64(&self) -> Option<i64> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Json::Int(number) => Some(*number),
            Json::Float(number) if number.fract() == 0.0 && number.abs() <= EXACT => {
                Some(*number as i64)
            }
            _ => None,
        }
    }
    /// A whole number that is not negative; otherwise as [`Json::as_i64`].
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Json::UInt(number) => Some(*number),
            _ => self.as_i64().and_then(|number| u64::try_from(number).ok()),
        }
    }
    /// Any number; whole ones beyond 2^53 lose their last digits.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Json::Int(number) => Some(*number as f64),
            Json::UInt(number) => Some(*number as f64),
            Json::Float(number) => Some(*number),
            _ => None,
        }
    }
    /// `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }
    /// The elements of an array; none of anything else.
    pub fn items(&self) -> &[Json] {
        match self {
            Json::Array(items) => items,
            _ => &[],
        }
    }
    /// The members of an object; none of anything else.
    pub fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }
    /// Whether it is `null`, or was not there.
    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }
}

/// The member of that name, or `null`.
impl Index<&str> for Json {
    type Output = Json;
    fn index(&self, name: &str) -> &Json {
        self.get(name).unwrap_or(&NULL)
    }
}

/// That element, or `null`.
impl Index<usize> for Json {
    type Output = Json;
    fn index(&self, at: usize) -> &Json {
        self.items().get(at).unwrap_or(&NULL)
    }
}

/// Writes it without spaces.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{}", value),
            Json::Int(number) => write!(f, "{}", number),
            Json::UInt(number) => write!(f, "{}", number),
            Json::Float(number) if number.is_finite() => write!(f, "{:?}", number),
            Json::Float(_) => f.write_str("null"),
            Json::String(text) => write_text(f, text),
            Json::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{}", if i > 0 { "," } else { "" }, item)?;
                }
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                for (i, (name, value)) in members.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    write_text(f, name)?;
                    write!(f, ":{}", value)?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        f.write_str(&text[from..at])?;
        from = at + 1;
        match byte {
            b'"' => f.write_str("\\\"")?,
            b'\\' => f.write_str("\\\\")?,
            b'\n' => f.write_str("\\n")?,
            b'\r' => f.write_str("\\r")?,
            b'\t' => f.write_str("\\t")?,
            _ => write!(f, "\\u{:04x}", byte)?,
        }
    }
    f.write_str(&text[from..])?;
    f.write_str("\"")
}

macro_rules! from {
    ($($type:ty, $value:ident => $json:expr;)*) => {$(
        impl From<$type> for Json {
            fn from($value: $type) -> Json {
                $json
            }
        }
    )*};
}

from! {
    &str, text => Json::String(text.to_owned());
    &String, text => Json::String(text.clone());
    String, text => Json::String(text);
    bool, value => Json::Bool(value);
    i32, number => Json::Int(number.into());
    u32, number => Json::Int(number.into());
    i64, number => Json::Int(number);
    f64, number => Json::Float(number);
    u64, number => i64::try_from(number).map_or(Json::UInt(number), Json::Int);
    usize, number => Json::from(number as u64);
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Json {
        Json::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}
