//! Answers the host's questions with closures.

use std::any::Any;
use std::fmt;
use std::io;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::desk_state::State;
use crate::event::{Event, Queue};
use crate::fault::{Code, Fault};
use crate::json::{object, Json};
use crate::offer::{Asked, Tool};
use crate::runtime::{Runtime, Session};
use crate::serve::Server;

type Answer = dyn Fn(&mut Asked<'_>) -> Result<Json, Fault> + Send + Sync;

type Work = Box<dyn FnOnce() + Send>;

struct Offer {
    _server: Server,
    answer: Box<Answer>,
}

/// Serves tools and answers questions with closures, which run on the threads that call [`Desk::run`]: one
/// question at a time on each. No thread of the library ever enters them. `Send` and `Sync`.
///
/// ```no_run
/// # use bulkhead::{object, text_result, Desk, Fault, Session, Tool};
/// # fn f(session: &Session) -> Result<(), Fault> {
/// let schema = object([("type", "object".into())]);
/// let mut desk = Desk::new(session.runtime())?;
/// desk.tool(session, Tool::new("hello", "Greets.", schema), |_| Ok(text_result("hello")))?;
/// let serving = desk.spawn(1)?;
/// println!("{}", session.tool("hello", &object::<&str>([]))?.text());
/// serving.stop();
/// # Ok(())
/// # }
/// ```
///
/// A closure that calls a tool of its own desk, by whatever session, waits for another thread on
/// [`Desk::run`]: with one alone it waits until its caller gives up.
///
/// A closure that panics answers `INTERNAL` (`exception`); the program's panic hook is left alone. Built
/// with `panic = "abort"` nothing can be caught.
pub struct Desk {
    // Offers go first: what is asked after that would never be read.
    offers: Vec<Offer>,
    queue: Queue,
    runtime: Runtime,
    state: Mutex<State>,
    changed: Condvar,
}

impl Desk {
    /// One that offers nothing yet.
    ///
    /// # Errors
    /// `closed`.
    pub fn new(runtime: &Runtime) -> Result<Desk, Fault> {
        Ok(Desk {
            offers: Vec::new(),
            queue: runtime.queue()?,
            runtime: runtime.clone(),
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Serves a tool, for the session's persona or, from an operator's session, for all. `answer` returns
    /// `abi/schemas/tool_result.json` ([`crate::text_result`]); an `Err` means that it could not run.
    ///
    /// # Errors
    /// `tool_definition`, `serve`, `two_runtimes`, `closed`.
    pub fn tool<F>(&mut self, session: &Session, tool: Tool, answer: F) -> Result<(), Fault>
    where
        F: Fn(&mut Asked<'_>) -> Result<Json, Fault> + Send + Sync + 'static,
    {
        self.offer(session, &tool.offer(), Box::new(answer))
    }

    /// Decides what needs a person's approval.
    ///
    /// # Errors
    /// `two_runtimes`, `closed`.
    pub fn approvals<F>(&mut self, session: &Session, answer: F) -> Result<(), Fault>
    where
        F: Fn(&mut Asked<'_>) -> Result<Json, Fault> + Send + Sync + 'static,
    {
        self.offer(session, &object([("answers", "approval".into())]), Box::new(answer))
    }

    /// Judges what policy leaves to a judge.
    ///
    /// # Errors
    /// `two_runtimes`, `closed`.
    pub fn judge<F>(&mut self, session: &Session, answer: F) -> Result<(), Fault>
    where
        F: Fn(&mut Asked<'_>) -> Result<Json, Fault> + Send + Sync + 'static,
    {
        self.offer(session, &object([("answers", "policy.judge".into())]), Box::new(answer))
    }

    fn offer(&mut self, session: &Session, what: &Json, answer: Box<Answer>) -> Result<(), Fault> {
        let tag = self.offers.len() as u64;
        let server = session.serve(what, &self.queue, tag)?;
        self.offers.push(Offer { _server: server, answer });
        Ok(())
    }

    /// Answers on this thread until [`Desk::stop`]; several threads may. Waits.
    ///
    /// # Errors
    /// `closed`: the runtime is closed, so nothing will be asked any more. `forked`: this is the child of a fork.
    pub fn run(&self) -> Result<(), Fault> {
        while let Some(event) = self.wait(|state| match state.stopped {
            true => Some(None),
            false => state.todo.pop_front().map(Some),
        })? {
            self.answer(event);
        }
        Ok(())
    }

    /// Ends [`Desk::run`] on all threads, each after the question at hand. What is asked from then on is
    /// answered by nobody until the desk is dropped; then it fails, `UNAVAILABLE`.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
        self.queue.wake();
    }

    /// Runs it on that many threads of its own (at least one), until it is stopped or its runtime closed.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED`: the system gives no more of them; those that had begun are stopped.
    pub fn spawn(self, threads: usize) -> Result<Serving, Fault> {
        self.spawn_by(threads, |work| thread::Builder::new().spawn(work))
    }

    fn spawn_by(
        self,
        threads: usize,
        begin: impl Fn(Work) -> io::Result<thread::JoinHandle<()>>,
    ) -> Result<Serving, Fault> {
        let mut serving = Serving { desk: Arc::new(self), threads: Vec::new() };
        for _ in 0..threads.max(1) {
            let desk = serving.desk.clone();
            // `closed` says that it is over; and in the child of a fork this thread does not exist.
            match begin(Box::new(move || drop(desk.run()))) {
                Ok(thread) => serving.threads.push(thread),
                Err(e) => {
                    serving.stop();
                    let what = format!("no thread to answer on: {}", e);
                    return Err(Fault::new(Code::RESOURCE_EXHAUSTED, "", what));
                }
            }
        }
        Ok(serving)
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Waits until `want` gives something. Of all that wait, one reads the queue and sorts what it reads,
    // so the order of events is kept; the others wait for what it found.
    fn wait<T>(&self, mut want: impl FnMut(&mut State) -> Option<T>) -> Result<T, Fault> {
        let mut state = self.lock();
        loop {
            if let Some(found) = want(&mut state) {
                return Ok(found);
            }
            if state.reading {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.reading = true;
            drop(state);
            let event = self.queue.next(None);
            state = self.lock();
            state.reading = false;
            self.changed.notify_all();
            if let Some(event) = event? {
                state.sort(event);
            }
        }
    }

    pub(crate) fn forget_room(&self, id: u64) {
        if let Some(open) = self.lock().open.get_mut(&id) {
            open.room = false;
        }
    }

    pub(crate) fn wait_for_room(&self, id: u64) -> Result<(), Fault> {
        self.wait(|state| match state.open.get(&id) {
            Some(open) if !open.room && !open.ended => None,
            _ => Some(()),
        })
    }

    pub(crate) fn has_ended(&self, id: u64) -> bool {
        // Between questions nobody reads; what waits there is sorted first.
        let mut state = self.lock();
        while !state.reading {
            match self.queue.next(Some(Duration::ZERO)) {
                Ok(Some(event)) => state.sort(event),
                _ => break,
            }
        }
        self.changed.notify_all();
        state.open.get(&id).map_or(true, |open| open.ended)
    }

    fn answer(&self, mut event: Event) {
        let ask = match event.take_ask() {
            Some(ask) => ask,
            None => {
                self.lock().open.remove(&event.id());
                return;
            }
        };
        let id = ask.id();
        let attachments = self.lock().take_attachments(id);
        let args = match Json::parse(&event.text()) {
            Ok(args) => args,
            Err(e) => {
                let what = format!("a question's arguments: {}", e);
                // Where nobody waits for it, nobody has to hear.
                let _ = ask.fail(&Fault::new(Code::INTERNAL, "json", what));
                self.lock().open.remove(&id);
                return;
            }
        };
        let name = event.name().into_owned();
        let mut asked = Asked { desk: self, ask, name, args, attachments };
        let offer = &self.offers[event.tag() as usize];
        drop(event);
        let outcome = catch_unwind(AssertUnwindSafe(|| (offer.answer)(&mut asked)));
        let said = match outcome {
            Ok(Ok(json)) => asked.ask.result(&json),
            Ok(Err(fault)) => asked.ask.fail(&fault),
            Err(panic) => asked.ask.fail(&panicked(&asked.name, panic)),
        };
        if let Err(refused) = said {
            // Not an answer (or too late for any): the caller hears why, where it still waits.
            let _ = asked.ask.fail(&refused);
        }
        self.lock().open.remove(&id);
    }
}

fn panicked(name: &str, panic: Box<dyn Any + Send>) -> Fault {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text.as_str(),
        _ => "without a text",
    };
    let out = Fault::new(Code::INTERNAL, "exception", format!("{} panicked: {}", name, text));
    // What was thrown may panic again when it is dropped.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
    out
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Desk({} offers)", self.offers.len())
    }
}

/// A [`Desk`] that runs on threads of its own. Dropping it stops them without waiting.
#[derive(Debug)]
pub struct Serving {
    desk: Arc<Desk>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Serving {
    /// Stops, and waits until the questions at hand are answered. What its runs still offer ends with it.
    /// Called by one of its own closures, it would wait for itself: drop it there instead.
    pub fn stop(mut self) {
        self.desk.stop();
        for thread in self.threads.drain(..) {
            // Closures' panics were caught: there is nothing to hear.
            let _ = thread.join();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.desk.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inside::runtime;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_thread_that_cannot_begin_is_an_error_and_stops_the_others() {
        let (runtime, _folder) = runtime("spawn");
        let ended = Arc::new(AtomicUsize::new(0));
        let begun = AtomicUsize::new(0);
        let spawned = Desk::new(&runtime).unwrap().spawn_by(5, |work| {
            if begun.fetch_add(1, Ordering::SeqCst) == 2 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let ended = ended.clone();
            thread::Builder::new().spawn(move || {
                work();
                ended.fetch_add(1, Ordering::SeqCst);
            })
        });
        assert_eq!(spawned.unwrap_err().code, Code::RESOURCE_EXHAUSTED);
        assert_eq!((begun.into_inner(), ended.load(Ordering::SeqCst)), (3, 2));
    }

    #[test]
    fn a_question_that_was_answered_is_forgotten() {
        let (runtime, _folder) = runtime("forgotten");
        let session = runtime.session("tests").unwrap();
        let mut desk = Desk::new(&runtime).unwrap();
        let tool = Tool::new("t", "x", object([("type", "object".into())]));
        desk.tool(&session, tool, |_| Ok(crate::text_result("x"))).unwrap();
        let serving = desk.spawn(2).unwrap();
        for _ in 0..20 {
            session.tool("t", &object::<&str>([])).unwrap();
        }
        let desk = serving.desk.clone();
        serving.stop();
        assert!(desk.lock().open.is_empty());
    }
}
