#include "loader/load.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "host/loader/folder.h"
#include "loader/digest.h"
#include "support/catch.h"

TEST_CASE("the dynamic linker's texts are explained") {
  const struct {
    const char *text, *hint;
  } cases[] = {
      {"libfoo.so.3: cannot open shared object file: No such file or directory",
       "install the package that brings libfoo.so.3"},
      {"/p/a.so: undefined symbol: foo_bar", "it uses foo_bar, which neither it"},
      {"/p/a.so: undefined symbol: foo, version BAR_2", "it uses foo, which neither it"},
      {"/p/a.so: cannot allocate memory in static TLS block", "it wants thread-local storage"},
      {"/lib/libc.so.6: version `GLIBC_2.99' not found (required by /p/a.so)",
       "it was built on a newer system"},
      {"/p/a.so: failed to map segment from shared object", "the filesystem it lies on"},
      {"/p/a.so: cannot open shared object file: No such file or directory",
       "install the plugin again"},
      {"something new", "compare what `readelf -d /p/a.so` says"},
  };
  for (const auto& each : cases) {
    const std::string hint = bh::load_hint(each.text, "/p/a.so");
    INFO(each.text << " -> " << hint);
    CHECK(hint.rfind(each.hint, 0) == 0);
  }
}

TEST_CASE("the hash is SHA-256 of the whole file") {
  bh_test::Folder folder;
  const auto hash = [&](const std::string& text) {
    bh::Fd fd(::open(folder.write("file", text).c_str(), O_RDONLY | O_CLOEXEC));
    return *bh::sha256_of(fd.get());
  };
  CHECK(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
