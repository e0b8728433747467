use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Barrier};
use std::thread;
use std::time::Duration;

use bindings_rust::{any_object, fails, nothing, until, Place, PATIENCE};
use bulkhead::ffi::*;
use bulkhead::{error_result, object, text_result, Code, Desk, Fault, Json, Piece, Request, Tool};

fn tool(name: &str) -> Tool {
    Tool::new(name, "For a test.", any_object())
}

fn call_of(name: &str) -> Request {
    let args = object([("name", name.into()), ("arguments", nothing())]);
    Request::new("tool.call", &args).unwrap()
}

#[test]
fn a_tool_is_listed_called_and_gone_with_its_desk() {
    let place = Place::new();
    let mut desk = Desk::new(place.runtime()).unwrap();
    let described = tool("twice")
        .with("title", "old")
        .with("title", "Twice")
        .with("annotations", object([("read_only", true.into())]));
    desk.tool(&place.session, described, |ask| {
        assert_eq!(ask.name(), "twice");
        let n = ask.args()["n"].as_i64().unwrap_or(0);
        Ok(text_result((n * 2).to_string()))
    })
    .unwrap();
    desk.tool(&place.session, tool("sorry"), |_| Ok(error_result("not today"))).unwrap();
    let serving = desk.spawn(2).unwrap();
    let listed = place.session.call("tool.list", &nothing()).unwrap().items;
    let entry = listed.iter().find(|item| item["name"].as_str() == Some("twice")).unwrap();
    assert_eq!(entry["title"].as_str(), Some("Twice"));
    assert_eq!(entry["annotations"]["read_only"].as_bool(), Some(true));
    let done = place.session.tool("twice", &object([("n", 21.into())])).unwrap();
    assert_eq!(done.text(), "42");
    let sorry = place.session.tool("sorry", &nothing()).unwrap();
    assert_eq!(
        (sorry.text().as_str(), sorry.result["is_error"].as_bool()),
        ("not today", Some(true))
    );
    serving.stop();
    fails(place.session.tool("twice", &nothing()), BH_NOT_FOUND, "unknown_tool");
}

#[test]
fn what_is_offered_is_checked() {
    let place = Place::new();
    let mut desk = Desk::new(place.runtime()).unwrap();
    let bad = Tool::new("no spaces", "x", any_object());
    fails(
        desk.tool(&place.session, bad, |_| Ok(Json::Null)),
        BH_INVALID_ARGUMENT,
        "tool_definition",
    );
    let queue = place.runtime().queue().unwrap();
    let offer = object([("answers", "everything".into())]);
    fails(place.session.serve(&offer, &queue, 1), BH_INVALID_ARGUMENT, "serve");
    // Nothing asks for these yet; they are taken.
    desk.approvals(&place.session, |_| Ok(Json::Null)).unwrap();
    desk.judge(&place.session, |_| Ok(Json::Null)).unwrap();
}

#[test]
fn a_panic_in_a_tool_is_a_fault_and_the_desk_goes_on() {
    let place = Place::new();
    let mut desk = Desk::new(place.runtime()).unwrap();
    desk.tool(&place.session, tool("bug"), |ask| match ask.args()["how"].as_str() {
        Some("text") => panic!("a mistake"),
        Some("format") => panic!("{} mistake", 2),
        Some("other") => std::panic::panic_any(7),
        _ => Ok(text_result("fine")),
    })
    .unwrap();
    let serving = desk.spawn(1).unwrap();
    for (how, said) in [
        ("text", "bug panicked: a mistake"),
        ("format", "bug panicked: 2 mistake"),
        ("other", "bug panicked: without a text"),
    ] {
        let failed = place.session.tool("bug", &object([("how", how.into())]));
        let fault = fails(failed, BH_INTERNAL, "exception");
        assert!(fault.message.contains(said), "{}", fault);
    }
    assert_eq!(place.session.tool("bug", &nothing()).unwrap().text(), "fine");
    serving.stop();
}

#[test]
fn a_tool_says_why_it_could_not() {
    let place = Place::new();
    let mut desk = Desk::new(place.runtime()).unwrap();
    desk.tool(&place.session, tool("no"), |_| {
        Err(Fault::new(Code::UNAVAILABLE, "unanswered", "the oracle sleeps"))
    })
    .unwrap();
    // Not a tool's result: the caller hears of it.
    desk.tool(&place.session, tool("wrong"), |_| Ok("not a result".into())).unwrap();
    let mut deep = Json::Null;
    for _ in 0..200 {
        deep = Json::from(vec![deep]);
    }
    desk.tool(&place.session, tool("deep"), move |_| Ok(deep.clone())).unwrap();
    let serving = desk.spawn(1).unwrap();
    let fault = fails(place.session.tool("no", &nothing()), BH_UNAVAILABLE, "unanswered");
    assert!(fault.message.contains("the oracle sleeps"));
    for name in ["wrong", "deep"] {
        let fault = place.session.tool(name, &nothing()).expect_err(name);
        assert_ne!(fault.reason(), "unanswered", "{:?}", fault);
    }
    serving.stop();
}

#[test]
fn a_tool_streams_and_waits_for_a_slow_reader() {
    let place = Place::new();
    let mut desk = Desk::new(place.runtime()).unwrap();
    let total = 8 << 20;
    desk.tool(&place.session, tool("flood"), move |ask| {
        ask.emit(BH_STREAM_DATA, &vec![b'x'; total])?;
        Ok(text_result("all"))
    })
    .unwrap();
    desk.tool(&place.session, tool("quick"), |_| Ok(text_result("quick"))).unwrap();
    let serving = desk.spawn(1).unwrap();
    let run = place.session.open(&call_of("flood")).unwrap();
    thread::sleep(Duration::from_millis(100));
    assert_eq!(run.finish().unwrap().data().len(), total);
    // Two at once with one thread: the second waits its turn.
    let run = place.session.open(&call_of("flood")).unwrap();
    let quick = place.session.open(&call_of("quick")).unwrap();
    assert_eq!(run.finish().unwrap().data().len(), total);
    assert_eq!(quick.finish().unwrap().text(), "quick");
    serving.stop();
}

#[test]
fn many_floods_on_many_threads_keep_their_bytes_apart() {
    let place = Place::new();
    let mut desk = Desk::new(place.runtime()).unwrap();
    desk.tool(&place.session, tool("flood"), |ask| {
        let n = ask.args()["n"].as_i64().unwrap_or(0) as u8;
        for _ in 0..40 {
            ask.emit(BH_STREAM_DATA, &vec![n; 50_000])?;
        }
        Ok(text_result(n.to_string()))
    })
    .unwrap();
    let serving = desk.spawn(4).unwrap();
    thread::scope(|scope| {
        for n in 0..8u8 {
            let session = &place.session;
            scope.spawn(move || {
                let args = object([("n", i64::from(n).into())]);
                let done = session.tool("flood", &args).unwrap();
                assert_eq!(done.text(), n.to_string());
                assert_eq!(done.data().len(), 2_000_000);
                assert!(done.data().iter().all(|&byte| byte == n));
            });
        }
    });
    serving.stop();
}

#[test]
fn a_cancelled_caller_is_noticed() {
    let place = Place::new();
    let (started, began) = mpsc::channel();
    let (told, seen) = mpsc::channel();
    let (started, told) = (std::sync::Mutex::new(started), std::sync::Mutex::new(told));
    let mut desk = Desk::new(place.runtime()).unwrap();
    desk.tool(&place.session, tool("slow"), move |ask| {
        started.lock().unwrap().send(()).unwrap();
        until("the end of the ask", || ask.has_ended());
        let late = ask.emit(BH_STREAM_DATA, b"too late").unwrap_err();
        told.lock().unwrap().send((late.code, late.reason().to_owned())).unwrap();
        Ok(text_result("too late"))
    })
    .unwrap();
    desk.tool(&place.session, tool("quick"), |_| Ok(text_result("quick"))).unwrap();
    let serving = desk.spawn(1).unwrap();
    let run = place.session.open(&call_of("slow")).unwrap();
    began.recv_timeout(PATIENCE).unwrap();
    // Waits behind the slow one; cancelled before its turn, it is never begun.
    let waiting = place.session.open(&call_of("slow")).unwrap();
    waiting.cancel();
    fails(waiting.finish(), BH_CANCELLED, "cancelled");
    run.cancel();
    fails(run.finish(), BH_CANCELLED, "cancelled");
    let (code, reason) = seen.recv_timeout(PATIENCE).unwrap();
    assert_eq!((code, reason.as_str()), (Code::OUT_OF_RANGE, "ask_ended"));
    assert_eq!(place.session.tool("quick", &nothing()).unwrap().text(), "quick");
    serving.stop();
}

#[test]
fn attachments_come_before_the_question() {
    let place = Place::new();
    let mut desk = Desk::new(place.runtime()).unwrap();
    desk.tool(&place.session, tool("sizes").takes_attachments(), |ask| {
        let said: Vec<String> = ask
            .attachments()
            .iter()
            .map(|a| format!("{} {} {}", a.name, a.media_type, a.data.len()))
            .collect();
        Ok(text_result(said.join(", ")))
    })
    .unwrap();
    desk.tool(&place.session, tool("none"), |_| Ok(text_result("none"))).unwrap();
    let serving = desk.spawn(2).unwrap();
    let with = |name| {
        let request = call_of(name).attach("a", "text/plain", b"xyz")?;
        let request = request.attach("b", "x/y", &vec![1; 5 << 20])?;
        place.session.open(&request)?.finish()
    };
    assert_eq!(with("sizes").unwrap().text(), "a text/plain 3, b x/y 5242880");
    assert!(with("none").is_err());
    assert_eq!(place.session.tool("sizes", &nothing()).unwrap().text(), "");
    serving.stop();
}

#[test]
fn a_lent_session_calls_with_the_callers_rights() {
    let place = Place::new();
    let work = place.folder.join("work");
    let mut desk = Desk::new(place.runtime()).unwrap();
    desk.tool(&place.session, tool("outer"), move |ask| {
        let lent = ask.session()?;
        let inner = lent.tool("inner", &nothing())?.text();
        let argv = Json::from(vec!["echo", "inside"]);
        let args = object([("workspace", work.to_str().into()), ("argv", argv)]);
        let done = lent.call("sandbox.exec", &args)?;
        Ok(text_result(inner + &String::from_utf8_lossy(done.stdout())))
    })
    .unwrap();
    desk.tool(&place.session, tool("inner"), |_| Ok(text_result("inner, "))).unwrap();
    let serving = desk.spawn(2).unwrap();
    assert_eq!(place.session.tool("outer", &nothing()).unwrap().text(), "inner, inside\n");
    serving.stop();
}

#[test]
fn stop_ends_all_threads_and_open_asks_fail() {
    let place = Place::new();
    let gate = Arc::new(Barrier::new(2));
    let inside = gate.clone();
    let mut desk = Desk::new(place.runtime()).unwrap();
    desk.tool(&place.session, tool("held"), move |_| {
        inside.wait();
        inside.wait();
        Ok(text_result("done"))
    })
    .unwrap();
    let serving = desk.spawn(1).unwrap();
    let first = place.session.open(&call_of("held")).unwrap();
    gate.wait();
    let second = place.session.open(&call_of("held")).unwrap();
    let stopper = thread::spawn(move || serving.stop());
    thread::sleep(Duration::from_millis(50));
    gate.wait();
    stopper.join().unwrap();
    assert_eq!(first.finish().unwrap().text(), "done");
    fails(second.finish(), BH_UNAVAILABLE, "unanswered");
}

#[test]
fn dropped_in_any_order_nothing_hangs() {
    for order in 0..4 {
        let place = Place::new();
        let (flag, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (seen, counted) = (flag.clone(), count.clone());
        let mut desk = Desk::new(place.runtime()).unwrap();
        desk.tool(&place.session, tool("wait"), move |ask| {
            seen.store(true, Ordering::SeqCst);
            until("the end", || ask.has_ended());
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(Json::Null)
        })
        .unwrap();
        let serving = desk.spawn(2).unwrap();
        let mut run = place.session.open(&call_of("wait")).unwrap();
        until("the tool", || flag.load(Ordering::SeqCst));
        match order {
            0 => drop(run),
            1 => place.runtime().close(20_000).unwrap(),
            2 => {
                // The desk's threads are still in the question: who waits is answered by its run's end.
                drop(serving);
                run.cancel();
                assert!(run.by_ref().any(|piece| piece.is_err()));
                until("the closure", || count.load(Ordering::SeqCst) == 1);
                continue;
            }
            _ => {
                let session = place.runtime().session("tests").unwrap();
                let canceller = run.canceller();
                let reader =
                    thread::spawn(move || run.find(|piece: &Result<Piece, _>| piece.is_err()));
                drop(session);
                canceller.cancel();
                assert!(reader.join().unwrap().is_some());
            }
        }
        until("the closure", || count.load(Ordering::SeqCst) == 1);
        serving.stop();
    }
}

#[test]
fn the_handles_answer_without_a_desk() {
    let place = Place::new();
    let queue = place.runtime().queue().unwrap();
    let offer = object([(
        "tool",
        Json::parse(r#"{"name":"raw","description":"x","input_schema":{"type":"object"}}"#)
            .unwrap(),
    )]);
    let server = place.session.serve(&offer, &queue, 3).unwrap();
    let run = place.session.start(&call_of("raw"), &queue, 4).unwrap();
    let mut event = queue.next(Some(PATIENCE)).unwrap().unwrap();
    assert_eq!((event.kind(), event.tag(), &*event.name()), (BH_EVENT_ASK, 3, "raw"));
    let mut ask = event.take_ask().unwrap();
    assert!(event.take_ask().is_none());
    assert_eq!(ask.id(), event.id());
    drop(event);
    assert_eq!(ask.emit(BH_STREAM_DATA, b"bytes").unwrap(), 5);
    let lent = ask.session(place.runtime()).unwrap();
    fails(lent.serve(&offer, &queue, 5), BH_PERMISSION_DENIED, "lent_session");
    ask.result(&text_result("raw")).unwrap();
    fails(ask.result(&Json::Null), BH_OUT_OF_RANGE, "ask_ended");
    fails(ask.fail(&Fault::new(Code::ABORTED, "", "x")), BH_OUT_OF_RANGE, "ask_ended");
    let mut kinds = Vec::new();
    while !kinds.ends_with(&[BH_EVENT_RESULT]) {
        let event = queue.next(Some(PATIENCE)).unwrap().unwrap();
        assert_eq!(event.tag(), 4);
        kinds.push(event.kind());
    }
    assert_eq!(kinds, [BH_EVENT_OUTPUT, BH_EVENT_RESULT]);
    drop((run, lent));

    // Dropped, a question has no answer.
    let run = place.session.start(&call_of("raw"), &queue, 6).unwrap();
    drop(queue.next(Some(PATIENCE)).unwrap().unwrap().take_ask());
    let event = queue.next(Some(PATIENCE)).unwrap().unwrap();
    let fault = event.fault().unwrap();
    assert_eq!((event.tag(), fault.reason()), (6, "unanswered"));
    drop((run, server, event, queue));
}
