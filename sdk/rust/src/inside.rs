// For the tests of what cannot be seen from outside the crate.

use std::path::PathBuf;
use std::time::Duration;

use crate::runtime::Runtime;

pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // A test that failed may still use it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn runtime(name: &str) -> (Runtime, Folder) {
    let build = PathBuf::from(std::env::var("BH_BUILD_DIR").expect("BH_BUILD_DIR"));
    let folder = build.join("bindings-rust").join(format!("{}-{}", name, std::process::id()));
    let off = ["environment", "user", "relative", "system"].map(|place| (place, false.into()));
    let config = crate::object([
        ("version", 1.into()),
        ("data_root", folder.to_str().expect("a path in UTF-8").into()),
        ("plugins", crate::object(off)),
    ]);
    (Runtime::new(&config).expect("a runtime"), Folder(folder))
}
