//! A run as an iterator over what happens, with input and cancelling.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::call::{Attachment, Outcome};
use crate::event::{Event, Queue};
use crate::fault::{Code, Fault};
use crate::ffi;
use crate::json::Json;
use crate::request::Request;
use crate::run::{Canceller, Run, Sender};
use crate::runtime::Session;

/// One thing that happened in a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Piece {
    /// One element of a list or a watch.
    Item(Json),
    /// Bytes of a stream, as they came: a piece may end within a character or a line.
    Output {
        /// `ffi::BH_STREAM_STDOUT`, `_STDERR`, `_DATA`, the operation's own, or that of an attachment.
        stream: i32,
        /// At least one byte; none where an attachment's stream ends.
        data: Vec<u8>,
    },
    /// How far it is; may be left out.
    Progress(Json),
    /// Bytes with a name.
    Attachment(Attachment),
    /// [`Stream::send`] can go on.
    Room,
    /// The last one, on success.
    Result(Json),
}

impl Piece {
    // None: a kind that a later library made up, or nothing for who reads a run.
    fn of(event: &Event) -> Option<Result<Piece, Fault>> {
        let json = |make: fn(Json) -> Piece| match Json::parse(&event.text()) {
            Ok(value) => Ok(make(value)),
            Err(e) => Err(Fault::new(Code::INTERNAL, "json", format!("an event's data: {}", e))),
        };
        Some(match event.kind() {
            ffi::BH_EVENT_ITEM => json(Piece::Item),
            ffi::BH_EVENT_PROGRESS => json(Piece::Progress),
            ffi::BH_EVENT_RESULT => json(Piece::Result),
            ffi::BH_EVENT_OUTPUT => {
                Ok(Piece::Output { stream: event.stream(), data: event.data().to_vec() })
            }
            ffi::BH_EVENT_ATTACHMENT => Ok(Piece::Attachment(Attachment::of(event))),
            ffi::BH_EVENT_ROOM => Ok(Piece::Room),
            ffi::BH_EVENT_FAULT => Err(event
                .fault()
                .unwrap_or_else(|| Fault::new(Code::UNKNOWN, "", "it failed without a reason"))),
            _ => return None,
        })
    }
}

// What the stream tells the writer of its input.
#[derive(Default)]
struct Signal {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Default)]
struct SignalState {
    // How often there was room: each of several writers remembers what it has seen, and none takes it
    // from the others.
    rooms: u64,
    over: bool,
}

impl Signal {
    fn lock(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run as an iterator: pieces as they come, then [`Piece::Result`] or one `Err`, then nothing more. Room
/// is given back as pieces are taken, so a slow reader slows the run and memory stays small. Dropping
/// it cancels the run. `Send`.
#[derive(Debug)]
pub struct Stream {
    run: Run,
    queue: Queue,
    kept: VecDeque<Result<Piece, Fault>>,
    ended: bool,
    signal: Arc<Signal>,
}

impl std::fmt::Debug for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signal")
    }
}

impl Session {
    /// Starts a run whose pieces are read as they come; it has a queue of its own.
    ///
    /// # Errors
    /// Those of [`Session::start`]; what the run itself fails with comes out of the iterator.
    pub fn open(&self, request: &Request) -> Result<Stream, Fault> {
        let queue = self.runtime().queue()?;
        let run = self.start(request, &queue, 1)?;
        Ok(Stream { run, queue, kept: VecDeque::new(), ended: false, signal: Arc::default() })
    }
}

impl Stream {
    /// The next piece: `Ok(None)` when nothing came within `timeout` (`None`: no limit), or after the end.
    ///
    /// # Errors
    /// What the run failed with; it is over then.
    pub fn next_within(&mut self, timeout: Option<Duration>) -> Result<Option<Piece>, Fault> {
        match self.kept.pop_front() {
            Some(piece) => piece.map(Some),
            None => self.pull(timeout).transpose(),
        }
    }

    /// Whether the last piece was taken.
    pub fn is_over(&self) -> bool {
        self.ended && self.kept.is_empty()
    }

    fn pull(&mut self, timeout: Option<Duration>) -> Option<Result<Piece, Fault>> {
        while !self.ended {
            let event = match self.queue.next(timeout) {
                Ok(Some(event)) => event,
                Ok(None) => return None,
                Err(fault) => {
                    self.end();
                    return Some(Err(fault));
                }
            };
            if event.is_last() {
                self.end();
            } else if event.kind() == ffi::BH_EVENT_ROOM {
                self.signal.lock().rooms += 1;
                self.signal.changed.notify_all();
            }
            let piece = Piece::of(&event);
            self.heard(&piece);
            if piece.is_some() {
                return piece;
            }
        }
        None
    }

    // An error is the last piece, also one of an event that cannot be read.
    fn heard(&mut self, piece: &Option<Result<Piece, Fault>>) {
        if matches!(piece, Some(Err(_))) && !self.ended {
            self.run.cancel();
            self.end();
        }
    }

    fn end(&mut self) {
        self.ended = true;
        self.signal.lock().over = true;
        self.signal.changed.notify_all();
    }

    /// Sends input and says how much was taken, as [`Run::send`]. After less than all, [`Piece::Room`] comes
    /// when more would. Never waits.
    ///
    /// # Errors
    /// `input_ended` (`OUT_OF_RANGE`): nobody reads any more. `no_input`: the request announced none.
    pub fn send(&mut self, data: &[u8]) -> Result<usize, Fault> {
        self.run.send(data)
    }

    /// Sends all of it, and keeps what comes meanwhile for the iterator: for input whose output fits in
    /// memory. Without a bound on memory: [`Stream::input`], from another thread.
    ///
    /// # Errors
    /// As [`Stream::send`].
    pub fn send_all(&mut self, mut data: &[u8]) -> Result<(), Fault> {
        loop {
            let taken = self.run.send(data)?;
            data = &data[taken..];
            if data.is_empty() {
                return Ok(());
            }
            loop {
                match self.pull(None) {
                    Some(Ok(Piece::Room)) | None => break,
                    Some(piece) => self.kept.push_back(piece),
                }
            }
        }
    }

    /// The input has ended.
    ///
    /// # Errors
    /// `no_input`: the request announced none.
    pub fn send_end(&mut self) -> Result<(), Fault> {
        self.run.send_end()
    }

    /// The input as an [`io::Write`] for another thread, while this one goes on reading: nobody else learns
    /// when there is room.
    pub fn input(&self) -> Input {
        Input { sender: self.run.sender(), signal: self.signal.clone() }
    }

    /// Stops it: it ends with a fault, [`Code::CANCELLED`], unless it has ended.
    pub fn cancel(&self) {
        self.run.cancel()
    }

    /// To cancel it from another thread.
    pub fn canceller(&self) -> Canceller {
        self.run.canceller()
    }

    /// Reads the rest into memory, however much it is.
    ///
    /// # Errors
    /// What the run failed with; after the last piece was taken already, `FAILED_PRECONDITION`.
    pub fn finish(self) -> Result<Outcome, Fault> {
        Outcome::collect(self)
    }
}

impl Iterator for Stream {
    type Item = Result<Piece, Fault>;
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(piece) = self.kept.pop_front() {
                return Some(piece);
            }
            if self.ended {
                return None;
            }
            if let Some(piece) = self.pull(None) {
                return Some(piece);
            }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.end();
    }
}

/// A run's input for another thread than the one that reads its [`Stream`]. Writing waits for room; dropping
/// it ends the input. `Send`.
pub struct Input {
    sender: Sender,
    signal: Arc<Signal>,
}

impl io::Write for Input {
    /// Waits until some of it is taken. `BrokenPipe`: nobody reads the input, or the stream, any more.
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        loop {
            // Before sending: what makes room afterwards must not be missed.
            let seen = self.signal.lock().rooms;
            let taken = self.sender.send(data).map_err(broken)?;
            if taken > 0 || data.is_empty() {
                return Ok(taken);
            }
            let mut state = self.signal.lock();
            while state.rooms == seen && !state.over {
                state = self.signal.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.rooms == seen {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        }
    }

    /// Nothing is held back: there is nothing to do.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn broken(fault: Fault) -> io::Error {
    let kind = match fault.code {
        Code::OUT_OF_RANGE => io::ErrorKind::BrokenPipe,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, fault)
}

impl Drop for Input {
    fn drop(&mut self) {
        // It fails only where the run has announced no input, or is over.
        let _ = self.sender.send_end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inside::{runtime, LONG};

    #[test]
    fn an_event_that_cannot_be_read_is_the_end() {
        let (runtime, _folder) = runtime("unreadable");
        let session = runtime.operator().unwrap();
        let request = Request::new("log.follow", &Json::Object(Vec::new())).unwrap();
        let mut stream = session.open(&request).unwrap();
        stream.heard(&Some(Ok(Piece::Room)));
        assert!(!stream.is_over());
        stream.heard(&Some(Err(Fault::new(Code::INTERNAL, "json", "an event's data"))));
        assert!(stream.is_over() && stream.next().is_none());
        // It was cancelled, and not for being dropped.
        while let Some(event) = stream.queue.next(Some(LONG)).unwrap() {
            if let Some(fault) = event.fault() {
                assert_eq!(fault.code, Code::CANCELLED);
                return;
            }
        }
        panic!("it goes on");
    }
}
