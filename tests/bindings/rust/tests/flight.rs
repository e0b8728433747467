//! A thousand runs in flight from one program and on one queue.

use std::collections::{HashSet, VecDeque};
use std::thread;
use std::time::{Duration, Instant};

use bindings_rust::{any_object, fails, Place, PATIENCE};
use bulkhead::ffi::*;
use bulkhead::{object, text_result, Ask, Json, Queue, Request, Run, Session};

const RUNS: u64 = 1000;

fn offer(name: &str) -> Json {
    let tool = [("name", name.into()), ("description", "x".into()), ("input_schema", any_object())];
    object([("tool", object(tool))])
}

fn call_of(name: &str, n: u64) -> Request {
    let args = object([("n", n.into())]);
    Request::new("tool.call", &object([("name", name.into()), ("arguments", args)])).unwrap()
}

// What abi/errors.md says of pool_full: come back with back-off.
fn start(session: &Session, request: &Request, queue: &Queue, tag: u64, refused: &mut u32) -> Run {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match session.start(request, queue, tag) {
            Ok(run) => return run,
            Err(fault) => {
                assert_eq!((fault.code.0, fault.reason()), (BH_RESOURCE_EXHAUSTED, "pool_full"));
                assert!(started.elapsed() < PATIENCE, "run {} never started", tag);
                *refused += 1;
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(100));
            }
        }
    }
}

#[test]
fn a_thousand_calls_of_an_own_tool_wait_at_once() {
    let place = Place::new();
    let asks = place.runtime().queue().unwrap();
    let queue = place.runtime().queue().unwrap();
    let server = place.session.serve(&offer("held"), &asks, 1).unwrap();
    let mut refused = 0;
    let runs: Vec<Run> = (0..RUNS)
        .map(|n| start(&place.session, &call_of("held", n), &queue, n, &mut refused))
        .collect();
    // All have asked and none has ended: a thousand are in flight.
    let mut held: Vec<(i64, Ask)> = Vec::new();
    while held.len() < RUNS as usize {
        let mut event = asks.next(Some(PATIENCE)).unwrap().expect("an ask");
        let n = Json::parse(&event.text()).unwrap()["n"].as_i64().unwrap();
        held.push((n, event.take_ask().unwrap()));
    }
    assert!(queue.next(Some(Duration::ZERO)).unwrap().is_none());
    for (n, ask) in held.iter().rev() {
        ask.result(&text_result(n.to_string())).unwrap();
    }
    let mut ended = HashSet::new();
    while ended.len() < RUNS as usize {
        let event = queue.next(Some(PATIENCE)).unwrap().expect("an end");
        assert_eq!(event.kind(), BH_EVENT_RESULT);
        let said = Json::parse(&event.text()).unwrap();
        let n = said["content"][0]["text"].as_str().unwrap().parse::<u64>().unwrap();
        assert_eq!(event.tag(), n);
        assert!(ended.insert(n), "{} ended twice", n);
    }
    assert!(queue.next(Some(Duration::ZERO)).unwrap().is_none());
    drop((runs, server));
}

fn upload(n: u64) -> Request {
    let args = object([("path", format!("flight/{}", n).into())]);
    Request::new("files.put", &args).unwrap().input().unwrap()
}

fn feed(run: &mut Run, n: u64) {
    let text = n.to_string();
    assert_eq!(run.send(text.as_bytes()).unwrap(), text.len());
    run.send_end().unwrap();
}

fn one_ended(queue: &Queue) -> u64 {
    let event = queue.next(Some(PATIENCE)).unwrap().expect("an end");
    assert_eq!(event.kind(), BH_EVENT_RESULT, "{:?}", event.fault());
    let result = Json::parse(&event.text()).unwrap();
    assert_eq!(result["path"].as_str(), Some(format!("flight/{}", event.tag()).as_str()));
    event.tag()
}

// Each file is there and holds its number.
fn all_stored(session: &Session, count: u64) {
    let listed = object([("path", "flight".into())]);
    let items = session.call("files.list", &listed).unwrap().items;
    assert_eq!(items.len(), count as usize);
    for item in &items {
        let path = item["path"].as_str().unwrap();
        let digits = path.len() - "flight/".len();
        assert_eq!(item["size"].as_i64(), Some(digits as i64), "{}", path);
    }
}

#[test]
fn a_thousand_workers_hold_a_thousand_runs() {
    let place = Place::with(&[("workers", RUNS.into())]);
    let queue = place.runtime().queue().unwrap();
    let start = |n| place.session.start(&upload(n), &queue, n).unwrap();
    let mut runs: Vec<Run> = (0..RUNS).map(start).collect();
    // Each waits for its input, so none has ended: a thousand are in flight.
    assert!(queue.next(Some(Duration::from_millis(100))).unwrap().is_none());
    for (n, run) in runs.iter_mut().enumerate() {
        feed(run, n as u64);
    }
    let ended: HashSet<u64> = (0..RUNS).map(|_| one_ended(&queue)).collect();
    assert_eq!(ended.len(), RUNS as usize);
    all_stored(&place.session, RUNS);
}

#[test]
fn a_full_house_refuses_until_a_run_ends() {
    let place = Place::with(&[("workers", 64.into())]);
    let queue = place.runtime().queue().unwrap();
    let mut waiting: VecDeque<(u64, Run)> = VecDeque::new();
    let mut ended = HashSet::new();
    for n in 0..300 {
        let mut refused = 0;
        if waiting.len() == 64 {
            // What the house cannot hold is refused at once, never queued and never lost.
            let full = place.session.start(&upload(n), &queue, n);
            fails(full, BH_RESOURCE_EXHAUSTED, "pool_full");
            let (first, mut run) = waiting.pop_front().unwrap();
            feed(&mut run, first);
            assert_eq!(one_ended(&queue), first);
            assert!(ended.insert(first));
        }
        waiting.push_back((n, start(&place.session, &upload(n), &queue, n, &mut refused)));
        // Its place is free as soon as its last event was seen.
        assert_eq!(refused, 0, "run {}", n);
    }
    for (n, run) in &mut waiting {
        feed(run, *n);
    }
    ended.extend((0..waiting.len()).map(|_| one_ended(&queue)));
    assert_eq!(ended.len(), 300);
    all_stored(&place.session, 300);
}
