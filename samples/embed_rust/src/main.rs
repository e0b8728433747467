//! The embedding sample: what an embedder does with Bulkhead, step by step, the same in each language.
//!
//!     embed_rust CONFIG WORKSPACE
//!
//! CONFIG is the runtime's configuration as JSON text, WORKSPACE a folder for the sandbox. What it prints
//! is in samples/embed_output.txt.

use std::env;
use std::io::Write;
use std::process::exit;
use std::thread;

use bulkhead::ffi::{BH_STREAM_STDERR, BH_STREAM_STDOUT};
use bulkhead::{object, text_result, Desk, Json, Piece, Request, Runtime, Session, Tool};

type Done = Result<(), Box<dyn std::error::Error>>;

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let done = match args.as_slice() {
        [config, workspace] => run(config, workspace),
        _ => Err("usage: embed_rust CONFIG WORKSPACE".into()),
    };
    if let Err(error) = done {
        eprintln!("{}", error);
        exit(1);
    }
}

fn run(config: &str, workspace: &str) -> Done {
    let runtime = Runtime::from_text(config)?;
    let session = runtime.session("sample")?;

    let made = session.call("sandbox.create", &object([("workspace", workspace.into())]))?.result;
    println!("sandbox: {}", word(&made["state"]));
    let sandbox = Sandbox { session: &session, id: word(&made["sandbox"]).to_owned() };

    stream(&sandbox)?;
    input(&sandbox)?;
    cancel(&sandbox)?;
    fault(&session);
    tools(&sandbox)?;
    serve(&session)?;

    session.call("sandbox.kill", &object([("sandbox", sandbox.id.as_str().into())]))?;
    println!("left: {}", session.call("sandbox.list", &object::<&str>([]))?.items.len());
    runtime.close(10_000)?;
    println!("closed");
    Ok(())
}

fn word(json: &Json) -> &str {
    json.as_str().unwrap_or("")
}

struct Sandbox<'a> {
    session: &'a Session,
    id: String,
}

impl Sandbox<'_> {
    fn exec(&self, argv: &[&str]) -> Result<Request, bulkhead::Fault> {
        let argv = Json::from(argv.to_vec());
        let args = object([("sandbox", self.id.as_str().into()), ("argv", argv)]);
        Request::new("sandbox.exec", &args)
    }
}

/// Lines of stdout as they come, then stderr and how it ended.
fn stream(sandbox: &Sandbox) -> Done {
    let script = "echo one; sleep 0.2; echo two; echo three >&2; exit 3";
    let (mut line, mut stderr) = (Vec::new(), Vec::new());
    for piece in sandbox.session.open(&sandbox.exec(&["sh", "-c", script])?)? {
        match piece? {
            Piece::Output { stream: BH_STREAM_STDOUT, data } => {
                line.extend_from_slice(&data);
                while let Some(end) = line.iter().position(|&byte| byte == b'\n') {
                    println!("out: {}", String::from_utf8_lossy(&line[..end]));
                    line.drain(..=end);
                }
            }
            Piece::Output { stream: BH_STREAM_STDERR, data } => stderr.extend_from_slice(&data),
            Piece::Result(result) => {
                print!("err: {}", String::from_utf8_lossy(&stderr));
                let exit = &result["exit"];
                println!("exit: {} {}", word(&exit["reason"]), exit["code"]);
            }
            _ => {}
        }
    }
    Ok(())
}

/// A little input at once; then 4 MiB from a thread, as room allows.
fn input(sandbox: &Sandbox) -> Done {
    let mut run = sandbox.session.open(&sandbox.exec(&["tr", "a-z", "A-Z"])?.input()?)?;
    run.send_all(b"hello from the embedder\n")?;
    run.send_end()?;
    print!("stdin: {}", String::from_utf8_lossy(run.finish()?.stdout()));

    let run = sandbox.session.open(&sandbox.exec(&["wc", "-c"])?.input()?)?;
    let mut input = run.input();
    let sender = thread::spawn(move || input.write_all(&vec![b'x'; 4 << 20]));
    let counted = run.finish()?;
    sender.join().map_err(|_| "the sender panicked")??;
    println!("through: {} bytes", String::from_utf8_lossy(counted.stdout()).trim());
    Ok(())
}

/// Stops a command from another thread once it has started.
fn cancel(sandbox: &Sandbox) -> Done {
    let run = sandbox.session.open(&sandbox.exec(&["sleep", "60"])?)?;
    let canceller = run.canceller();
    for piece in run {
        match piece {
            Ok(Piece::Item(_)) => {
                let canceller = canceller.clone();
                thread::spawn(move || canceller.cancel());
            }
            Ok(_) => {}
            Err(fault) => println!("cancelled: {} {}", fault.code.0, fault.reason()),
        }
    }
    Ok(())
}

/// What went wrong is a value: a code to act on, a word for programs, a sentence for people.
fn fault(session: &Session) {
    let args = [("sandbox", "nobody-made-this".into()), ("argv", Json::from(vec!["true"]))];
    if let Err(fault) = session.call("sandbox.exec", &object(args)) {
        println!("fault: {} {}", fault.code.0, fault.reason());
    }
}

/// The tools of all plugins, and one of them called.
fn tools(sandbox: &Sandbox) -> Done {
    let tools = sandbox.session.call("tool.list", &object::<&str>([]))?;
    if tools.result["count"].as_i64() != Some(tools.items.len() as i64) {
        return Err("tool.list has another count than items".into());
    }
    if tools.items.iter().any(|tool| word(&tool["name"]) == "command_run") {
        println!("tools: command_run is among them");
    }
    let id = sandbox.id.as_str();
    sandbox.session.tool("sandbox_connect", &object([("sandbox_id", id.into())]))?;
    let command = "echo from a tool";
    let args = object([("sandbox_id", id.into()), ("command", command.into())]);
    let done = sandbox.session.tool("command_run", &args)?.result;
    println!("tool: {}", word(&done["structured"]["logs"]["stdout"][0]["text"]));
    Ok(())
}

/// A tool of this program's own, called like any other.
fn serve(session: &Session) -> Done {
    let text = object([("type", "string".into())]);
    let schema = object([
        ("type", "object".into()),
        ("properties", object([("text", text)])),
        ("required", Json::from(vec!["text"])),
    ]);
    let shout = Tool::new("shout", "Says it in capital letters.", schema);
    let mut desk = Desk::new(session.runtime())?;
    desk.tool(session, shout, |ask| Ok(text_result(word(&ask.args()["text"]).to_uppercase())))?;
    let serving = desk.spawn(1)?;
    let said = session.tool("shout", &object([("text", "hello".into())]))?;
    println!("served: {}", said.text());
    serving.stop();
    Ok(())
}
