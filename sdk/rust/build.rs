//! Where the linker finds libbulkhead: in BULKHEAD_LIB_DIR, or without it where the linker looks
//! by itself (an installation below /usr or /usr/local).

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=BULKHEAD_LIB_DIR");
    if let Ok(folder) = env::var("BULKHEAD_LIB_DIR") {
        if folder.is_empty() {
            return;
        }
        println!("cargo:rustc-link-search=native={}", folder);
        // For the build scripts of who depends on this crate: DEP_BULKHEAD_LIB_DIR.
        println!("cargo:lib_dir={}", folder);
    }
}
