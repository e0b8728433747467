//! Many threads, drops in any order, and the child of a fork.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use bindings_rust::{nothing, Place, PATIENCE};
use bulkhead::ffi::*;
use bulkhead::{
    object, text_result, Ask, Canceller, Desk, Event, Fault, Input, Json, Piece, Queue, Request,
    Run, Runtime, Server, Serving, Session, Stream, Tool,
};

fn shared<T: Send + Sync>() {}
fn sent<T: Send>() {}

#[test]
fn handles_go_where_their_tags_let_them() {
    shared::<Runtime>();
    shared::<Session>();
    shared::<Queue>();
    shared::<Request>();
    shared::<Run>();
    shared::<Canceller>();
    shared::<Event>();
    shared::<Server>();
    shared::<Ask>();
    shared::<Fault>();
    shared::<Desk>();
    sent::<Stream>();
    sent::<Input>();
    sent::<Serving>();
}

#[test]
fn many_threads_share_a_session_a_request_and_a_queue() {
    let place = Place::new();
    let queue = place.runtime().queue().unwrap();
    let list = Request::new("tool.list", &nothing()).unwrap();
    let ended = AtomicUsize::new(0);
    thread::scope(|scope| {
        for n in 0..16u64 {
            let (session, queue, list, ended) = (&place.session, &queue, &list, &ended);
            scope.spawn(move || {
                for i in 0..20 {
                    session.start_detached(list, queue, n * 100 + i).unwrap();
                    session.call("tool.list", &nothing()).unwrap();
                }
            });
            scope.spawn(move || {
                while ended.load(Ordering::SeqCst) < 320 {
                    match queue.next(Some(Duration::from_millis(20))).unwrap() {
                        Some(event) if event.is_last() => {
                            assert_eq!(event.kind(), BH_EVENT_RESULT);
                            ended.fetch_add(1, Ordering::SeqCst);
                        }
                        _ => {}
                    }
                }
            });
        }
    });
    assert_eq!(ended.load(Ordering::SeqCst), 320);
    assert!(queue.next(Some(Duration::ZERO)).unwrap().is_none());
}

#[test]
fn cancelling_beside_sending_and_reading() {
    let place = Place::new();
    let cat = Request::new("sandbox.exec", &place.exec(&["cat"])).unwrap().input().unwrap();
    for _ in 0..10 {
        let mut run = place.session.open(&cat).unwrap();
        let mut inputs: Vec<Input> = (0..3).map(|_| run.input()).collect();
        let cancellers = [run.canceller(), run.canceller()];
        assert!(matches!(run.next(), Some(Ok(Piece::Item(_)))));
        thread::scope(|scope| {
            for input in &mut inputs {
                // Each goes on until it is told that nobody reads.
                scope.spawn(move || while std::io::Write::write(input, &[7; 100_000]).is_ok() {});
            }
            for canceller in &cancellers {
                scope.spawn(move || {
                    thread::sleep(Duration::from_millis(10));
                    canceller.cancel();
                });
            }
            let fault = run.by_ref().find_map(Result::err).expect("it was cancelled");
            assert_eq!(fault.code.0, BH_CANCELLED);
            drop(run);
        });
    }
}

#[test]
fn dropping_a_running_stream_cancels_its_command() {
    let place = Place::new();
    let script = "echo begun; sleep 60; touch went-on";
    for _ in 0..5 {
        let request = Request::new("sandbox.exec", &place.exec(&["sh", "-c", script])).unwrap();
        let mut run = place.session.open(&request).unwrap();
        assert!(run.any(|piece| matches!(piece, Ok(Piece::Output { .. }))));
        let (input, canceller) = (run.input(), run.canceller());
        drop(run);
        drop(input);
        canceller.cancel();
    }
    // Closing waits for all runs: those above have ended, or it would say `stuck`.
    place.runtime().close(20_000).unwrap();
    assert!(!place.folder.join("work").join("went-on").exists());
}

#[test]
fn children_outlive_their_parents() {
    let place = Place::new();
    let runtime = place.runtime().clone();
    let session = runtime.session("tests").unwrap();
    let queue = runtime.queue().unwrap();
    let offer = r#"{"tool":{"name":"t","description":"x","input_schema":{"type":"object"}}}"#;
    let server = session.serve(&Json::parse(offer).unwrap(), &queue, 1).unwrap();
    let request = Request::new("tool.call", &object([("name", "t".into())])).unwrap();
    let run = session.start(&request, &queue, 2).unwrap();
    let mut event = queue.next(Some(PATIENCE)).unwrap().unwrap();
    drop((request, session, runtime));
    let mut ask = event.take_ask().unwrap();
    drop(queue);
    assert_eq!(event.name(), "t");
    drop(server);
    // The queue's end cancelled the run, the server's end the question.
    assert!(ask.emit(BH_STREAM_DATA, b"x").is_err());
    assert!(ask.result(&text_result("x")).is_err());
    drop(run);
    drop(event);
    assert!(ask.id() > 0);
}

#[test]
fn after_close_everything_says_closed() {
    let place = Place::new();
    let request = Request::new("tool.list", &nothing()).unwrap();
    let queue = place.runtime().queue().unwrap();
    let mut desk = Desk::new(place.runtime()).unwrap();
    let sleep = Request::new("sandbox.exec", &place.exec(&["sleep", "60"])).unwrap();
    let running = place.session.open(&sleep).unwrap();
    place.runtime().close(20_000).unwrap();
    assert!(running.finish().is_err());
    let tool = Tool::new("t", "x", bindings_rust::any_object());
    for (what, done) in [
        ("start", place.session.start(&request, &queue, 1).map(drop)),
        ("run_here", place.session.run_here(&request, &queue, 1)),
        ("call", place.session.call("tool.list", &nothing()).map(drop)),
        ("session", place.runtime().session("tests").map(drop)),
        ("queue", place.runtime().queue().map(drop)),
        ("desk", Desk::new(place.runtime()).map(drop)),
        ("tool", desk.tool(&place.session, tool, |_| Ok(Json::Null))),
    ] {
        assert_eq!(done.expect_err(what).reason(), "closed", "{}", what);
    }
    bindings_rust::fails(queue.next(None), BH_FAILED_PRECONDITION, "closed");
    place.runtime().close(0).unwrap();
}

#[test]
fn closing_ends_who_waits_on_a_queue_or_a_desk() {
    let place = Place::new();
    let queue = place.runtime().queue().unwrap();
    let tool = Tool::new("t", "x", bindings_rust::any_object());
    let mut desk = Desk::new(place.runtime()).unwrap();
    desk.tool(&place.session, tool, |_| Ok(text_result("x"))).unwrap();
    let ended = AtomicUsize::new(0);
    thread::scope(|scope| {
        let waits = || {
            bindings_rust::fails(queue.next(None), BH_FAILED_PRECONDITION, "closed");
            ended.fetch_add(1, Ordering::SeqCst);
        };
        let answers = || {
            bindings_rust::fails(desk.run(), BH_FAILED_PRECONDITION, "closed");
            ended.fetch_add(1, Ordering::SeqCst);
        };
        scope.spawn(waits);
        scope.spawn(waits);
        scope.spawn(answers);
        scope.spawn(answers);
        assert_eq!(place.session.tool("t", &nothing()).unwrap().text(), "x");
        place.runtime().close(20_000).unwrap();
        bindings_rust::until("all have ended", || ended.load(Ordering::SeqCst) == 4);
    });
}

extern "C" {
    fn fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(code: i32) -> !;
}

#[test]
fn the_child_of_a_fork_is_refused_and_its_drops_only_forget() {
    let place = Place::new();
    let queue = place.runtime().queue().unwrap();
    let request = Request::new("tool.list", &nothing()).unwrap();
    let mut spare =
        Some((place.runtime().session("tests").unwrap(), place.runtime().queue().unwrap()));
    let forked = |done: Result<(), Fault>| matches!(done, Err(f) if f.reason() == "forked");
    let mut status = -1;
    // SAFETY: the child calls the library, which looks at its pid first, and leaves with _exit.
    unsafe {
        let child = fork();
        assert!(child >= 0);
        if child == 0 {
            let good = forked(queue.next(None).map(drop))
                && forked(place.session.start(&request, &queue, 1).map(drop))
                && forked(place.runtime().queue().map(drop))
                && forked(place.runtime().close(0))
                && queue.fd() == -1;
            drop(spare.take());
            _exit(if good { 0 } else { 1 });
        }
        assert_eq!(waitpid(child, &mut status, 0), child);
    }
    assert_eq!(status, 0, "the child found something else");
    assert!(place.session.call("tool.list", &nothing()).is_ok());
    drop(spare);
}
