"""Holds what Rust says of the C headers against the headers: the functions of host.h, the structs of
plugin.h and toolset.h, and the constants."""
import json
import os
import re
import subprocess
import sys

import place

sys.path.insert(0, os.path.join(place.TOP, "tests", "abi"))
import header_model  # noqa: E402

PLAIN = {"bh_status": "bh_status", "bh_fd": "bh_fd", "uint8_t": "u8", "uint32_t": "u32",
         "uint64_t": "u64", "int32_t": "i32", "int64_t": "i64", "size_t": "usize", "char": "c_char",
         "void": "c_void"}


def rust_type(c_type):
    """`const char *` -> `*const c_char`, from the inside to the outside."""
    words = c_type.replace("*", " * ").split()
    const, out = False, None
    for word in words:
        if word == "const":
            const = True
        elif word == "*":
            # What stands before the star says whether that may be written to.
            out, const = f"*{'const' if const else 'mut'} {out}", False
        elif word != "struct":
            out = PLAIN.get(word, word)
    return out


def c_parameters(text):
    """[(name, type)] of a parameter list."""
    if text.strip() in ("", "void"):
        return []
    return [re.match(r"(.*?)(\w+)$", part.strip(), re.S).groups()[::-1] for part in text.split(",")]


def c_signature(params, result):
    result = result.replace("BH_API", "").strip()
    types = [rust_type(t) for _, t in c_parameters(params)]
    return types, "" if result == "void" else rust_type(result)


def rust_signature(params, result):
    types = [re.sub(r"\s+", " ", p.split(":", 1)[1]).strip() for p in params.split(",") if p.strip()]
    return types, re.sub(r"\s+", " ", result or "").strip()


def functions(check):
    """Every function of host.h is in ffi.rs, and nothing else is."""
    header = header_model.parse(os.path.join(place.TOP, "host/include/bulkhead/host.h"))
    source = place.read("sdk/rust/src/ffi.rs")
    ours = {name: (rust_signature(params, result), [p.split(":")[0].strip() for p in params.split(",")
                                                    if p.strip()])
            for name, params, result in
            re.findall(r"pub fn (\w+)\(([^)]*)\)(?: -> ([^;]+))?;", source)}
    check("ffi.rs has the functions of host.h, all and no others",
          set(ours) == {f.name for f in header.functions} and len(ours) > 40,
          sorted(set(ours) ^ {f.name for f in header.functions}))
    wrong = []
    for function in header.functions:
        theirs = c_signature(function.params, function.type)
        names = [{"type": "media_type"}.get(n, n) for n, _ in c_parameters(function.params)]
        if ours.get(function.name) != (theirs, names):
            wrong.append(f"{function.name}: header {theirs} {names}, ffi.rs {ours.get(function.name)}")
    check("their parameters and results have the header's names and types", not wrong, "\n".join(wrong))
    opaque = re.search(r"opaque! \{([^}]*)\}", source).group(1).split()
    check("ffi.rs has the header's handles", opaque == header.opaque, opaque)


def constants(check):
    """Those of base.h and host.h in ffi.rs, all of them; those that abi.rs has in the golden."""
    base = header_model.parse(os.path.join(place.TOP, "abi/include/bulkhead/base.h"))
    host = header_model.parse(os.path.join(place.TOP, "host/include/bulkhead/host.h"))
    theirs = {name: int(value, 0) for name, value in {**base.macros, **host.macros}.items()
              if re.fullmatch(r"\d+|0x[0-9a-fA-F]+", value)}
    found = re.findall(r"pub const (BH_\w+): \w+ = (\w+);", place.read("sdk/rust/src/ffi.rs"))
    ours = {name: int(value, 0) for name, value in found}
    check("ffi.rs has the constants of base.h and host.h", ours == theirs and len(ours) > 25,
          set(ours.items()) ^ set(theirs.items()))
    golden = json.loads(place.read("tests/abi/layout_1_0.json"))
    wrong = []
    for name, value in re.findall(r"pub const (BH_\w+): [&\w]+ = (.+?);",
                                  place.read("samples/plugin_rust/src/abi.rs")):
        expected = golden["constants"].get(name)
        if name == "BH_ABI_MINOR":
            expected = str(golden["abi"]["minor"])
        if value.replace("\\0", "") != expected:
            wrong.append(f"{name}: {value}, golden {expected}")
    check("the constants in abi.rs are the ABI's", not wrong, wrong)


def rust_structs(source):
    """{name: [(field, Rust type)]} of the repr(C) structs."""
    out = {}
    for name, body in re.findall(r"#\[repr\(C\)\]\n(?:#\[[^\n]*\]\n)?pub struct (\w+) \{\n(.*?)\n\}",
                                 source, re.S):
        out[name] = re.findall(r"^    pub (\w+):\s*(.*?),?$(?=\n    pub|\Z)", body, re.S | re.M)
    return out


def same_type(ours, golden):
    """A field's type, or the types of a function pointer's parameters and its result."""
    function = re.fullmatch(r"(.*?)\(\s*\*\)\((.*)\)", golden, re.S)
    if not function:
        return ours == rust_type(golden)
    mirrored = re.fullmatch(r"Option<\s*unsafe extern \"C\" fn\((.*)\)(?:\s*->\s*(.*?))?,?\s*>", ours,
                            re.S)
    return mirrored is not None and (rust_signature(mirrored[1], mirrored[2]) ==
                                     c_signature(function[2], function[1]))


def fields(check):
    """The structs of abi.rs have the golden's fields, in order and with their types."""
    golden = json.loads(place.read("tests/abi/layout_1_0.json"))["structs"]
    structs = rust_structs(place.read("samples/plugin_rust/src/abi.rs"))
    check("abi.rs mirrors what a toolset needs", len(structs) == 13, sorted(structs))
    wrong = []
    for name, ours in structs.items():
        theirs = golden.get(name, {"fields": {}})["fields"]
        if [field for field, _ in ours] != list(theirs):
            wrong.append(f"{name}: other fields: {[f for f, _ in ours]}, {list(theirs)}")
            continue
        wrong += [f"{name}.{field}: {kind}, golden {theirs[field]['type']}"
                  for field, kind in ours if not same_type(kind, theirs[field]["type"])]
    check("its structs have the golden's fields with their types", not wrong, "\n".join(wrong))
    return structs


def layout(check, tools, structs):
    """Sizes and offsets as that compiler has them, against the golden."""
    golden = json.loads(place.read("tests/abi/layout_1_0.json"))["structs"]
    abi = os.path.join(place.TOP, "samples/plugin_rust/src/abi.rs")
    lines = ["#![allow(dead_code, unused_imports, unused_macros)]", f"#[path = {json.dumps(abi)}]",
             "mod abi;", "use abi::*;", "use std::mem::{size_of, MaybeUninit};",
             "use std::ptr::addr_of;", "fn width<T>(_: *const T) -> usize { size_of::<T>() }",
             "fn main() {"]
    for name, members in structs.items():
        lines += ["    {", f"        let place = MaybeUninit::<{name}>::uninit();",
                  "        let s = place.as_ptr();",
                  f'        println!("{name} {{}}", size_of::<{name}>());']
        for field, _ in members:
            lines += ["        unsafe {", f"            let f = addr_of!((*s).{field});",
                      f'            println!("{name}.{field} {{}} {{}}", '
                      "f as usize - s as usize, width(f));", "        }"]
        lines += ["    }"]
    lines += ["}"]
    folder = place.folder(tools, "layout")
    source, program = os.path.join(folder, "layout.rs"), os.path.join(folder, "layout")
    with open(source, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    built = subprocess.run([tools.rustc, "--edition", "2021", source, "-o", program], text=True,
                           capture_output=True, check=False, timeout=300)
    if built.returncode != 0:
        check("the layout program builds", False, built.stderr)
        return
    said = subprocess.run([program], text=True, capture_output=True, check=True, timeout=60).stdout
    expected = []
    for name, members in structs.items():
        expected.append(f"{name} {golden[name]['size']}")
        expected += [f"{name}.{field} {golden[name]['fields'][field]['offset']} "
                     f"{golden[name]['fields'][field]['size']}" for field, _ in members]
    check("sizes and offsets are the ABI's", said.splitlines() == expected,
          set(said.splitlines()) ^ set(expected))
