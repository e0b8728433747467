// What each function promises, with one caller.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "store_at.h"
#include "support/catch.h"
#include "support/skip.h"

using namespace bh_test;
using Names = std::vector<std::string>;

TEST_CASE("what was written is read, whole and in parts") {
  TempFolder at;
  StoreAt store(at.path);
  const std::string text = "0123456789";
  const Answer put = store.put("ada/notes/a.txt", text, "", "text/plain");
  REQUIRE(put.code == BH_OK);
  CHECK(put.result == R"({"etag":")" + put.etag + R"(","size":10})");
  CHECK(store.get("ada/notes/a.txt").data == text);
  CHECK(store.get("ada/notes/a.txt", 3, 4).data == "3456");
  CHECK(store.get("ada/notes/a.txt", 8, 100).data == "89");
  CHECK(store.get("ada/notes/a.txt", 10).code == BH_OK);
  const Answer past = store.get("ada/notes/a.txt", 11);
  CHECK(past.code == BH_OUT_OF_RANGE);
  CHECK(past.has("\"reason\":\"range\""));
  CHECK(store.get("ada/notes/a.txt", -1).code == BH_INVALID_ARGUMENT);
  Entry e;
  REQUIRE(store.stat("ada/notes/a.txt", &e).code == BH_OK);
  CHECK(e.name.empty());
  CHECK(e.kind == BH_FILE_REGULAR);
  CHECK(e.size == 10);
  CHECK(e.etag == put.etag);
  CHECK(e.media_type == "text/plain");
  CHECK(e.modified_ns > 1'600'000'000'000'000'000);
  REQUIRE(store.stat("ada", &e).code == BH_OK);
  CHECK(e.kind == BH_FILE_DIRECTORY);
  REQUIRE(store.put("empty", "").code == BH_OK);
  CHECK(store.get("empty").code == BH_OK);
  CHECK(store.get("empty").data.empty());
}

TEST_CASE("a file has another etag after each write, and the same after a restart") {
  TempFolder at;
  std::string first, second;
  {
    StoreAt store(at.path);
    first = store.put("f", "same", "", "a/b").etag;
    second = store.put("f", "same").etag;
    CHECK(first.size() > 16);
    CHECK(first != second);
  }
  StoreAt store(at.path);
  Entry e;
  REQUIRE(store.stat("f", &e).code == BH_OK);
  CHECK(e.etag == second);
  CHECK(e.media_type.empty());
  CHECK(store.put("f", "more", second).code == BH_OK);
  spill(at.path + "/files/f", "by hand");
  Entry edited;
  REQUIRE(store.stat("f", &edited).code == BH_OK);
  CHECK(edited.etag != second);
}

TEST_CASE("if_etag is honoured, and what it refuses changes nothing") {
  TempFolder at;
  StoreAt store(at.path);
  const Answer missing = store.put("f", "x", "0123");
  CHECK(missing.code == BH_ABORTED);
  CHECK(missing.has("\"reason\":\"etag_mismatch\""));
  const std::string first = store.put("f", "one", "*").etag;
  const Answer there = store.put("f", "two", "*");
  CHECK(there.code == BH_ALREADY_EXISTS);
  CHECK(there.has("\"field\":\"if_etag\""));
  CHECK(store.put("f", "two", first).code == BH_OK);
  const Answer late = store.put("f", "three", first);
  CHECK(late.code == BH_ABORTED);
  CHECK(late.has("remedy"));
  CHECK(store.get("f").data == "two");
  CHECK(entries(at.path + "/tmp").empty());
  // Changed while the bytes came: noticed when they are whole.
  const std::string now = store.put("f", "before").etag;
  Pouring call(store.host.raw(), 3 << 20, [&](int64_t pos) {
    if (pos == 1 << 20) (void)store.put("f", "between");
    return BH_OK;
  });
  CHECK(store.pour(call, "f", now).code == BH_ABORTED);
  CHECK(store.get("f").data == "between");
  CHECK(entries(at.path + "/tmp").empty());
}

TEST_CASE("what is missing or of another kind is told by its reason") {
  TempFolder at;
  StoreAt store(at.path);
  REQUIRE(store.put("a/b/f", "x").code == BH_OK);
  for (const Answer& a : {store.get("none"), store.stat("a/none"), store.remove("a/b/none"),
                          store.remove("x/y"), store.get("a/b/f/g")}) {
    CHECK(a.code == BH_NOT_FOUND);
    CHECK(a.has("file_not_found"));
  }
  CHECK(store.get("a/b").has("is_folder"));
  CHECK(store.put("a/b", "x").has("is_folder"));
  CHECK(store.put("a/b/f/g", "x").has("not_a_folder"));
  std::vector<Entry> none;
  CHECK(store.list("a/b/f", none).has("not_a_folder"));
  CHECK(store.remove("a").has("not_empty"));
  for (const char* path : {"", "/a", "a/", "a//b", ".", "a/..", "../a", "a/./b", "\xff"}) {
    INFO("path " << path);
    const Answer a = store.put(path, "x");
    CHECK(a.code == BH_INVALID_ARGUMENT);
    CHECK(a.has("\"field\":\"path\""));
  }
  CHECK(store.put(std::string(256, 'a'), "x").code == BH_INVALID_ARGUMENT);
  std::string deep = "d";
  for (int i = 0; i < 64; ++i) deep += "/d";
  CHECK(store.put(deep, "x").code == BH_INVALID_ARGUMENT);
  CHECK(store.put(deep.substr(2), "x").code == BH_OK);
  CHECK(store.names("", true).size() == 64 + 3);
  CHECK(store.put("t", "x", "", std::string(256, 'a')).has("media_type"));
  CHECK(store.put("t", "x", "", "a\nb").has("media_type"));
}

TEST_CASE("folders come with their first file and go with their last") {
  TempFolder at;
  StoreAt store(at.path);
  REQUIRE(store.put("a/b/c/f", "x").code == BH_OK);
  REQUIRE(store.put("a/g", "x").code == BH_OK);
  REQUIRE(store.remove("a/b/c/f").code == BH_OK);
  CHECK(store.names("", true) == Names{"a", "a/g"});
  REQUIRE(store.put("a/b/c/f", "x").code == BH_OK);
  REQUIRE(store.remove("a/b", true).code == BH_OK);
  CHECK(store.names("", true) == Names{"a", "a/g"});
  REQUIRE(store.remove("a", true).code == BH_OK);
  CHECK(entries(at.path + "/files").empty());
  CHECK(entries(at.path + "/tmp").empty());
}

TEST_CASE("a folder deeper than paths may be is removed all the same") {
  TempFolder at;
  StoreAt store(at.path);
  REQUIRE(store.put("top/f", "x").code == BH_OK);
  int fd = ::open((at.path + "/files/top").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < 300 && fd >= 0; ++i) {
    ::mkdirat(fd, "deeper", 0700);
    const int next = ::openat(fd, "deeper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::close(fd);
    fd = next;
  }
  REQUIRE(fd >= 0);
  ::close(fd);
  CHECK(store.names("", true).size() < 80);
  REQUIRE(store.remove("top", true).code == BH_OK);
  CHECK(entries(at.path + "/files").empty());
  CHECK(entries(at.path + "/tmp").empty());
}

TEST_CASE("lists are bytewise, also across folders and behind a name") {
  TempFolder at;
  StoreAt store(at.path);
  for (const char* name : {"a/x", "a/y/z", "a-b", "a.b", "a0", "B", "\xc3\xbc"}) {
    REQUIRE(store.put(name, "x").code == BH_OK);
  }
  CHECK(store.names("") == Names{"B", "a", "a-b", "a.b", "a0", "\xc3\xbc"});
  const Names all = {"B", "a", "a-b", "a.b", "a/x", "a/y", "a/y/z", "a0", "\xc3\xbc"};
  CHECK(store.names("", true) == all);
  CHECK(store.names("a", true) == Names{"x", "y", "y/z"});
  for (size_t i = 0; i < all.size(); ++i) {
    INFO("after " << all[i]);
    CHECK(store.names("", true, all[i]) == Names(all.begin() + static_cast<long>(i) + 1, all.end()));
  }
  CHECK(store.names("", true, "a/xx") == Names{"a/y", "a/y/z", "a0", "\xc3\xbc"});
  CHECK(store.names("", false, "a", 2) == Names{"a-b", "a.b"});
  std::vector<Entry> some;
  CHECK(store.list("", some, false, "", 3).code == BH_OUT_OF_RANGE);  // what `each` said
}

TEST_CASE("a folder of 40,000 names is listed whole, in order and from any place on") {
  TempFolder at;
  StoreAt store(at.path);
  REQUIRE(store.put("d/last", "x").code == BH_OK);
  Names all = {"last"};
  for (int i = 0; i < 40'000; ++i) {
    all.push_back(std::to_string((i * 7919) % 40'000));
    const int fd = ::open((at.path + "/files/d/" + all.back()).c_str(), O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) ::close(fd);
  }
  std::sort(all.begin(), all.end());
  CHECK(store.names("d") == all);
  CHECK(store.names("d", true) == all);
  CHECK(store.names("d", false, all[30'000]) == Names(all.begin() + 30'001, all.end()));
  REQUIRE(store.remove("d", true).code == BH_OK);
  CHECK(entries(at.path + "/tmp").empty());
}

TEST_CASE("names of any script, and such that shells stumble over") {
  TempFolder at;
  StoreAt store(at.path);
  const Names names = {"-rf", " ", "a\nb", "\"q\"", "*", "\\", "~", "$(x)", "...", "e\xcc\x81",
                       "\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac", "\xf0\x9f\x98\x80",
                       "\xe2\x80\xae" "txt", std::string(255, 'n')};
  for (const auto& n : names) {
    INFO(n);
    REQUIRE(store.put("p/" + n, n).code == BH_OK);
  }
  Names sorted = names;
  std::sort(sorted.begin(), sorted.end());
  CHECK(store.names("p") == sorted);
  for (const auto& n : names) {
    CHECK(store.get("p/" + n).data == n);
    CHECK(store.remove("p/" + n).code == BH_OK);
  }
  // A name that is no text exists for nobody.
  REQUIRE(store.put("p/f", "x").code == BH_OK);
  spill(at.path + "/files/p/\xff", "x");
  CHECK(store.names("p") == Names{"f"});
}

TEST_CASE("a call that is stopped leaves no trace") {
  TempFolder at;
  StoreAt store(at.path);
  const std::string big(5 << 20, 'b');
  REQUIRE(store.put("f", big).code == BH_OK);
  testing::FakeCall reading(store.host.raw());
  reading.stop_at_emit(2);
  CHECK(store.get(reading, "f").code == BH_CANCELLED);
  CHECK(reading.recorded().emits == 2);
  CHECK(reading.recorded().output[BH_STREAM_DATA].size() == 2u << 20);
  Pouring* poured = nullptr;
  Pouring call(store.host.raw(), 8 << 20, [&](int64_t pos) {
    if (pos >= 2 << 20) poured->stop();
    return BH_OK;
  });
  poured = &call;
  CHECK(store.pour(call, "f").code == BH_CANCELLED);
  CHECK(call.received < 8 << 20);
  Pouring failing(store.host.raw(), 8 << 20,
                  [&](int64_t pos) { return pos >= 3 << 20 ? BH_DEADLINE_EXCEEDED : BH_OK; });
  CHECK(store.pour(failing, "g").code == BH_DEADLINE_EXCEEDED);
  CHECK(store.get("f").data == big);
  CHECK(store.names("") == Names{"f"});
  CHECK(entries(at.path + "/tmp").empty());
}

TEST_CASE("a configuration that cannot be is refused with its field") {
  TempFolder at;
  const std::string root = "\"root\":\"" + at.path + "\"";
  CHECK(open_answer("{" + root + "}").code == BH_OK);
  CHECK(open_answer("{}", at.path).code == BH_OK);
  CHECK(std::filesystem::is_directory(at.path + "/store/files"));
  for (auto [config, field] : {std::pair<std::string, const char*>{"{}", "root"},
                               {R"({"root":"relative"})", "root"},
                               {"{" + root + R"(,"max_bytes":0})", "max_bytes"},
                               {"{" + root + R"(,"max_files":"many"})", "max_files"},
                               {"{" + root + R"(,"max_file_bytes":1.5})", "max_file_bytes"},
                               {"{" + root + R"(,"quota":1})", "quota"}}) {
    INFO(config);
    const Answer a = open_answer(config);
    CHECK(a.code == BH_INVALID_ARGUMENT);
    CHECK(a.has(std::string("\"field\":\"") + field + "\""));
    CHECK(a.has("remedy"));
  }
  const Answer none = open_answer(R"({"root":")" + at.path + R"(/no/such/place"})");
  CHECK(none.code == BH_FAILED_PRECONDITION);
  CHECK(none.has("\"reason\":\"root\""));
}
