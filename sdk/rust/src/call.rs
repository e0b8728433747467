//! A whole call: from arguments to what came of it.

use std::collections::BTreeMap;

use crate::event::Event;
use crate::fault::{Code, Fault};
use crate::ffi;
use crate::json::Json;
use crate::request::Request;
use crate::runtime::Session;
use crate::stream::{Piece, Stream};

/// Bytes with a name and a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// What a result calls it.
    pub name: String,
    /// As `image/png`.
    pub media_type: String,
    /// The bytes; of a [`Piece`] none where they follow as output of `stream`.
    pub data: Vec<u8>,
    /// 0, or above 64 MiB the stream on which the bytes follow, until a piece without any.
    pub stream: i32,
}

impl Attachment {
    pub(crate) fn of(event: &Event) -> Attachment {
        Attachment {
            name: event.name().into_owned(),
            media_type: event.media_type().into_owned(),
            data: event.data().to_vec(),
            stream: event.stream(),
        }
    }
}

/// What came of a call that went well.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The result; its shape stands with the operation in `host/operations.md`.
    pub result: Json,
    /// The items, in order.
    pub items: Vec<Json>,
    /// The bytes of each stream.
    pub streams: BTreeMap<i32, Vec<u8>>,
    /// The attachments, whole.
    pub attachments: Vec<Attachment>,
}

impl Outcome {
    /// What a command wrote to stdout.
    pub fn stdout(&self) -> &[u8] {
        self.stream(ffi::BH_STREAM_STDOUT)
    }
    /// What a command wrote to stderr.
    pub fn stderr(&self) -> &[u8] {
        self.stream(ffi::BH_STREAM_STDERR)
    }
    /// The bytes of a file, or of what else is data.
    pub fn data(&self) -> &[u8] {
        self.stream(ffi::BH_STREAM_DATA)
    }
    /// The bytes of any stream.
    pub fn stream(&self, stream: i32) -> &[u8] {
        self.streams.get(&stream).map_or(&[], Vec::as_slice)
    }
    /// Of a tool's result: the texts of its content, a line each.
    pub fn text(&self) -> String {
        let content = self.result["content"].items().iter();
        let texts: Vec<&str> = content.filter_map(|c| c["text"].as_str()).collect();
        texts.join("\n")
    }

    pub(crate) fn collect(stream: Stream) -> Result<Outcome, Fault> {
        let mut out = Outcome::empty();
        for piece in stream {
            match piece? {
                Piece::Item(item) => out.items.push(item),
                Piece::Attachment(attachment) => out.attachments.push(attachment),
                Piece::Output { stream, data } => out.put(stream, data),
                Piece::Result(result) => {
                    out.result = result;
                    return Ok(out);
                }
                _ => {}
            }
        }
        Err(Fault::new(Code::FAILED_PRECONDITION, "", "the end of this run was taken already"))
    }

    fn empty() -> Outcome {
        Outcome {
            result: Json::Null,
            items: Vec::new(),
            streams: BTreeMap::new(),
            attachments: Vec::new(),
        }
    }

    fn put(&mut self, stream: i32, mut data: Vec<u8>) {
        let whose = match stream {
            ffi::BH_STREAM_ATTACHED.. => self.attachments.iter_mut().find(|a| a.stream == stream),
            _ => None,
        };
        match whose {
            Some(attachment) => attachment.data.append(&mut data),
            None => self.streams.entry(stream).or_default().append(&mut data),
        }
    }
}

impl Session {
    /// Calls one operation and waits for its end; all that it sends is kept in memory. With a time limit,
    /// attachments or input: [`Request`] and [`Session::open`].
    ///
    /// ```no_run
    /// # use bulkhead::{object, Json, Session};
    /// # fn f(session: &Session) -> Result<(), bulkhead::Fault> {
    /// let made = session.call("sandbox.create", &object([("workspace", "/srv/project".into())]))?;
    /// println!("{}", made.result["sandbox"].as_str().unwrap_or(""));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Request::new`] and [`Session::start`], and what the operation ends with.
    pub fn call(&self, operation: &str, args: &Json) -> Result<Outcome, Fault> {
        self.open(&Request::new(operation, args)?)?.finish()
    }

    /// Calls one tool: the operation `tool.call`. A tool that ran and failed is no fault: its result says
    /// `is_error`.
    ///
    /// # Errors
    /// `unknown_tool`, `schema`; otherwise those of [`Session::call`].
    pub fn tool(&self, name: &str, args: &Json) -> Result<Outcome, Fault> {
        let call = crate::json::object([("name", name.into()), ("arguments", args.clone())]);
        self.call("tool.call", &call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_large_attachment_reach_it_and_no_stream() {
        let mut out = Outcome::empty();
        let stream = ffi::BH_STREAM_ATTACHED;
        out.attachments.push(Attachment { stream, ..Attachment::default() });
        for part in ["a", "bc", ""] {
            out.put(stream, part.into());
        }
        out.put(ffi::BH_STREAM_STDOUT, "x".into());
        assert_eq!(out.attachments[0].data, b"abc");
        assert_eq!((out.stdout(), out.streams.len()), (&b"x"[..], 1));
    }
}
