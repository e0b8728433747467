// Stored files through the program, with the plugins that it comes with: what outlives a process,
// and who sees it.
#include <fstream>

#include "child.h"
#include "cli/json.h"
#include "support/catch.h"
#include "support/skip.h"
#include "temp_dir.h"
#include "text.h"

using namespace bh::cli;
using bh_test::Child;
using bh_test::ChildSetup;
using bh_test::TempDir;
using bh_test::has;

namespace {

struct Ran {
  int code = -1;
  std::string out, err;
  boost::json::object result() const { return parse_object_or_empty(out); }
  boost::json::object structured() const { return object_at(result(), "structured"); }
};

class Home {
 public:
  void configure(const std::string& text) { std::ofstream(config_) << text; }

  const std::string& project() const { return project_; }

  Ran call(const std::string& tool, const std::string& args,
           const std::vector<std::string>& more = {}, std::string_view input = {}) {
    ChildSetup s;
    s.program = std::string(BH_BINARY_DIR) + "/bin/bulkhead";
    s.arguments = {"call", tool, args, "--json", "--config", config_};
    s.arguments.insert(s.arguments.end(), more.begin(), more.end());
    s.env = {"HOME=" + home_, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
    s.cwd = project_;
    Child child(s);
    REQUIRE(child.started());
    Ran ran;
    ran.code = child.finish(input);
    ran.out = child.out;
    ran.err = child.err;
    return ran;
  }

 private:
  TempDir dir_{std::string(BH_BINARY_DIR) + "/tests"};
  std::string home_ = dir_.make_dir("home");
  std::string project_ = dir_.make_dir("project");
  std::string config_ = home_ + "/config.json";
};

}  // namespace

TEST_CASE("a stored file outlives the process, for its persona alone") {
  Home home;
  home.configure(R"({"version":1})");
  Ran ran = home.call("files_put", R"({"path":"notes/a.txt","content":"kept","media_type":"text/plain"})");
  CAPTURE(ran.out, ran.err);
  REQUIRE(ran.code == 0);
  const std::string etag = string_at(ran.structured(), "etag");
  CHECK_FALSE(etag.empty());

  ran = home.call("files_get", R"({"path":"notes/a.txt"})");
  CHECK(string_at(ran.structured(), "text") == "kept");
  CHECK(string_at(ran.structured(), "etag") == etag);
  CHECK(string_at(ran.structured(), "media_type") == "text/plain");

  const std::vector<std::string> as_b{"--persona", "b"};
  for (const char* path : {"notes/a.txt", "default/notes/a.txt"}) {
    ran = home.call("files_get", std::string(R"({"path":")") + path + "\"}", as_b);
    CHECK(ran.code != 0);
    CHECK(has(ran.out, "file_not_found"));
  }
  for (const char* path : {"../default/notes/a.txt", "/default/notes/a.txt"}) {
    ran = home.call("files_get", std::string(R"({"path":")") + path + "\"}", as_b);
    CHECK(ran.code != 0);
    CHECK(has(ran.out, "path_invalid"));
  }
  CHECK(array_at(home.call("files_list", R"({"recursive":true})", as_b).structured(), "files").empty());
  CHECK(home.call("files_put", R"({"path":"notes/a.txt","content":"b's"})", as_b).code == 0);
  CHECK(home.call("files_delete", R"({"path":"notes","recursive":true})", as_b).code == 0);
  ran = home.call("files_list", R"({"recursive":true})");
  REQUIRE(array_at(ran.structured(), "files").size() >= 1);
  CHECK(has(ran.out, "notes/a.txt"));
}

TEST_CASE("a write in place of another version is refused; input and etags over the program") {
  Home home;
  home.configure(R"({"version":1})");
  Ran ran = home.call("files_put", R"({"path":"x"})", {"--input", "-"}, "one");
  CAPTURE(ran.out, ran.err);
  REQUIRE(ran.code == 0);
  const std::string first = string_at(ran.structured(), "etag");
  const std::string named = R"({"path":"x","content":"two","if_etag":")" + first + "\"}";
  CHECK(home.call("files_put", named).code == 0);
  ran = home.call("files_put", named);
  CHECK(ran.code != 0);
  CHECK(has(ran.out, "etag_mismatch"));
  ran = home.call("files_put", R"({"path":"x","content":"new","if_etag":"*"})");
  CHECK(has(ran.out, "file_exists"));
  CHECK(string_at(home.call("files_get", R"({"path":"x"})").structured(), "text") == "two");
}

TEST_CASE("quotas: a persona's own, and the whole store's") {
  Home home;
  home.configure(R"({"version":1,"files":{"max_bytes":10,"config":{"dir":{"max_bytes":15}}}})");
  CHECK(home.call("files_put", R"({"path":"a","content":"12345678"})").code == 0);
  Ran ran = home.call("files_put", R"({"path":"b","content":"12345678"})");
  CHECK(ran.code != 0);
  CHECK(has(ran.out, "files.max_bytes"));
  CHECK(has(ran.out, "remedy"));
  ran = home.call("files_put", R"({"path":"b"})", {"--input", "-"}, "12345678");
  CHECK(has(ran.out, "files.max_bytes"));
  ran = home.call("files_put", R"({"path":"b","content":"12345678"})", {"--persona", "b"});
  CHECK(ran.code != 0);
  CHECK(has(ran.out, "\"quota\""));
  CHECK_FALSE(has(ran.out, "files.max_bytes"));
}

TEST_CASE("a store that nobody offers is named with what there is") {
  Home home;
  home.configure(R"({"version":1,"files":{"store":"s4"}})");
  Ran ran = home.call("files_list", "{}");
  CHECK(ran.code == 125);
  CHECK(has(ran.err, "/files/store"));
  CHECK(has(ran.err, "dir"));
  home.configure(R"({"version":1,"plugins":{"disabled":["bulkhead.filestore_dir"]}})");
  ran = home.call("files_list", "{}");
  CHECK(ran.code != 0);
  CHECK(has(ran.out, "store_unavailable"));
}

TEST_CASE("a stored file is copied into a sandbox and out of it") {
  Home home;
  home.configure(R"({"version":1})");
  REQUIRE(home.call("files_put", R"({"path":"in.txt","content":"from the store"})").code == 0);
  Ran ran = home.call("files_copy_to_sandbox", R"({"path":"in.txt","to":"copied.txt"})");
  CAPTURE(ran.out, ran.err);
  if (has(ran.out, "backend_unavailable")) BH_SKIP("no isolation here: " + ran.err);
  REQUIRE(ran.code == 0);
  std::string text;
  std::getline(std::ifstream(home.project() + "/copied.txt"), text);
  CHECK(text == "from the store");
  std::ofstream(home.project() + "/made.txt") << "from the sandbox";
  ran = home.call("files_copy_from_sandbox", R"({"from":"made.txt","path":"out.txt"})");
  CAPTURE(ran.out, ran.err);
  REQUIRE(ran.code == 0);
  CHECK(string_at(home.call("files_get", R"({"path":"out.txt"})").structured(), "text") ==
        "from the sandbox");
  ran = home.call("files_copy_from_sandbox", R"({"from":"/etc/none","path":"x"})");
  CHECK(ran.code != 0);
  CHECK(has(ran.out, "file_not_found"));
  CHECK(has(ran.out, "/from"));
}
