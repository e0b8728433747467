"""The tables that ctypes is told are those of the headers, and the helpers those of the schemas."""
import ctypes
import os
import subprocess
import sys
import unittest

from place import TOP

import bulkhead
from bulkhead import _library, errors, mcp

sys.path.insert(0, os.path.join(TOP, "tests", "abi"))
import header_model  # noqa: E402

SCALARS = {"bh_status": ctypes.c_int32, "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32,
           "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "size_t": ctypes.c_size_t,
           "bh_fd": ctypes.c_ssize_t, "void": None}


def header(name):
    room = "abi" if name == "base.h" else "host"
    return header_model.parse(__import__("pathlib").Path(TOP, room, "include", "bulkhead", name))


def expected(text, returned):
    """The ctypes type of a C type; text that comes back is a void pointer, as its length is apart."""
    words = text.replace("const", "").split()
    base, stars = words[0], "".join(words[1:]).count("*") + words[0].count("*")
    base = base.rstrip("*")
    if stars == 2:
        return ctypes.POINTER(ctypes.c_void_p)
    if stars == 1 and base == "size_t":
        return ctypes.POINTER(ctypes.c_size_t)
    if stars == 1 and base == "char" and not returned:
        return ctypes.c_char_p
    if stars == 1:
        return ctypes.c_void_p
    return SCALARS[base]


def parameter_types(params):
    for one in params.split(","):
        one = one.strip()
        if one and one != "void":
            name = one.replace("*", "* ").split()[-1]
            yield one[:one.rindex(name)]


class Prototypes(unittest.TestCase):
    def compare(self, header_name, table):
        functions = {f.name: f for f in header(header_name).functions}
        self.assertEqual(sorted(functions), sorted(table))
        for name, (returns, takes) in table.items():
            function = functions[name]
            want = [expected(part, False) for part in parameter_types(function.params)]
            self.assertEqual(takes, want, name)
            if name != "bh_version_text":  # NUL-terminated, as the header says
                self.assertEqual(returns, expected(function.type, True), name)

    def test_host(self):
        self.compare("host.h", _library.PROTOTYPES)

    def test_mcp(self):
        self.compare("mcp.h", mcp.PROTOTYPES)

    def test_constants(self):
        macros = {**header("base.h").macros, **header("host.h").macros}
        for name in dir(_library):
            if name.startswith(("EVENT_", "STREAM_")):
                self.assertEqual(int(macros["BH_" + name].split()[0], 0), getattr(_library, name), name)
        self.assertEqual(int(macros["BH_HOST_VERSION"].split()[0], 0), _library.HOST_VERSION)

    def test_codes(self):
        macros = header("base.h").macros
        for code, kind in errors.BY_CODE.items():
            word = "".join("_" + c if c.isupper() else c for c in kind.__name__).upper().lstrip("_")
            self.assertEqual(int(macros["BH_" + word].split()[0], 0), code, word)
        self.assertEqual(len(errors.BY_CODE), 16)

    def test_helpers_are_those_of_the_schemas(self):
        done = subprocess.run([sys.executable, os.path.join(TOP, "sdk/python/generate.py"), "--check"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_all_is_exported(self):
        for name in bulkhead.__all__:
            self.assertTrue(hasattr(bulkhead, name), name)
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(bulkhead.__file__), "py.typed")))

    def test_the_package_has_the_librarys_version(self):
        with open(os.path.join(TOP, "sdk/python/pyproject.toml"), encoding="utf-8") as stream:
            text = stream.read()
        version = _library.HOST_VERSION
        self.assertIn(f'version = "{version >> 16}.{version >> 8 & 255}.{version & 255}"', text)

    def test_a_missing_library_names_the_way_out(self):
        env = dict(os.environ, BULKHEAD_LIBRARY="/nowhere/libbulkhead.so")
        done = subprocess.run([sys.executable, "-c", "import bulkhead; bulkhead.Runtime()"], env=env,
                              capture_output=True, text=True)
        self.assertIn("/nowhere/libbulkhead.so", done.stderr)
        self.assertEqual(done.returncode, 1)
