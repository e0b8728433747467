//! How a plugin is tested without a host: a call whose api records what it is told.

use super::*;
use call::{Call, Done, Stop};
use std::ptr::null_mut;

/// `call` comes first: the functions below get a pointer to it and find the rest behind it.
#[repr(C)]
struct Fake {
    call: bh_call,
    api: bh_call_api,
    input: Vec<u8>,
    output: Vec<u8>,
    result: String,
    failure: (bh_status, String, String),
    items: Vec<String>,
    stop_emit_with: bh_status,
}

unsafe fn text(data: *const c_char, size: usize) -> String {
    String::from_utf8(bytes(data, size).to_vec()).unwrap()
}

unsafe extern "C" fn fail(
    call: *mut bh_call,
    code: bh_status,
    msg: *const c_char,
    msg_len: usize,
    details: *const c_char,
    details_len: usize,
) -> bh_status {
    (*call.cast::<Fake>()).failure = (code, text(msg, msg_len), text(details, details_len));
    code
}

unsafe extern "C" fn result(call: *mut bh_call, json: *const c_char, len: usize) -> bh_status {
    (*call.cast::<Fake>()).result = text(json, len);
    BH_OK
}

unsafe extern "C" fn item(call: *mut bh_call, json: *const c_char, len: usize) -> bh_status {
    let fake = &mut *call.cast::<Fake>();
    fake.items.push(text(json, len));
    BH_OK
}

unsafe extern "C" fn emit(
    call: *mut bh_call,
    _: i32,
    data: *const c_void,
    size: usize,
) -> bh_status {
    let fake = &mut *call.cast::<Fake>();
    fake.output.extend_from_slice(bytes(data, size));
    fake.stop_emit_with
}

// Three bytes at a time, so that lines are cut anywhere.
unsafe extern "C" fn receive(
    call: *mut bh_call,
    buffer: *mut c_void,
    size: usize,
    got: *mut usize,
) -> bh_status {
    let fake = &mut *call.cast::<Fake>();
    let part: Vec<u8> = fake.input.drain(..fake.input.len().min(size).min(3)).collect();
    std::ptr::copy_nonoverlapping(part.as_ptr(), buffer.cast(), part.len());
    *got = part.len();
    BH_OK
}

fn fake(input: &str) -> Box<Fake> {
    let mut fake = Box::new(Fake {
        call: bh_call { api: null(), host: null() },
        api: bh_call_api {
            struct_size: size_of::<bh_call_api>() as u32,
            abi_minor: 0,
            fail: Some(fail),
            result: Some(result),
            item: Some(item),
            emit: Some(emit),
            attach: None,
            event: None,
            receive: Some(receive),
            receive_fd: None,
            end_input: None,
            wait: None,
            cancel_fd: None,
            time_left_ns: None,
            get_service: None,
        },
        input: input.as_bytes().to_vec(),
        output: Vec::new(),
        result: String::new(),
        failure: (BH_OK, String::new(), String::new()),
        items: Vec::new(),
        stop_emit_with: BH_OK,
    });
    fake.call.api = &fake.api;
    fake
}

fn run(fake: &mut Fake, tool: &str, args: &str) -> bh_status {
    let (t, a) = (tool.as_ptr().cast(), args.as_ptr().cast());
    let call = (fake as *mut Fake).cast();
    unsafe { call_tool(null_mut(), call, t, tool.len(), a, args.len(), null(), 0) }
}

fn counts(fake: &Fake) -> Json {
    Json::parse(&fake.result).unwrap()["structured"].clone()
}

#[test]
fn definitions_are_json_and_agree_with_the_capabilities() {
    let mut f = fake("");
    assert_eq!(unsafe { list(null_mut(), (&mut *f as *mut Fake).cast()) }, BH_OK);
    let names: Vec<Json> =
        f.items.iter().map(|item| Json::parse(item).unwrap()["name"].clone()).collect();
    let capabilities = unsafe { CStr::from_ptr(PROVIDER.0.capabilities) }.to_str().unwrap();
    assert_eq!(Json::parse(capabilities).unwrap()["tools"], Json::Array(names));
}

#[test]
fn words_are_counted() {
    let mut f = fake("");
    assert_eq!(run(&mut f, "word_count", r#"{"text":"eins zwei\n drei\u00e9 \n"}"#), BH_OK);
    let found = counts(&f);
    let numbers = ["lines", "words", "characters", "bytes"].map(|name| found[name].as_i64());
    assert_eq!(numbers, [Some(2), Some(3), Some(18), Some(19)]);
}

#[test]
fn lines_get_numbers_wherever_they_are_cut() {
    let mut f = fake("a\n\nbcdefg\nlast");
    assert_eq!(run(&mut f, "line_numbers", r#"{"first":9}"#), BH_OK);
    assert_eq!(String::from_utf8_lossy(&f.output), "9\ta\n10\t\n11\tbcdefg\n12\tlast");
    assert_eq!(counts(&f)["lines"].as_i64(), Some(4));
    let mut f = fake("x");
    f.stop_emit_with = 1;
    assert_eq!(run(&mut f, "line_numbers", "{}"), 1, "a code of the host's is handed on");
    assert!(f.result.is_empty());
}

#[test]
fn what_it_cannot_do_it_says() {
    let mut f = fake("");
    assert_eq!(run(&mut f, "no_such", "{}"), BH_NOT_FOUND);
    assert!(f.failure.2.contains("unknown_tool"));
    assert_eq!(run(&mut f, "output_lines", r#"{"command":"true"}"#), BH_UNIMPLEMENTED);
    assert!(f.failure.2.contains("no_operations"));
    // An older host, whose table ends before receive.
    f.api.struct_size = 8 + 6 * 8;
    assert_eq!(run(&mut f, "line_numbers", "{}"), BH_UNIMPLEMENTED);
    assert!(f.failure.2.contains("not_offered"));
}

#[test]
fn a_panic_is_an_error_of_the_call() {
    let mut f = fake("");
    let call: *mut bh_call = (&mut *f as *mut Fake).cast();
    let code = guarded(call, |_| panic!("{} and {}", 1, 2));
    assert_eq!((code, f.failure.0), (BH_INTERNAL, BH_INTERNAL));
    assert!(f.failure.1.contains("1 and 2") && f.failure.2.contains("exception"));
    let code = guarded(call, |call: Call| -> Done { Err(call.fail(8, "memory", "full")) });
    assert_eq!(code, 8);
    assert_eq!(guarded(call, |_| Err(Stop(4))), 4);
}

#[test]
fn the_first_number_may_be_written_in_any_way_and_is_never_guessed() {
    for (args, said) in [("{\"first\":5.0}", "5\tx"), ("{\"first\":1e3}", "1000\tx")] {
        let mut f = fake("x");
        assert_eq!(run(&mut f, "line_numbers", args), BH_OK);
        assert_eq!(String::from_utf8_lossy(&f.output), said);
    }
    for number in ["9223372036854775808", "18446744073709551616", "1.5", "1e300", "null"] {
        let mut f = fake("x");
        let args = format!("{{\"first\":{}}}", number);
        assert_eq!(run(&mut f, "line_numbers", &args), BH_INVALID_ARGUMENT, "{}", number);
        assert!(f.failure.2.contains("\"schema\"") && f.output.is_empty());
    }
    assert!(tools::DEFINITIONS[1].contains("\"maximum\":9007199254740991"));
}

static ANSWER: std::sync::Mutex<&str> = std::sync::Mutex::new("");

unsafe extern "C" fn operate(
    _: *mut bh_call,
    _: *const c_char,
    _: usize,
    _: *const c_char,
    _: usize,
    _: *const *const bh_blob,
    _: usize,
    io: *const bh_run_io,
) -> bh_status {
    let answer = *ANSWER.lock().unwrap();
    ((*io).result.unwrap())((*io).ctx, answer.as_ptr().cast(), answer.len())
}

unsafe extern "C" fn service(_: *mut bh_call, _: *const c_char) -> *const c_void {
    static TABLE: Table<bh_operations> = Table(bh_operations {
        struct_size: size_of::<bh_operations>() as u32,
        abi_minor: 0,
        run: Some(operate),
        cancel: None,
    });
    std::ptr::addr_of!(TABLE.0).cast()
}

#[test]
fn a_result_that_cannot_be_read_is_no_success() {
    for (answer, code) in [
        (r#"{"exit":{"code":0,"reason":"code"}}"#, BH_OK),
        ("{", BH_INTERNAL),
        ("", BH_INTERNAL),
    ] {
        *ANSWER.lock().unwrap() = answer;
        let mut f = fake("");
        f.api.get_service = Some(service);
        assert_eq!(run(&mut f, "output_lines", r#"{"command":"true"}"#), code, "{:?}", answer);
        assert_eq!(f.failure.2.contains("\"json\""), code != BH_OK);
    }
}

#[test]
fn the_entry_gives_the_same_table_twice_and_null_for_what_it_does_not_know() {
    let mut f = fake("");
    let call: *mut bh_call = (&mut *f as *mut Fake).cast();
    unsafe {
        let plugin = bh_plugin_entry_v1(call);
        assert!(!plugin.is_null());
        assert_eq!(plugin, bh_plugin_entry_v1(call));
        let get = (*plugin).get_interface.unwrap();
        assert!(!get("bh.toolset/1\0".as_ptr().cast()).is_null());
        for other in ["bh.toolset/2\0", "bh.toolset/1x\0", "\0"] {
            assert!(get(other.as_ptr().cast()).is_null());
        }
        assert!(get(null()).is_null());
    }
}

#[test]
fn a_host_without_what_it_needs_is_told_why_it_is_not_loaded() {
    type Spoil = fn(&mut bh_call_api);
    let spoils: [Spoil; 3] =
        [|api| api.result = None, |api| api.item = None, |api| api.struct_size = 8 + 8];
    for spoil in spoils {
        let mut f = fake("");
        spoil(&mut f.api);
        assert!(unsafe { bh_plugin_entry_v1((&mut *f as *mut Fake).cast()) }.is_null());
        assert_eq!(f.failure.0, BH_UNIMPLEMENTED);
        assert!(f.failure.2.contains("not_offered"));
    }
    let mut f = fake("");
    f.api.fail = None;
    assert!(unsafe { bh_plugin_entry_v1((&mut *f as *mut Fake).cast()) }.is_null());
    assert!(unsafe { bh_plugin_entry_v1(null_mut()) }.is_null());
}

#[test]
fn the_hook_of_the_process_is_left_alone() {
    static CALLED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {
        CALLED.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }));
    let mut f = fake("");
    let call: *mut bh_call = (&mut *f as *mut Fake).cast();
    let plugin = unsafe { bh_plugin_entry_v1(call) };
    let code = guarded(call, |_| panic!("heard"));
    std::panic::set_hook(before);
    assert!(!plugin.is_null());
    assert_eq!(code, BH_INTERNAL);
    assert!(CALLED.load(std::sync::atomic::Ordering::SeqCst) > 0);
}
