// files.export and .import: a store in memory, real sandboxes.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/json.h"
#include "measured.h"
#include "support/catch.h"
#include "support/embedder.h"
#include "support/skip.h"

using bh_test::Answer;
using bh_test::Embedder;
using bh_test::number;
using bh_test::Place;
using bh_test::resident_kib;
namespace json = bh::json;

namespace {

// A host with one sandbox whose workspace is `work`.
struct Box {
  explicit Box(const std::string& backend, const std::string& more = "")
      : host(config(more)), work(place.path + "/project") {
    std::filesystem::create_directory(work);
    Answer made = host.call("sandbox.create", R"({"backend":")" + backend + R"(","workspace":)" +
                                                  json::quote(work) + "}");
    why = made.fault.message;
    if (auto o = json::parse_object(made.result)) id = json::get_string(*o, "sandbox");
  }
  std::string config(const std::string& more) const {
    return R"({"version":1,"data_root":")" + place.path +
           R"(/data","plugins":{"path":[")" BH_BINARY_DIR R"(/plugins",")" BH_BINARY_DIR
           R"(/tests/plugins"],"environment":false,"user":false,"relative":false,"system":false},)"
           R"("isolation":{"allow_unisolated":true},"files":{"store":"memory")" + more + "}}";
  }
  // `args`: members without braces.
  Answer call(const std::string& operation, const std::string& args, bh_session* by = nullptr) {
    return host.call(operation, R"({"sandbox":")" + id + "\"," + args + "}", by);
  }
  std::string inside(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(work + "/" + name, std::ios::binary).rdbuf();
    return text.str();
  }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(work + "/" + name, std::ios::binary) << text;
  }
  std::string stored(const std::string& path) {
    auto o = json::parse_object(
        host.call("files.get", R"({"path":")" + path + R"(","collect":true})").result);
    const json::object* content = o ? json::get_object(*o, "content") : nullptr;
    return content != nullptr ? std::string(json::get_string(*content, "text")) : "none";
  }

  Place place;
  Embedder host;
  std::string work, id, why;
};

#define BH_BOX(backend, ...)                \
  Box box(backend __VA_OPT__(, ) __VA_ARGS__); \
  if (box.id.empty()) BH_SKIP(std::string(backend) + ": " + box.why)

void there_and_back(Box& box) {
  std::string text;
  while (text.size() < 3'000'000) text += "line " + std::to_string(text.size()) + "\n";
  box.put("made.txt", text);
  Answer answer = box.call("files.import", R"("from":"made.txt","path":"kept/a.txt","media_type":"text/plain")");
  INFO(answer.fault.message);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  CHECK(number(answer.result, "size") == static_cast<std::int64_t>(text.size()));
  answer = box.call("files.export", R"("path":"kept/a.txt","to":"new/folder/b.sh","mode":493)");
  INFO(answer.fault.message);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  CHECK(number(answer.result, "size") == static_cast<std::int64_t>(text.size()));
  CHECK((box.inside("new/folder/b.sh") == text));
  struct stat st {};
  REQUIRE(::stat((box.work + "/new/folder/b.sh").c_str(), &st) == 0);
  CHECK((st.st_mode & 07777) == 0755);
}

}  // namespace

TEST_CASE("a file goes from a bwrap sandbox into the store and back") {
  BH_BOX("bwrap");
  there_and_back(box);
}

TEST_CASE("a file goes from a sandbox without walls into the store and back") {
  BH_BOX("process");
  there_and_back(box);
}

TEST_CASE("what cannot be copied: by field and reason, and nothing is left half") {
  BH_BOX("process", R"(,"max_bytes":1000)");
  box.put("small", "123");
  box.put("large", std::string(2000, 'x'));
  REQUIRE(box.host.call("files.put", R"({"path":"s","content":"stored"})").last == BH_EVENT_RESULT);
  struct Row {
    const char* operation;
    const char* args;
    bh_status code;
    const char* word;
    const char* field;
  };
  const Row rows[] = {
      {"files.import", R"("from":"none","path":"x")", BH_NOT_FOUND, "file_not_found", "/from"},
      {"files.import", R"("from":"","path":"x")", BH_INVALID_ARGUMENT, "path_invalid", "/from"},
      {"files.import", R"("from":"small","path":"../x")", BH_INVALID_ARGUMENT, "path_invalid", "/path"},
      {"files.import", R"("from":"small","path":"s","if_etag":"*")", BH_ALREADY_EXISTS, "file_exists", "/if_etag"},
      {"files.import", R"("from":"small","path":"s","if_etag":"v99")", BH_ABORTED, "etag_mismatch", "/if_etag"},
      {"files.import", R"("from":"large","path":"x")", BH_RESOURCE_EXHAUSTED, "quota", ""},
      {"files.export", R"("path":"none","to":"x")", BH_NOT_FOUND, "file_not_found", "/path"},
      {"files.export", R"("path":"/s","to":"x")", BH_INVALID_ARGUMENT, "path_invalid", "/path"},
      {"files.export", R"("path":"s","to":"small/x")", BH_FAILED_PRECONDITION, "not_a_folder", "/to"},
  };
  for (const Row& row : rows) {
    INFO(row.operation << " " << row.args);
    Answer answer = box.call(row.operation, row.args);
    INFO(answer.fault.message << answer.fault.details);
    CHECK(answer.fault.code == row.code);
    CHECK(answer.fault.has(row.word));
    CHECK(answer.fault.has(row.field));
  }
  CHECK(box.host.call("files.list", "{}").items.size() == 1);
  CHECK(box.stored("s") == "stored");
  CHECK(box.inside("small") == "123");
  CHECK(box.host.call("files.export", R"({"path":"s","to":"x","sandbox":"s-none"})").fault.has("sandbox_not_found"));
}

TEST_CASE("another persona's sandbox takes and gives nothing") {
  BH_BOX("process");
  bh_session* b = box.host.open_session(R"({"persona":"b"})");
  box.put("mine", "secret");
  REQUIRE(box.host.call("files.put", R"({"path":"s","content":"b's"})", b).last == BH_EVENT_RESULT);
  CHECK(box.call("files.import", R"("from":"mine","path":"x")", b).fault.has("sandbox_not_found"));
  CHECK(box.call("files.export", R"("path":"s","to":"x")", b).fault.has("sandbox_not_found"));
  CHECK(box.inside("x").empty());
  CHECK(box.host.call("files.list", "{}", b).items.size() == 1);
  bh_session_free(b);
}

TEST_CASE("a file that changes while it is copied out leaves nothing inside") {
  BH_BOX("process", R"(,"config":{"memory":{"changes":true}})");
  REQUIRE(box.host.call("files.put", R"({"path":"s","content":"first"})").last == BH_EVENT_RESULT);
  CHECK(box.call("files.export", R"("path":"s","to":"x")").fault.has("file_changed"));
  CHECK(::access((box.work + "/x").c_str(), F_OK) != 0);
}

TEST_CASE("a gibibyte is copied both ways without being held") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  BH_SKIP("a sanitizer holds what was freed; measured without one");
#endif
  BH_BOX("process");
  constexpr std::int64_t kSize = std::int64_t{1} << 30;
  box.put("sparse", "");
  REQUIRE(::truncate((box.work + "/sparse").c_str(), kSize) == 0);
  const std::int64_t before = resident_kib();
  Answer answer = box.call("files.import", R"("from":"sparse","path":"void")");
  INFO(answer.fault.message);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  CHECK(number(answer.result, "size") == kSize);
  answer = box.call("files.export", R"("path":"zeros-1073741824","to":"filled")");
  INFO(answer.fault.message);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  CHECK(std::filesystem::file_size(box.work + "/filled") == static_cast<std::uintmax_t>(kSize));
  CHECK(resident_kib() - before < 64 * 1024);
}
