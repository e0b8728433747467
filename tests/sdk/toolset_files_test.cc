// plugins/toolset_files over scripted operations: what it asks the host for, and what it tells the
// model.
#include "support/catch.h"

#include <bulkhead/sdk/json.hpp>
#include <bulkhead/sdk/testing/fake_operations.hpp>

namespace json = bulkhead::sdk::json;
using bulkhead::sdk::failure;
using bulkhead::sdk::Status;
using bulkhead::sdk::testing::FakeCall;
using bulkhead::sdk::testing::FakeHost;
using bulkhead::sdk::testing::FakeOperations;
using bulkhead::sdk::testing::FakeRun;

extern "C" const bh_plugin* toolset_files_entry(bh_call* call);

namespace {

// The opened toolset with one stored file behind files.get.
struct FileTools {
  FakeHost host;
  FakeOperations operations;
  bulkhead::sdk::testing::Opened<bh_toolset> set =
      host.open<bh_toolset>(&toolset_files_entry, BH_TOOLSET, "files");
  bulkhead::sdk::testing::Recorded recorded;
  json::object result;
  bh_status code = BH_OK;

  void keeps(std::string bytes, std::string media_type = {}) {
    operations.on("files.get", [=](FakeRun& run) -> Status {
      auto args = json::parse_object(run.args);
      const auto offset = static_cast<size_t>(json::integer(*args, "offset"));
      const auto size = static_cast<size_t>(json::integer(*args, "size"));
      const std::string piece = offset < bytes.size() ? bytes.substr(offset, size) : std::string();
      for (size_t at = 0; at < piece.size(); at += 5000) {
        if (auto st = run.emit(BH_STREAM_DATA, std::string_view(piece).substr(at, 5000)); !st) return st;
      }
      json::object about{{"path", "a/b.bin"},
                         {"kind", "file"},
                         {"size", bytes.size()},
                         {"etag", "e1"},
                         {"modified_ms", 5},
                         {"offset", offset},
                         {"sent", piece.size()}};
      about["media_type"] = media_type.empty() ? json::value(nullptr) : json::value(media_type);
      return run.result(json::print(about));
    });
  }
  void call(std::string_view tool, std::string_view args, const bh_blob* blob = nullptr) {
    FakeCall one(host.raw());
    operations.serve(one);
    code = set->call(set.self(), one.raw(), tool.data(), tool.size(), args.data(), args.size(),
                     &blob, blob != nullptr ? 1 : 0);
    recorded = one.recorded();
    auto parsed = json::parse_object(recorded.result);
    result = parsed.ok() ? *parsed : json::object();
  }
  std::string text() const {
    return std::string(json::text(json::list(result, "content")->at(0).get_object(), "text"));
  }
  const json::object& structured() const { return *json::child(result, "structured"); }
  json::object asked(size_t i = 0) const {
    return *json::parse_object(operations.seen().at(i).args);
  }
};

}  // namespace

TEST_CASE("the file tools are listed with schemas, annotations and needs") {
  FileTools t;
  FakeCall call(t.host.raw());
  REQUIRE(t.set->list(t.set.self(), call.raw()) == BH_OK);
  std::vector<std::string> names;
  for (const std::string& item : call.recorded().items) {
    auto tool = json::parse_object(item);
    REQUIRE(tool.ok());
    names.emplace_back(json::text(*tool, "name"));
    CHECK(json::child(*tool, "input_schema") != nullptr);
    CHECK(json::child(*tool, "output_schema") != nullptr);
    CHECK(json::child(*tool, "annotations")->contains("read_only"));
    CHECK(json::child(*tool, "annotations")->contains("open_world"));
    REQUIRE(json::list(*tool, "needs") != nullptr);
    CHECK(json::list(*tool, "needs")->size() == 1);
  }
  CHECK(names == std::vector<std::string>{"files_put", "files_get", "files_list", "files_delete",
                                          "files_copy_to_sandbox", "files_copy_from_sandbox"});
}

TEST_CASE("files_put: text, base64, attachment, input") {
  FileTools t;
  t.operations.on("files.put", [](FakeRun& run) {
    return run.result(R"({"path":"a","size":1536,"etag":"e"})");
  });
  t.call("files_put", R"({"path":"a","content":"x","media_type":"text/plain","if_etag":"*"})");
  REQUIRE(t.code == BH_OK);
  CHECK(t.text() == "stored a, 1.5 KiB");
  CHECK(json::text(t.structured(), "etag") == "e");
  CHECK(json::print(t.asked()) ==
        R"({"path":"a","media_type":"text/plain","if_etag":"*","content":"x"})");
  t.call("files_put", R"({"path":"a","content":"eA==","encoding":"base64"})");
  CHECK(json::print(t.asked(1)) == R"({"path":"a","content":{"base64":"eA=="}})");
  CHECK((t.operations.seen()[1].flags & BH_RUN_INPUT) == 0);
  t.call("files_put", R"({"path":"a"})");
  CHECK((t.operations.seen()[2].flags & BH_RUN_INPUT) != 0);
  bh_blob blob{};
  blob.struct_size = sizeof blob;
  blob.name = bulkhead::sdk::str("f");
  blob.data = "bytes";
  blob.size = 5;
  t.call("files_put", R"({"path":"a"})", &blob);
  CHECK((t.operations.seen()[3].flags & BH_RUN_INPUT) == 0);
  t.call("files_put", R"({"path":"a","encoding":"base64"})");
  CHECK(t.code == BH_INVALID_ARGUMENT);
  CHECK(t.operations.seen().size() == 4);
}

TEST_CASE("files_get: text in pieces of whole characters, joined again without a gap") {
  FileTools t;
  std::string all;
  while (all.size() < 200'000) all += "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";
  t.keeps(all, "text/plain");
  std::string joined;
  json::value next = 0;
  int pieces = 0;
  for (; !next.is_null() && pieces < 10; ++pieces) {
    t.call("files_get", R"({"path":"a/b.bin","offset":)" + json::print(next) + "}");
    REQUIRE(t.code == BH_OK);
    const std::string piece(json::text(t.structured(), "text"));
    CHECK(bulkhead::sdk::is_utf8(piece));
    CHECK(static_cast<int64_t>(piece.size()) == json::integer(t.structured(), "sent"));
    joined += piece;
    next = t.structured().at("next_offset");
    if (!next.is_null()) {
      CHECK(t.text().find("go on with offset " + json::print(next) + "]") != std::string::npos);
    }
  }
  CHECK(pieces == 4);
  CHECK(joined == all);
  t.call("files_get", R"({"path":"a/b.bin","max_bytes":1})");
  CHECK(t.text().substr(0, 1) == "a");
  CHECK(t.structured().at("next_offset") == 1);
  t.call("files_get", R"({"path":"a/b.bin","offset":999999})");
  CHECK(t.text() == "(the file ends before that offset)");
  t.keeps("");
  t.call("files_get", R"({"path":"a/b.bin"})");
  CHECK(t.text() == "(an empty file)");
  CHECK(json::text(t.structured(), "text").empty());
}

TEST_CASE("files_get: what is no text is attached, whole where that is sensible") {
  FileTools t;
  const std::string picture(300'000, '\xFF');
  t.keeps(picture, "image/png");
  t.call("files_get", R"({"path":"a/b.bin"})");
  REQUIRE(t.code == BH_OK);
  REQUIRE(t.recorded.attachments.size() == 1);
  CHECK(t.recorded.attachments[0].name == "b.bin");
  CHECK(t.recorded.attachments[0].media_type == "image/png");
  CHECK(t.recorded.attachments[0].data == picture);
  CHECK(t.structured().at("next_offset").is_null());
  CHECK(t.structured().at("text").is_null());
  CHECK(t.operations.seen().size() == 2);

  // A picture that happens to be ASCII, bytes without a type, a NUL in text.
  t.keeps("GIF89a", "image/gif");
  t.call("files_get", R"({"path":"a/b.bin"})");
  CHECK(t.recorded.attachments.size() == 1);
  t.keeps(std::string("text\0more", 9));
  t.call("files_get", R"({"path":"a/b.bin"})");
  CHECK(t.recorded.attachments.size() == 1);
  CHECK(t.recorded.attachments[0].media_type == "application/octet-stream");
  // Text that ends within a character is none.
  t.keeps("caf\xC3");
  t.call("files_get", R"({"path":"a/b.bin"})");
  CHECK(t.recorded.attachments.size() == 1);

  // Too large to give: the first piece, and how else.
  t.keeps(std::string(9 << 20, '\xFF'));
  t.call("files_get", R"({"path":"a/b.bin"})");
  CHECK(t.recorded.attachments[0].data.size() == 65536);
  CHECK(t.structured().at("next_offset") == 65536);
  CHECK(t.text().find("files_copy_to_sandbox") != std::string::npos);
  t.call("files_get", R"({"path":"a/b.bin","offset":65536,"max_bytes":10})");
  CHECK(t.recorded.attachments[0].data.size() == 10);
  CHECK(t.structured().at("next_offset") == 65546);
}

TEST_CASE("files_list: lines, structure, the next page") {
  FileTools t;
  t.operations.on("files.list", [](FakeRun& run) -> Status {
    if (auto st = run.item(
            R"({"path":"a","kind":"folder","size":0,"etag":null,"media_type":null,"modified_ms":1})");
        !st) {
      return st;
    }
    if (auto st = run.item(
            R"({"path":"b.png","kind":"file","size":1,"etag":"e","media_type":"image/png","modified_ms":1})");
        !st) {
      return st;
    }
    return run.result(R"({"count":2,"next":"b.png"})");
  });
  t.call("files_list", R"({"path":null,"recursive":true})");
  REQUIRE(t.code == BH_OK);
  CHECK(t.text() == "a/\nb.png (1 byte, image/png)\n[... more; go on with after \"b.png\"]");
  CHECK(json::print(t.asked()) == R"({"limit":200,"recursive":true})");
  CHECK(json::list(t.structured(), "files")->size() == 2);
  CHECK(json::text(t.structured(), "next") == "b.png");
  t.operations.on("files.list",
                  [](FakeRun& run) { return run.result(R"({"count":0,"next":null})"); });
  t.call("files_list", "{}");
  CHECK(t.text() == "no files are stored here");
  CHECK(t.structured().at("next").is_null());
}

TEST_CASE("deleting and copying name what they did; a fault stays what it was") {
  FileTools t;
  t.operations.on("files.delete", [](FakeRun& run) { return run.result(R"({"path":"a"})"); });
  t.operations.on("files.export", [](FakeRun& run) {
    return run.result(R"({"path":"a","to":"/w/a","size":3})");
  });
  t.operations.on("files.import", [](FakeRun&) -> Status {
    return failure(BH_ABORTED, "another version", "etag_mismatch", "/if_etag");
  });
  t.call("files_delete", R"({"path":"a","recursive":true})");
  CHECK(t.text() == "deleted a");
  t.call("files_copy_to_sandbox", R"({"path":"a","to":"a","mode":493,"sandbox_id":"s1"})");
  CHECK(t.text() == "copied a to /w/a in the sandbox, 3 bytes");
  CHECK(json::print(t.asked(1)) == R"({"sandbox":"s1","path":"a","to":"a","mode":493})");
  t.call("files_copy_from_sandbox", R"({"from":"x","path":"a","if_etag":"e"})");
  CHECK(t.code == BH_ABORTED);
  CHECK(t.recorded.message == "another version");
  CHECK(t.recorded.details.find("etag_mismatch") != std::string::npos);
  CHECK(json::print(t.asked(2)) == R"({"from":"x","path":"a","if_etag":"e"})");
}
