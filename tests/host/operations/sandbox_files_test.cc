// The operations on a sandbox's files, over the backends of ours.
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "base/json.h"
#include "support/catch.h"
#include "support/embedder.h"
#include "support/skip.h"

using bh_test::Answer;
using bh_test::Embedder;
using bh_test::Place;
namespace json = bh::json;
namespace fs = std::filesystem;

namespace {

struct Box {
  explicit Box(const std::string& backend) : host(config()), work(place.path + "/project") {
    fs::create_directory(work);
    Answer made = host.call("sandbox.create", R"({"backend":")" + backend + R"(","workspace":)" + json::quote(work) + "}");
    why = made.fault.message;
    if (auto o = json::parse_object(made.result)) id = json::get_string(*o, "sandbox");
  }
  std::string config() const {
    return R"({"version":1,"data_root":")" + place.path +
           R"(/data","plugins":{"path":[")" BH_BINARY_DIR
           R"(/plugins"],"environment":false,"user":false,"relative":false,"system":false},"isolation":{"backend":"bwrap","allow_unisolated":true}})";
  }
  // `args`: members without braces.
  Answer call(const std::string& operation, const std::string& args, std::string_view input = {}) {
    return host.call(operation, R"({"sandbox":")" + id + "\"," + args + "}", nullptr, input);
  }
  std::string file(const std::string& name) const {
    std::ifstream in(work + "/" + name, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(work + "/" + name).parent_path());
    std::ofstream(work + "/" + name, std::ios::binary) << text;
  }

  Place place;
  Embedder host;
  std::string work, id, why;
};

#define BH_BOX(backend)                                          \
  Box box(backend);                                              \
  if (box.id.empty()) BH_SKIP(std::string(backend) + ": " + box.why)

json::object object(const std::string& text) {
  auto o = json::parse_object(text);
  INFO(text);
  REQUIRE(o);
  return *o;
}

// Code, reason and field of a fault.
void check_fault(const Answer& answer, bh_status code, const std::string& reason,
                 const std::string& field) {
  INFO(answer.fault.message + " " + answer.fault.details + answer.result);
  REQUIRE(answer.fault.code == code);
  const json::object details = object(answer.fault.details);
  CHECK(json::get_string(details, "reason") == reason);
  CHECK(json::get_string(details, "field") == field);
}

}  // namespace

TEST_CASE("sandbox.write_file and read_file: content, input, ranges, collect") {
  BH_BOX(GENERATE("bwrap", "process"));
  Answer did = box.call("sandbox.write_file", R"("path":"sub/a.txt","content":"hello","mode":384)");
  INFO(did.fault.message);
  REQUIRE(did.last == BH_EVENT_RESULT);
  json::object told = object(did.result);
  CHECK(json::get_string(told, "path") == box.work + "/sub/a.txt");
  CHECK(json::get_int(told, "size") == 5);
  CHECK(box.file("sub/a.txt") == "hello");
  struct stat st {};
  ::stat((box.work + "/sub/a.txt").c_str(), &st);
  CHECK((st.st_mode & 07777) == 0600);

  CHECK(box.call("sandbox.write_file", R"("path":"sub/a.txt","content":" you","append":true)").result.find("\"size\":9") != std::string::npos);
  did = box.call("sandbox.read_file", R"("path":"sub/a.txt","offset":2,"size":4)");
  CHECK(did.out == "llo ");
  told = object(did.result);
  CHECK(json::get_int(told, "size") == 9);
  CHECK(json::get_int(told, "sent") == 4);
  CHECK(json::get_int(told, "offset") == 2);
  CHECK(json::get_int(told, "mode") == 0600);
  CHECK_FALSE(told.contains("content"));
  did = box.call("sandbox.read_file", R"("path":"sub/a.txt","collect":true)");
  CHECK(did.out.empty());
  CHECK(json::get_string(*json::get_object(object(did.result), "content"), "text") == "hello you");

  // From the input, with bytes that are no text.
  const std::string bytes("\x00\xff\n", 3);
  did = box.call("sandbox.write_file", R"("path":"raw")", bytes);
  CHECK(json::get_int(object(did.result), "size") == 3);
  CHECK(box.file("raw") == bytes);
  did = box.call("sandbox.write_file", R"("path":"raw2","content":{"base64":"AP8K"})");
  CHECK(box.file("raw2") == bytes);
  did = box.call("sandbox.read_file", R"("path":"raw","collect":true)");
  CHECK(json::get_string(*json::get_object(object(did.result), "content"), "base64") == "AP8K");
}

TEST_CASE("sandbox files: a name that is no UTF-8 goes both ways as base64") {
  BH_BOX("bwrap");
  box.put("\xff\xfe", "odd");
  Answer did = box.call("sandbox.list_files", R"("path":".")");
  REQUIRE(did.items.size() == 1);
  CHECK(did.items[0].find(R"("name":{"base64":"//4="})") != std::string::npos);
  const json::object item = object(did.items[0]);
  did = box.call("sandbox.read_file", "\"path\":" + json::print(item.at("path")));
  CHECK(did.out == "odd");
  check_fault(box.call("sandbox.read_file", R"("path":{"base64":"!"})"), BH_INVALID_ARGUMENT,
              "base64", "/path");
}

TEST_CASE("sandbox.list_files, search_files and file_info") {
  BH_BOX(GENERATE("bwrap", "process"));
  box.put("a.py", "x");
  box.put("src/b.py", "xx");
  box.put("src/deep/c.py", "xxx");
  box.put("src/deep/d.txt", "xxxx");
  fs::create_symlink("a.py", box.work + "/link.py");

  Answer did = box.call("sandbox.list_files", R"("path":"")");
  check_fault(did, BH_INVALID_ARGUMENT, "path_invalid", "/path");
  did = box.call("sandbox.list_files", R"("path":".")");
  REQUIRE(did.items.size() == 3);
  json::object item = object(did.items[0]);
  CHECK(json::get_string(item, "path") == box.work + "/a.py");
  CHECK(json::get_string(item, "name") == "a.py");
  CHECK(json::get_string(item, "kind") == "file");
  CHECK(json::get_int(item, "size") == 1);
  CHECK(json::get_int(item, "modified_ms") > 1'600'000'000'000);
  CHECK_FALSE(json::get_string(item, "owner").empty());
  item = object(did.items[1]);
  CHECK(json::get_string(item, "kind") == "symlink");
  CHECK(json::get_string(item, "target") == "a.py");
  CHECK(json::get_string(object(did.items[2]), "kind") == "folder");
  CHECK(did.result == R"({"count":3})");
  CHECK(box.call("sandbox.list_files", R"("path":".","depth":9)").items.size() == 7);
  check_fault(box.call("sandbox.list_files", R"("path":"none")"), BH_NOT_FOUND, "file_not_found",
              "/path");
  check_fault(box.call("sandbox.list_files", R"("path":"a.py")"), BH_FAILED_PRECONDITION,
              "not_a_folder", "/path");

  did = box.call("sandbox.search_files", R"("path":".","pattern":"*.py")");
  CHECK(did.items.size() == 3);
  CHECK(did.result == R"({"count":3,"truncated":false})");
  CHECK(box.call("sandbox.search_files", R"("path":".","pattern":"src/*.py")").items.size() == 1);
  CHECK(box.call("sandbox.search_files", R"("path":".","pattern":"src/**/*.py")").items.size() == 2);
  did = box.call("sandbox.search_files", R"("path":".","pattern":"*","limit":2)");
  CHECK(did.result == R"({"count":2,"truncated":true})");
  CHECK(did.items.size() == 2);

  did = box.call("sandbox.file_info", R"("paths":["src/b.py","link.py"])");
  REQUIRE(did.items.size() == 2);
  CHECK(json::get_int(object(did.items[0]), "size") == 2);
  CHECK(json::get_string(object(did.items[1]), "kind") == "file");
  did = box.call("sandbox.file_info", R"("paths":["link.py"],"follow":false)");
  CHECK(json::get_string(object(did.items.at(0)), "kind") == "symlink");
  did = box.call("sandbox.file_info", R"("paths":["a.py","none","src"])");
  check_fault(did, BH_NOT_FOUND, "file_not_found", "/paths/1");
  CHECK(json::get_int(object(did.fault.details), "done") == 1);
}

TEST_CASE("sandbox files: several at once, up to the first that fails") {
  BH_BOX(GENERATE("bwrap", "process"));
  for (const char* name : {"a", "b", "c"}) box.put(name, name);

  Answer did = box.call("sandbox.move_files", R"("moves":[{"from":"a","to":"new/a"},{"from":"b","to":"c"},{"from":"c","to":"d"}])");
  check_fault(did, BH_ALREADY_EXISTS, "file_exists", "/moves/1/to");
  CHECK(json::get_int(object(did.fault.details), "done") == 1);
  CHECK(box.file("new/a") == "a");
  CHECK(box.file("b") == "b");
  CHECK_FALSE(fs::exists(box.work + "/d"));
  did = box.call("sandbox.move_files", R"("moves":[{"from":"b","to":"c"}],"replace":true)");
  CHECK(did.result == R"({"moved":1})");
  CHECK(box.file("c") == "b");
  check_fault(box.call("sandbox.move_files", R"("moves":[{"from":"c","to":"x/c"}],"parents":false)"),
              BH_NOT_FOUND, "file_not_found", "/moves/0/from");

  did = box.call("sandbox.make_folders", R"("entries":[{"path":"f/g/h","mode":448},{"path":"f"}])");
  CHECK(did.result == R"({"made":2})");
  struct stat st {};
  ::stat((box.work + "/f/g/h").c_str(), &st);
  CHECK((st.st_mode & 07777) == 0700);
  check_fault(box.call("sandbox.make_folders", R"("entries":[{"path":"c/x"}])"),
              BH_FAILED_PRECONDITION, "not_a_folder", "/entries/0/path");

  CHECK(box.call("sandbox.set_permissions", R"("entries":[{"path":"c","mode":292}])").result ==
        R"({"changed":1})");
  ::stat((box.work + "/c").c_str(), &st);
  CHECK((st.st_mode & 07777) == 0444);
  check_fault(box.call("sandbox.set_permissions", R"("entries":[{"path":"c","owner":"nobody-here"}])"),
              BH_UNIMPLEMENTED, "owner_unsupported", "/entries/0/path");
  check_fault(box.call("sandbox.set_permissions", R"("entries":[{"path":"c","mode":99999}])"),
              BH_INVALID_ARGUMENT, "schema", "/entries/0/mode");

  box.put("e", "one two one");
  ::chmod((box.work + "/e").c_str(), 0640);
  did = box.call("sandbox.replace_in_files", R"("edits":[{"path":"e","old":"one","new":"1"},{"path":"e","old":"none","new":""}])");
  CHECK(did.result == R"({"results":[{"path":)" + json::quote(box.work + "/e") + R"(,"replaced":2},{"path":)" + json::quote(box.work + "/e") + R"(,"replaced":0}]})");
  CHECK(box.file("e") == "1 two 1");
  ::stat((box.work + "/e").c_str(), &st);
  CHECK((st.st_mode & 07777) == 0640);
  check_fault(box.call("sandbox.replace_in_files", R"("edits":[{"path":"e","old":"","new":"x"}])"),
              BH_INVALID_ARGUMENT, "schema", "/edits/0/old");
  // 2 MiB of it, and 2 GiB in their place.
  box.put("e", std::string(2u << 20, 'a'));
  check_fault(box.call("sandbox.replace_in_files",
                       R"("edits":[{"path":"e","old":"a","new":")" + std::string(1024, 'b') + R"("}])"),
              BH_RESOURCE_EXHAUSTED, "too_large", "/edits/0/new");
  CHECK(box.file("e").size() == 2u << 20);
  did = box.call("sandbox.replace_in_files", R"("edits":[{"path":"e","old":"aa","new":"b"}])");
  CHECK(did.last == BH_EVENT_RESULT);
  CHECK(box.file("e") == std::string(1u << 20, 'b'));
  fs::resize_file(box.work + "/e", (64u << 20) + 1);
  check_fault(box.call("sandbox.replace_in_files", R"("edits":[{"path":"e","old":"1","new":"x"}])"),
              BH_RESOURCE_EXHAUSTED, "too_large", "/edits/0/path");

  check_fault(box.call("sandbox.remove_files", R"("paths":["e","f"])"), BH_FAILED_PRECONDITION,
              "is_folder", "/paths/1");
  CHECK_FALSE(fs::exists(box.work + "/e"));
  CHECK(box.call("sandbox.remove_files", R"("paths":["e"])").result == R"({"removed":1})");
  check_fault(box.call("sandbox.remove_files", R"("paths":["e"],"missing_ok":false)"), BH_NOT_FOUND,
              "file_not_found", "/paths/0");
  fs::create_symlink("f", box.work + "/way");
  check_fault(box.call("sandbox.remove_folders", R"("paths":["way"])"), BH_FAILED_PRECONDITION,
              "not_a_folder", "/paths/0");
  CHECK(box.call("sandbox.remove_folders", R"("paths":["f","none"])").result == R"({"removed":2})");
  CHECK_FALSE(fs::exists(box.work + "/f"));
}

TEST_CASE("sandbox files: faults name the argument, and a persona has its own alone") {
  BH_BOX("bwrap");
  check_fault(box.call("sandbox.write_file", R"("path":"/etc/x","content":"x")"),
              BH_PERMISSION_DENIED, "read_only", "/path");
  check_fault(box.call("sandbox.read_file", R"("path":"a\u0000b")"), BH_INVALID_ARGUMENT,
              "path_invalid", "/path");
  check_fault(box.call("sandbox.read_file", R"("path":"/dev/zero")"), BH_FAILED_PRECONDITION,
              "not_a_file", "/path");
  box.put("a", "x");
  check_fault(box.call("sandbox.write_file", R"("path":"a","content":"y","create_only":true)"),
              BH_ALREADY_EXISTS, "file_exists", "/path");
  check_fault(box.call("sandbox.read_file", R"("path":"a","backend":"bwrap")"), BH_INVALID_ARGUMENT,
              "schema", "/backend");
  // A profile is held to its schema, though these operations do not spell it out.
  Answer bad = box.host.call("sandbox.read_file", R"({"path":"a","profile":{"netwrk":{}}})");
  check_fault(bad, BH_INVALID_ARGUMENT, "schema", "/profile/netwrk");
  bad = box.host.call("sandbox.read_file", R"({"path":"a","profile":{"limits":{"pids":0}}})");
  check_fault(bad, BH_INVALID_ARGUMENT, "schema", "/profile/limits/pids");
  // The data folder is hidden from every sandbox.
  Answer did = box.call("sandbox.list_files",
                        "\"path\":" + json::quote(box.place.path + "/data") + R"(,"depth":9)");
  CHECK(did.items.empty());

  bh_session* other = box.host.open_session(R"({"persona":"other"})");
  REQUIRE(other != nullptr);
  for (const char* operation : {"sandbox.read_file", "sandbox.write_file", "sandbox.list_files"}) {
    Answer no = box.host.call(operation, R"({"sandbox":")" + box.id + R"(","path":"a"})", other);
    CHECK(no.fault.code == BH_NOT_FOUND);
    CHECK(no.fault.has("sandbox_not_found"));
  }
  bh_session_free(other);
  // Without a name it is the default sandbox, whose workspace is the persona's.
  did = box.host.call("sandbox.write_file", R"({"path":"mine","content":"x"})");
  INFO(did.fault.message);
  CHECK(did.last == BH_EVENT_RESULT);
  CHECK(fs::exists(box.place.path + "/data/personas/default/workspace/mine"));
}

TEST_CASE("sandbox files: a backend without them says so") {
  Place place;
  Embedder host(bh_test::config_at(
      place.path + "/d",
      R"(,"isolation":{"backend":"boxes","config":{"boxes":{"report":"{\"rules\":[{\"rule\":\"network.mode\",\"status\":\"enforced\"}]}"}}})"));
  REQUIRE(host.session != nullptr);
  Answer did = host.call("sandbox.read_file", R"({"path":"a"})");
  INFO(did.fault.message);
  CHECK(did.fault.code == BH_UNIMPLEMENTED);
  CHECK(did.fault.has("files_unsupported"));
  CHECK(did.fault.has("remedy"));
}
