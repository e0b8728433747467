//! The tools: what models read of them, and what they do.

use crate::abi::*;
use crate::call::{Call, Done};
use crate::json::{object, Json};

/// As `abi/schemas/tool.json` has them. What `needs` does not list, run() refuses.
pub const DEFINITIONS: [&str; 3] = [
    r#"{"name":"word_count","title":"Word count",
        "description":"Counts lines, words, characters and bytes of a text.",
        "input_schema":{"type":"object","additionalProperties":false,"required":["text"],
          "properties":{"text":{"type":"string","description":"What to count in."}}},
        "output_schema":{"type":"object","required":["lines","words","characters","bytes"],
          "properties":{"lines":{"type":"integer"},"words":{"type":"integer"},
            "characters":{"type":"integer"},"bytes":{"type":"integer"}}},
        "annotations":{"read_only":true,"idempotent":true,"open_world":false}}"#,
    r#"{"name":"line_numbers","title":"Line numbers",
        "description":"Gives its input back with a number before each line, as it comes.",
        "input_schema":{"type":"object","additionalProperties":false,
          "properties":{"first":{"type":"integer","minimum":0,"maximum":9007199254740991,
            "description":"1 without it."}}},
        "output_schema":{"type":"object","required":["lines"],
          "properties":{"lines":{"type":"integer"}}},
        "annotations":{"read_only":true,"idempotent":true,"open_world":false}}"#,
    r#"{"name":"output_lines","title":"Lines of output",
        "description":"Runs a shell command in the sandbox and counts the lines that it writes.",
        "input_schema":{"type":"object","additionalProperties":false,"required":["command"],
          "properties":{"command":{"type":"string","minLength":1},
            "sandbox":{"type":"string","description":"Its id; the default sandbox without it."}}},
        "output_schema":{"type":"object","required":["stdout","stderr","exit_code"],
          "properties":{"stdout":{"type":"integer"},"stderr":{"type":"integer"},
            "exit_code":{"type":["integer","null"]}}},
        "needs":["sandbox.exec/1"]}"#,
];

pub fn call(call: Call, tool: &str, args: &Json) -> Done {
    match tool {
        "word_count" => word_count(call, args),
        "line_numbers" => line_numbers(call, args),
        "output_lines" => output_lines(call, args),
        _ => Err(call.fail(BH_NOT_FOUND, "unknown_tool", "this toolset has no such tool")),
    }
}

/// A result with a text for the model and the same as data.
fn result(text: String, structured: Json) -> Json {
    let content = object([("type", "text".into()), ("text", text.into())]);
    object([("content", Json::from(vec![content])), ("structured", structured)])
}

fn word_count(call: Call, args: &Json) -> Done {
    let text = args["text"].as_str().unwrap_or("");
    let (lines, words) = (text.lines().count(), text.split_whitespace().count());
    let characters = text.chars().count();
    let said = format!("{} lines, {} words, {} characters", lines, words, characters);
    let counts = object([
        ("lines", lines.into()),
        ("words", words.into()),
        ("characters", characters.into()),
        ("bytes", text.len().into()),
    ]);
    call.result(&result(said, counts))
}

/// For input of any length: one buffer, receive() until nothing comes, emit(), which waits while the
/// reader is slow. What says stop is handed on by `?`.
fn line_numbers(call: Call, args: &Json) -> Done {
    // The host has checked it; without a host, or with a number of a kind that we do not read, say so.
    let first = match args.get("first") {
        None => 1,
        Some(given) => given.as_i64().ok_or_else(|| {
            call.fail(BH_INVALID_ARGUMENT, "schema", "first is not a whole number up to 2^53 - 1")
        })?,
    };
    let mut input = vec![0; 64 << 10];
    let mut output = Vec::new();
    let (mut lines, mut at_start) = (0, true);
    loop {
        let got = call.receive(&mut input)?;
        if got == 0 {
            break;
        }
        output.clear();
        for line in input[..got].split_inclusive(|&byte| byte == b'\n') {
            if at_start {
                output.extend_from_slice(format!("{}\t", first.saturating_add(lines)).as_bytes());
                lines += 1;
            }
            output.extend_from_slice(line);
            at_start = line.ends_with(b"\n");
        }
        call.emit(BH_STREAM_DATA, &output)?;
    }
    call.result(&result(format!("{} lines", lines), object([("lines", lines.into())])))
}

/// A tool made of an operation. The host runs it with the caller's rights, in the caller's sandbox.
fn output_lines(call: Call, args: &Json) -> Done {
    let command = args["command"].as_str().unwrap_or("");
    let mut exec = vec![("argv", Json::from(vec!["sh", "-c", command]))];
    if let Some(sandbox) = args["sandbox"].as_str() {
        exec.push(("sandbox", sandbox.into()));
    }
    let (mut stdout, mut stderr) = (Lines::default(), Lines::default());
    let done = call.run("sandbox.exec/1", &object(exec), &mut |stream, data| match stream {
        BH_STREAM_STDOUT => stdout.add(data),
        BH_STREAM_STDERR => stderr.add(data),
        _ => {}
    })?;
    let exit = &done["exit"];
    let said = format!(
        "{} lines on stdout, {} on stderr, ended by {}",
        stdout.count(),
        stderr.count(),
        exit["reason"].as_str().unwrap_or("something unknown")
    );
    let counts = object([
        ("stdout", stdout.count().into()),
        ("stderr", stderr.count().into()),
        ("exit_code", exit["code"].clone()),
    ]);
    call.result(&result(said, counts))
}

/// Counts lines in pieces; a last one without an end counts too.
#[derive(Default)]
struct Lines {
    whole: usize,
    open: bool,
}

impl Lines {
    fn add(&mut self, data: &[u8]) {
        if let Some(last) = data.last() {
            self.whole += data.iter().filter(|&&byte| byte == b'\n').count();
            self.open = *last != b'\n';
        }
    }

    fn count(&self) -> usize {
        self.whole + usize::from(self.open)
    }
}
