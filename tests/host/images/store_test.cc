// The store itself: names, whose they are, how much there may be, and what a kill leaves.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "imports.h"

using namespace bh_test;
namespace json = bh::json;

namespace {

std::string one(const std::string& content) { return tar_of({file("f", content)}); }

std::string large(std::size_t mib) {
  std::string data(mib << 20, '\0');
  std::uint32_t state = 7;
  for (char& c : data) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24);
  }
  return tar_of({file("f", data)});
}

}  // namespace

TEST_CASE("names: given, found, refused, moved") {
  Store store;
  CHECK(done(store.import(store.write("debian.tar.gz", compressed(one("1"), "gzip")))));
  CHECK(json::get_string(store.inspect("debian"), "kind") == "tar");
  for (const char* bad : {"-x", "a b", "sha256:1", "/abs", "\\u00e4"}) {
    INFO(bad);
    Answer answer = store.import_bytes(one("1"), R"(,"name":")" + std::string(bad) + "\"");
    CHECK(answer.fault.has(R"("reason":"image_name","field":"/name")"));
  }
  Answer answer = store.import_bytes(one("2"), R"(,"name":"debian")");
  CHECK(answer.fault.code == BH_ALREADY_EXISTS);
  CHECK(answer.fault.has("image_exists"));
  CHECK(store.folders().size() == 1);
  const std::string before(json::get_string(store.inspect("debian"), "digest"));
  CHECK(done(store.import_bytes(one("2"), R"(,"name":"debian","replace":true)")));
  CHECK(json::get_string(store.inspect("debian"), "digest") != before);
  // Nobody used the one before.
  CHECK(store.folders().size() == 1);
  CHECK(store.count() == 1);
  CHECK(content_of(store.root("debian") + "/f") == "2");
  // By digest, too; without any name, it is all that there is.
  CHECK(done(store.send(one("3"), "{}", store.by_operator)));
  const std::string digest = "sha256:" + sha256(one("3"));
  CHECK(store.inspect(digest).at("name").is_null());
  CHECK(store.host.call("image.inspect", R"({"image":"none"})").fault.has("image_unknown"));
}

TEST_CASE("an image has as many names as it is given, and goes with the last") {
  Store store;
  CHECK(done(store.import_bytes(one("1"), R"(,"name":"a")")));
  CHECK(done(store.import_bytes(one("1"), R"(,"name":"b")")));
  CHECK(store.folders().size() == 1);
  Answer answer = store.host.call("image.remove", R"({"image":"a"})", store.by_operator);
  CHECK(json::parse_object(answer.result)->at("removed").is_null());
  CHECK(store.folders().size() == 1);
  answer = store.host.call("image.remove", R"({"image":"b"})", store.by_operator);
  CHECK(json::get_string(*json::parse_object(answer.result), "removed") == "sha256:" + sha256(one("1")));
  CHECK(store.folders().empty());
  CHECK(store.host.call("image.remove", R"({"image":"b"})", store.by_operator).fault.has("image_unknown"));
}

TEST_CASE("personas: their own and what is shared, no path of the host, nothing of another's") {
  Store store;
  bh_session* alice = store.host.open_session(R"({"persona":"alice"})");
  bh_session* bob = store.host.open_session(R"({"persona":"bob"})");
  CHECK(done(store.import_bytes(one("shared"), R"(,"name":"base")")));
  const std::string path = store.write("mine.tar", one("alice"));
  Answer answer = store.host.call("image.import", R"({"path":")" + path + "\"}", alice);
  CHECK(answer.fault.code == BH_PERMISSION_DENIED);
  CHECK(answer.fault.has("image_denied"));
  CHECK(done(store.send(one("alice"), R"({"name":"mine"})", alice)));
  CHECK(done(store.send(one("alice's base"), R"({"name":"base"})", alice)));
  CHECK(store.count(alice) == 3);
  CHECK(store.count(bob) == 1);
  CHECK(store.count() == 3);
  CHECK_FALSE(json::get_bool(store.inspect("mine", alice), "shared"));
  CHECK_FALSE(store.inspect("mine", alice).contains("root"));
  // One's own comes before what is shared.
  CHECK(json::get_string(store.inspect("base", alice), "digest") !=
        json::get_string(store.inspect("base", bob), "digest"));
  for (const std::string& image : {std::string("mine"), "sha256:" + sha256(one("alice"))}) {
    for (const char* operation : {"image.inspect", "image.remove"}) {
      INFO(operation << " " << image);
      answer = store.host.call(operation, R"({"image":")" + image + "\"}", bob);
      CHECK(answer.fault.code == BH_NOT_FOUND);
      CHECK(answer.fault.has(R"("known":"base")"));
    }
  }
  answer = store.host.call("image.remove", R"({"image":"base"})", bob);
  CHECK(answer.fault.code == BH_PERMISSION_DENIED);
  // The same content again costs nothing, and goes when nobody has it any more.
  const std::size_t before = store.folders().size();
  CHECK(done(store.send(one("alice"), R"({"name":"too"})", bob)));
  CHECK(store.folders().size() == before);
  CHECK(done(store.host.call("image.remove", R"({"image":"mine"})", alice)));
  CHECK(store.folders().size() == before);
  CHECK(done(store.host.call("image.remove", R"({"image":"too"})", bob)));
  CHECK(store.folders().size() == before - 1);
  // By digest, the operator takes it from everybody.
  const std::string digest(json::get_string(store.inspect("base", alice), "digest"));
  CHECK(done(store.host.call("image.remove", R"({"image":")" + digest + "\"}", store.by_operator)));
  CHECK(store.count(alice) == 1);
  bh_session_free(alice);
  bh_session_free(bob);
}

TEST_CASE("images.max_bytes: what is above it is refused and not kept") {
  Store store(R"(,"images":{"max_bytes":3000000})");
  const std::string two = large(2);
  CHECK(done(store.import_bytes(two, R"(,"name":"a")")));
  Answer answer = store.import_bytes(large(1), R"(,"name":"b")");
  CHECK(answer.fault.code == BH_RESOURCE_EXHAUSTED);
  CHECK(answer.fault.has(R"("reason":"quota","quota":"images.max_bytes","limit":3000000)"));
  CHECK(store.folders().size() == 1);
  // Once more the same is no more; another persona has its own.
  CHECK(done(store.import_bytes(two, R"(,"name":"c")")));
  bh_session* alice = store.host.open_session(R"({"persona":"alice"})");
  CHECK(done(store.send(tar_of({file("f", std::string(100000, 'x'))}), R"({"name":"b"})", alice)));
  bh_session_free(alice);
  CHECK(done(store.host.call("image.remove", R"({"image":"a"})", store.by_operator)));
  CHECK(done(store.host.call("image.remove", R"({"image":"c"})", store.by_operator)));
  CHECK(done(store.import_bytes(large(1), R"(,"name":"b")")));
}

TEST_CASE("paths that are no image's: not absolute, not there, a FIFO, a device") {
  Store store;
  REQUIRE(::mkfifo((store.place.path + "/pipe").c_str(), 0600) == 0);
  const std::pair<std::string, bh_status> rows[] = {{"relative", BH_INVALID_ARGUMENT},
                                                    {store.place.path + "/none", BH_NOT_FOUND},
                                                    {store.place.path + "/pipe", BH_FAILED_PRECONDITION},
                                                    {"/dev/null", BH_FAILED_PRECONDITION}};
  for (const auto& [path, code] : rows) {
    INFO(path);
    Answer answer = store.import(path);
    CHECK(answer.fault.code == code);
    CHECK(answer.fault.has(R"("reason":"source","field":"/path")"));
  }
  CHECK(store.host.call("image.import", "{}", store.by_operator).fault.has(R"("field":"/path")"));
}

TEST_CASE("two imports of one image at once, by two hosts: both succeed, one folder is left") {
  Store store;
  const std::string path = store.write("i.tar", large(8));
  Embedder other(config_at(store.place.path + "/d"));
  bh_session* by = other.open_session(R"({"operator":true})");
  Answer second;
  std::thread beside([&] { second = other.call("image.import", R"({"path":")" + path + R"(","name":"b"})", by); });
  Answer first = store.import(path, R"(,"name":"a")");
  beside.join();
  CHECK(done(first));
  CHECK(done(second));
  bh_session_free(by);
  CHECK(store.folders().size() == 1);
  CHECK(store.root("a") == store.root("b"));
  CHECK(json::get_bool(*json::parse_object(first.result), "fresh") !=
        json::get_bool(*json::parse_object(second.result), "fresh"));
}

TEST_CASE("a cancelled import leaves nothing, and its worker is gone") {
  Store store;
  bh_request* r = Embedder::request("image.import", R"({"name":"never"})");
  REQUIRE(r != nullptr);
  (void)bh_request_input(r, nullptr);
  bh_run* run = nullptr;
  REQUIRE(bh_start(store.by_operator, r, store.host.queue, 5, &run, nullptr) == BH_OK);
  const std::string some = one("1").substr(0, 700);
  std::size_t taken = 0;
  (void)bh_run_send(run, some.data(), some.size(), &taken, nullptr);
  for (int i = 0; i < 500 && store.folders().empty(); i++) ::usleep(10'000);
  CHECK(store.folders().size() == 1);
  (void)bh_run_cancel(run);
  CHECK(store.host.finish(5).fault.code == BH_CANCELLED);
  CHECK(store.folders().empty());
  bh_run_free(run);
  bh_request_free(r);
}

TEST_CASE("what a killed host left is swept at the next start; what lives is left alone") {
  Store store;
  CHECK(done(store.import_bytes(one("1"), R"(,"name":"kept")")));
  const std::string images = store.place.path + "/d/images";
  const pid_t child = ::fork();
  if (child == 0) {
    // A host of its own, in the middle of an import that never gets its bytes.
    Embedder host(config_at(store.place.path + "/d"));
    bh_session* by = host.open_session(R"({"operator":true})");
    bh_request* r = Embedder::request("image.import", R"({"name":"half"})");
    (void)bh_request_input(r, nullptr);
    bh_run* run = nullptr;
    (void)bh_start(by, r, host.queue, 1, &run, nullptr);
    const std::string tar = large(1);
    std::size_t taken = 0;
    (void)bh_run_send(run, tar.data(), 100'000, &taken, nullptr);
    ::pause();
    ::_exit(0);
  }
  auto half = [&] {
    std::string found;
    for (const std::string& name : store.folders()) {
      if (name.rfind("new-", 0) == 0) found = name;
    }
    return found;
  };
  for (int i = 0; i < 1000 && (half().empty() || !look(images + "/" + half() + "/rootfs/f").there); i++) {
    ::usleep(10'000);
  }
  CHECK_FALSE(half().empty());
  {
    // It lives: nobody takes it.
    Embedder beside(config_at(store.place.path + "/d"));
    CHECK_FALSE(half().empty());
  }
  REQUIRE(::kill(child, SIGKILL) == 0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  // The worker notices that nobody feeds it any more.
  for (int i = 0; i < 500 && !half().empty(); i++) {
    Embedder next(config_at(store.place.path + "/d"));
    if (!half().empty()) ::usleep(10'000);
  }
  CHECK(half().empty());
  CHECK(content_of(store.root("kept") + "/f") == "1");
}

TEST_CASE("a folder without a record, of a process killed between the two, goes with the next import") {
  Store store;
  CHECK(done(store.import_bytes(one("1"), R"(,"name":"kept")")));
  const std::string orphan = "sha256-" + std::string(64, 'a');
  std::filesystem::create_directories(store.place.path + "/d/images/" + orphan + "/rootfs");
  CHECK(done(store.import_bytes(one("2"), R"(,"name":"next")")));
  CHECK(store.folders().size() == 2);
  CHECK_FALSE(look(store.place.path + "/d/images/" + orphan).there);
}
