//! samples/plugin_rust in the real host; BH_WORDS names the folder that holds it.

use std::env;

use bindings_rust::{fails, nothing, Place};
use bulkhead::ffi::*;
use bulkhead::{object, Json, Piece, Request};

fn place() -> Place {
    let words = env::var("BH_WORDS").expect("BH_WORDS names the folder of the plugin");
    Place::with_plugins(&[&words])
}

fn call_of(name: &str, args: Json) -> Request {
    let call = object([("name", name.into()), ("arguments", args)]);
    Request::new("tool.call", &call).unwrap()
}

#[test]
fn it_is_loaded_without_a_word() {
    let place = place();
    let done =
        place.session.tool("word_count", &object([("text", "a b\nc \u{e9}".into())])).unwrap();
    let counts = &done.result["structured"];
    let numbers = ["lines", "words", "characters", "bytes"].map(|n| counts[n].as_i64());
    assert_eq!(numbers, [Some(2), Some(4), Some(7), Some(8)]);
    let list = place.session.call("plugin.list", &nothing()).unwrap();
    let ours = |item: &&Json| item["id"].as_str() == Some("org.example.words");
    let entry = list.result["plugins"].items().iter().find(ours).expect("ours in the report");
    assert_eq!(entry["status"].as_str(), Some("loaded"), "{}", entry);
    assert_eq!(entry["message"].as_str(), Some(""), "{}", entry);
}

#[test]
fn it_numbers_a_long_stream() {
    let place = place();
    let request = call_of("line_numbers", nothing()).input().unwrap();
    let mut run = place.session.open(&request).unwrap();
    let input = "some words on a line\n".repeat(200_000);
    run.send_all(input.as_bytes()).unwrap();
    run.send_end().unwrap();
    let done = run.finish().unwrap();
    let mut expected = String::new();
    for (n, line) in input.lines().enumerate() {
        expected.push_str(&format!("{}\t{}\n", n + 1, line));
    }
    assert!(done.data() == expected.as_bytes());
    assert_eq!(done.text(), "200000 lines");
}

#[test]
fn it_runs_a_command_in_the_callers_sandbox() {
    let place = place();
    let work = place.folder.join("work");
    let made = place.session.call("sandbox.create", &object([("workspace", work.to_str().into())]));
    let id = made.unwrap().result["sandbox"].clone();
    let command = "touch here; seq 70000; printf x >&2; exit 4";
    let args = object([("command", command.into()), ("sandbox", id)]);
    let done = place.session.tool("output_lines", &args).unwrap();
    let counts = &done.result["structured"];
    let numbers = ["stdout", "stderr", "exit_code"].map(|n| counts[n].as_i64());
    assert_eq!(numbers, [Some(70000), Some(1), Some(4)]);
    assert!(work.join("here").exists());
    // The host's own fault comes through the tool as it is.
    let args = object([("command", "true".into()), ("sandbox", "of-nobody".into())]);
    fails(place.session.tool("output_lines", &args), BH_NOT_FOUND, "sandbox_not_found");
}

#[test]
fn a_cancelled_call_ends_its_command() {
    let place = place();
    let work = place.folder.join("work");
    let made = place.session.call("sandbox.create", &object([("workspace", work.to_str().into())]));
    let id = made.unwrap().result["sandbox"].clone();
    let command = "touch begun; sleep 60; touch went-on";
    let args = object([("command", command.into()), ("sandbox", id)]);
    let run = place.session.open(&call_of("output_lines", args)).unwrap();
    bindings_rust::until("the command", || work.join("begun").exists());
    run.cancel();
    fails(run.finish(), BH_CANCELLED, "cancelled");
    let request = call_of("line_numbers", nothing()).input().unwrap();
    let mut run = place.session.open(&request).unwrap();
    run.send_all(b"a\n").unwrap();
    assert!(matches!(run.next(), Some(Ok(Piece::Output { .. }))));
    run.cancel();
    fails(run.finish(), BH_CANCELLED, "cancelled");
    assert!(!work.join("went-on").exists());
}
