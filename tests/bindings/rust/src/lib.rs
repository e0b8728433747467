//! What the tests share: a runtime with folders of its own, over the plugins of a build.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bulkhead::{object, Fault, Json, Runtime, Session};

/// Longer than anything takes; nothing is measured.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A runtime, a session, and a folder that is removed with them.
pub struct Place {
    /// Of persona "tests".
    pub session: Session,
    /// Its own folder, not below /tmp.
    pub folder: PathBuf,
}

impl Place {
    /// With the configuration's defaults.
    pub fn new() -> Place {
        Place::with(&[])
    }

    /// With further members of the configuration.
    pub fn with(more: &[(&str, Json)]) -> Place {
        Place::made(&[], more)
    }

    /// With plugins of these folders, beside those of the build.
    pub fn with_plugins(folders: &[&str]) -> Place {
        Place::made(folders, &[])
    }

    fn made(plugins: &[&str], more: &[(&str, Json)]) -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let build = build_folder();
        let name = format!("place-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = build.join("bindings-rust").join(name);
        fs::create_dir_all(folder.join("work")).expect("a folder for the test");
        let runtime = Runtime::new(&config(&folder, plugins, more)).expect("a runtime");
        let session = runtime.session("tests").expect("a session");
        Place { session, folder }
    }

    /// The runtime.
    pub fn runtime(&self) -> &Runtime {
        self.session.runtime()
    }

    /// Arguments of sandbox.exec: in the default sandbox over the place's folder.
    pub fn exec(&self, argv: &[&str]) -> Json {
        let work = self.folder.join("work");
        let work = work.to_str().expect("a path in UTF-8");
        object([("workspace", work.into()), ("argv", Json::from(argv.to_vec()))])
    }
}

impl Default for Place {
    fn default() -> Place {
        Place::new()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let closed = self.runtime().close(20_000);
        let removed = fs::remove_dir_all(&self.folder);
        if !thread::panicking() {
            closed.expect("the runtime closes");
            removed.expect("the folder can be removed");
        }
    }
}

fn build_folder() -> PathBuf {
    PathBuf::from(env::var("BH_BUILD_DIR").expect("BH_BUILD_DIR names the build folder"))
}

fn config(folder: &Path, plugins: &[&str], more: &[(&str, Json)]) -> Json {
    let text = |path: PathBuf| Json::from(path.to_str().expect("a path in UTF-8"));
    let off = ["environment", "user", "relative", "system"].map(|place| (place, false.into()));
    let mut paths: Vec<Json> = plugins.iter().map(|&path| path.into()).collect();
    paths.push(text(build_folder().join("plugins")));
    let mut plugins = vec![("path", Json::Array(paths))];
    plugins.extend(off);
    let mut members = vec![
        ("version", 1.into()),
        ("data_root", text(folder.join("data"))),
        ("plugins", object(plugins)),
    ];
    members.extend(more.iter().cloned());
    object(members)
}

/// An object without members.
pub fn nothing() -> Json {
    Json::Object(Vec::new())
}

/// A schema that takes any object.
pub fn any_object() -> Json {
    object([("type", "object".into())])
}

/// Waits until it is so, and fails the test where it never is.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !so() {
        assert!(started.elapsed() < PATIENCE, "not in time: {}", what);
        thread::sleep(Duration::from_millis(2));
    }
}

/// The fault of what should have failed, with its code and reason compared.
pub fn fails<T: std::fmt::Debug>(what: Result<T, Fault>, code: i32, reason: &str) -> Fault {
    let fault = what.expect_err("it should have failed");
    assert_eq!((fault.code.0, fault.reason()), (code, reason), "{:?}", fault);
    fault
}
