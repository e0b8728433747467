use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use bindings_rust::{fails, nothing, Place, PATIENCE};
use bulkhead::ffi::*;
use bulkhead::{object, Code, Fault, Json, Piece, Request, Runtime};

#[test]
fn the_library_says_its_version() {
    let parts: Vec<u32> = bulkhead::version().split('.').map(|n| n.parse().unwrap()).collect();
    let packed = unsafe { bh_version() };
    assert_eq!(parts, [packed >> 16, packed >> 8 & 0xff, packed & 0xff]);
}

#[test]
fn a_call_gives_all_that_a_command_did() {
    let place = Place::new();
    let script = "echo out; echo err >&2; exit 3";
    let done = place.session.call("sandbox.exec", &place.exec(&["sh", "-c", script])).unwrap();
    assert_eq!(done.stdout(), b"out\n");
    assert_eq!(done.stderr(), b"err\n");
    assert_eq!(done.result["exit"]["code"].as_i64(), Some(3));
    assert!(done.items[0]["started"]["exec"].as_str().is_some());
    assert!(done.attachments.is_empty() && done.data().is_empty());
}

#[test]
fn faults_carry_code_reason_and_sentence() {
    let place = Place::new();
    let session = &place.session;
    fails(session.call("no.such/1", &nothing()), BH_NOT_FOUND, "unknown_operation");
    let fault = fails(session.call("tool.list", &object([("x", 1.into())])), 3, "schema");
    assert_eq!(fault.details["field"].as_str(), Some("/x"));
    let said = fault.to_string();
    assert!(said.contains(&fault.message) && said.contains("INVALID_ARGUMENT, schema"));
    let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(fault);
    assert!(boxed.downcast::<Fault>().is_ok());
    let args = object([("sandbox", "none".into()), ("argv", Json::from(vec!["true"]))]);
    fails(session.call("sandbox.exec", &args), BH_NOT_FOUND, "sandbox_not_found");
    fails(session.call("tool.list", &Json::Null), BH_INVALID_ARGUMENT, "schema");
    fails(place.runtime().session("Not A Name"), BH_INVALID_ARGUMENT, "persona");
    fails(Runtime::from_text("{"), BH_INVALID_ARGUMENT, "json_syntax");
    fails(Request::new("", &nothing()), BH_NOT_FOUND, "unknown_operation");
    assert_eq!(Code(BH_UNAVAILABLE).name(), "UNAVAILABLE");
    assert_eq!(format!("{:?}", Code(99)), "UNKNOWN(99)");
}

#[test]
fn output_comes_while_the_command_runs() {
    let place = Place::new();
    let args = place.exec(&["sh", "-c", "echo first; read line; echo $line"]);
    let request = Request::new("sandbox.exec", &args).unwrap().input().unwrap();
    let mut run = place.session.open(&request).unwrap();
    let mut seen = Vec::new();
    while seen != b"first\n" {
        if let Piece::Output { data, .. } = run.next_within(Some(PATIENCE)).unwrap().unwrap() {
            seen.extend(data);
        }
    }
    // It waits for us: nothing comes.
    assert_eq!(run.next_within(Some(Duration::from_millis(50))).unwrap(), None);
    assert!(!run.is_over());
    run.send_all(b"second\n").unwrap();
    run.send_end().unwrap();
    assert_eq!(run.finish().unwrap().stdout(), b"second\n");
}

#[test]
fn megabytes_go_in_and_out_at_once() {
    let place = Place::new();
    let data: Vec<u8> = (0..6 << 20).map(|i: u32| (i % 251) as u8).collect();
    let cat = Request::new("sandbox.exec", &place.exec(&["cat"])).unwrap().input().unwrap();
    // On one thread, what comes back meanwhile is kept.
    let mut run = place.session.open(&cat).unwrap();
    run.send_all(&data).unwrap();
    run.send_end().unwrap();
    assert!(run.finish().unwrap().stdout() == data);
    // From another thread.
    let run = place.session.open(&cat).unwrap();
    let mut input = run.input();
    let sent = data.clone();
    let writer = thread::spawn(move || input.write_all(&sent));
    assert!(run.finish().unwrap().stdout() == data);
    writer.join().unwrap().unwrap();
}

#[test]
fn send_takes_what_fits_and_room_follows() {
    let place = Place::new();
    let args = place.exec(&["sh", "-c", "read go < fifo; cat | wc -c"]);
    place.session.call("sandbox.exec", &place.exec(&["mkfifo", "fifo"])).unwrap();
    let request = Request::new("sandbox.exec", &args).unwrap().input().unwrap();
    let mut run = place.session.open(&request).unwrap();
    let block = vec![b'x'; 1 << 20];
    let mut sent = 0;
    loop {
        let taken = run.send(&block).unwrap();
        sent += taken;
        if taken < block.len() {
            break;
        }
    }
    let fifo = place.folder.join("work").join("fifo");
    let opener = thread::spawn(move || std::fs::write(fifo, "go\n"));
    while run.next_within(Some(PATIENCE)).unwrap().unwrap() != Piece::Room {}
    opener.join().unwrap().unwrap();
    let taken = run.send(b"and more").unwrap();
    assert!(taken > 0);
    run.send_end().unwrap();
    let said = run.finish().unwrap();
    let counted = String::from_utf8_lossy(said.stdout()).trim().parse::<usize>().unwrap();
    assert_eq!(counted, sent + taken);
}

#[test]
fn input_that_nobody_reads_is_a_broken_pipe() {
    let place = Place::new();
    let request = Request::new("sandbox.exec", &place.exec(&["true"])).unwrap().input().unwrap();
    let run = place.session.open(&request).unwrap();
    let mut input = run.input();
    let writer = thread::spawn(move || input.write_all(&vec![0; 8 << 20]));
    run.finish().unwrap();
    let error = writer.join().unwrap().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);

    // The reader goes away while the writer waits for room.
    let sleep = Request::new("sandbox.exec", &place.exec(&["sleep", "60"])).unwrap();
    let run = place.session.open(&sleep.input().unwrap()).unwrap();
    let mut input = run.input();
    let writer = thread::spawn(move || input.write_all(&vec![0; 8 << 20]));
    thread::sleep(Duration::from_millis(100));
    drop(run);
    assert_eq!(writer.join().unwrap().unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

#[test]
fn input_has_to_be_announced() {
    let place = Place::new();
    let request = Request::new("sandbox.exec", &place.exec(&["cat"])).unwrap();
    let mut run = place.session.open(&request).unwrap();
    fails(run.send(b"x"), BH_FAILED_PRECONDITION, "no_input");
    assert!(run.input().write_all(b"x").is_err());
    assert_eq!(run.finish().unwrap().stdout(), b"");
    let list = Request::new("tool.list", &nothing()).unwrap();
    fails(list.input(), BH_INVALID_ARGUMENT, "no_input");
}

#[test]
fn a_run_is_cancelled_from_another_thread() {
    let place = Place::new();
    let request = Request::new("sandbox.exec", &place.exec(&["sleep", "60"])).unwrap();
    let mut run = place.session.open(&request).unwrap();
    assert!(matches!(run.next(), Some(Ok(Piece::Item(_)))));
    let canceller = run.canceller();
    let other = thread::spawn(move || {
        canceller.cancel();
        canceller
    });
    let fault = run.by_ref().find_map(Result::err).unwrap();
    assert_eq!((fault.code, fault.reason()), (Code::CANCELLED, "cancelled"));
    assert!(run.next().is_none() && run.is_over());
    fails(run.finish(), BH_FAILED_PRECONDITION, "");
    // After the end, and after the run is gone, it does nothing.
    other.join().unwrap().cancel();
}

#[test]
fn a_time_limit_ends_a_run() {
    let place = Place::new();
    // The backend's first trial is not to count.
    place.session.call("sandbox.exec", &place.exec(&["true"])).unwrap();
    let request = Request::new("sandbox.exec", &place.exec(&["sleep", "60"])).unwrap();
    let request = request.timeout(Duration::from_micros(200_001)).unwrap();
    let run = place.session.open(&request).unwrap();
    fails(run.finish(), BH_DEADLINE_EXCEEDED, "deadline");
    let again = Request::new("tool.list", &nothing()).unwrap();
    fails(again.timeout(Duration::MAX), BH_INVALID_ARGUMENT, "timeout");
}

#[test]
fn a_call_stopped_at_any_moment_says_so_and_nothing_else() {
    for ms in [1, 3, 10, 30, 60, 100] {
        // A new place each time: the backend is tried first, then a sandbox made, then the command run.
        let place = Place::new();
        let request = Request::new("sandbox.exec", &place.exec(&["sleep", "60"])).unwrap();
        let run = place.session.open(&request).unwrap();
        thread::sleep(Duration::from_millis(ms));
        run.cancel();
        fails(run.finish(), BH_CANCELLED, "cancelled");
        let place = Place::new();
        let request = Request::new("sandbox.exec", &place.exec(&["sleep", "60"])).unwrap();
        let run = place.session.open(&request.timeout(Duration::from_millis(ms)).unwrap()).unwrap();
        fails(run.finish(), BH_DEADLINE_EXCEEDED, "deadline");
    }
}

#[test]
fn a_request_starts_many_runs_and_may_change_between_them() {
    let place = Place::new();
    let mut request = Request::new("sandbox.exec", &place.exec(&["echo", "one"])).unwrap();
    let first = place.session.open(&request).unwrap();
    request.set_args(&place.exec(&["echo", "two"])).unwrap();
    fails(request.set_args(&object([("argv", 1.into())])), BH_INVALID_ARGUMENT, "schema");
    let second = place.session.open(&request).unwrap();
    assert_eq!(second.finish().unwrap().stdout(), b"two\n");
    assert_eq!(first.finish().unwrap().stdout(), b"one\n");
}

#[test]
fn bytes_travel_beside_the_arguments() {
    let place = Place::new();
    let bytes: Vec<u8> = (0..=255).collect();
    let args = object([("path", "all/bytes.bin".into())]);
    let put = Request::new("files.put", &args).unwrap();
    let put = put.attach("content", "application/octet-stream", &bytes).unwrap();
    place.session.open(&put).unwrap().finish().unwrap();
    let got = place.session.call("files.get", &args).unwrap();
    assert_eq!(got.data(), bytes);
    let large = vec![0; (64 << 20) + 1];
    let put = Request::new("files.put", &args).unwrap();
    fails(put.attach("content", "a/b", &large), BH_RESOURCE_EXHAUSTED, "attachment_too_large");
}

#[test]
fn one_queue_serves_many_runs_and_run_here() {
    let place = Place::new();
    let queue = place.runtime().queue().unwrap();
    let list = Request::new("tool.list", &nothing()).unwrap();
    place.session.run_here(&list, &queue, 7).unwrap();
    place.session.start_detached(&list, &queue, 8).unwrap();
    let mut ended = Vec::new();
    while ended.len() < 2 {
        let event = queue.next(Some(PATIENCE)).unwrap().expect("an event");
        assert!(event.time_ns() > 0 && event.id() == 0);
        if event.is_last() {
            assert_eq!(event.kind(), BH_EVENT_RESULT);
            assert!(Json::parse(&event.text()).unwrap()["count"].as_i64().unwrap() > 0);
            ended.push(event.tag());
        }
    }
    assert_eq!(ended, [7, 8]);
    assert!(queue.next(Some(Duration::ZERO)).unwrap().is_none());
    queue.wake();
    assert!(queue.next(None).unwrap().is_none());
    assert!(queue.fd() >= 0);
    let cat = Request::new("sandbox.exec", &place.exec(&["cat"])).unwrap().input().unwrap();
    let refused = place.session.run_here(&cat, &queue, 9);
    fails(refused, BH_INVALID_ARGUMENT, "needs_start");
    let other = Place::new();
    let refused = other.session.start(&list, &queue, 1);
    fails(refused.map(drop), BH_INVALID_ARGUMENT, "two_runtimes");
}

#[test]
fn an_attachment_of_a_tool_comes_whole() {
    let place = Place::new();
    let mut source = std::fs::File::open("/dev/urandom").unwrap();
    let mut bytes = vec![0; 3 << 20];
    source.read_exact(&mut bytes).unwrap();
    let mut desk = bulkhead::Desk::new(place.runtime()).unwrap();
    let tool = bulkhead::Tool::new("give", "Gives bytes.", bindings_rust::any_object());
    let given = bytes.clone();
    desk.tool(&place.session, tool, move |ask| {
        ask.attach("blob", "application/x-blob", &given)?;
        ask.attach("empty", "application/x-empty", b"")?;
        let named =
            |name: &str| object([("type", "attachment".into()), ("attachment", name.into())]);
        Ok(object([("content", Json::Array(vec![named("blob"), named("empty")]))]))
    })
    .unwrap();
    let serving = desk.spawn(1).unwrap();
    let done = place.session.tool("give", &nothing()).unwrap();
    assert_eq!(done.attachments.len(), 2);
    assert!(done.attachments[0].data == bytes);
    assert_eq!(done.attachments[0].media_type, "application/x-blob");
    assert_eq!((done.attachments[1].name.as_str(), done.attachments[1].data.len()), ("empty", 0));
    serving.stop();
}

#[test]
fn writers_beside_each_other_all_come_to_an_end() {
    let place = Place::new();
    let cat = place.exec(&["sh", "-c", "cat >/dev/null"]);
    let request = Request::new("sandbox.exec", &cat).unwrap().input().unwrap();
    let run = place.session.open(&request).unwrap();
    let (told, heard) = std::sync::mpsc::channel();
    let canceller = run.canceller();
    let mut writers = Vec::new();
    for size in [3_000_000, 1_000, 70_000, 200_000] {
        let (mut input, told) = (run.input(), told.clone());
        writers.push(thread::spawn(move || {
            let block = vec![1; size];
            let mut left = 6_000_000;
            while left > 0 {
                let now = left.min(size);
                input.write_all(&block[..now]).unwrap();
                left -= now;
            }
            told.send(()).unwrap();
            // Dropped, it would end the input of the others.
            input
        }));
    }
    let reader = thread::spawn(move || run.finish());
    for _ in 0..4 {
        if heard.recv_timeout(PATIENCE).is_err() {
            canceller.cancel();
            panic!("a writer waits for room that there is");
        }
    }
    drop(writers.into_iter().map(|w| w.join().unwrap()).collect::<Vec<_>>());
    reader.join().unwrap().unwrap();
}

#[test]
fn a_run_that_is_dropped_ends_though_others_hold_its_handle() {
    let place = Place::new();
    let queue = place.runtime().queue().unwrap();
    let follow = Request::new("log.follow", &nothing()).unwrap();
    let session = place.runtime().operator().unwrap();
    let run = session.start(&follow, &queue, 1).unwrap();
    let canceller = run.canceller();
    drop(run);
    loop {
        let event = queue.next(Some(PATIENCE)).unwrap().expect("its end");
        if event.is_last() {
            assert_eq!(event.fault().unwrap().code, Code::CANCELLED);
            break;
        }
    }
    canceller.cancel();
}
