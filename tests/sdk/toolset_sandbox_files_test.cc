// The file tools: encodings, ranges, modes, and one operation each.
#include "encoding.h"
#include "sandbox_tools.h"

using namespace sandbox_tools;  // NOLINT(google-build-using-namespace)

namespace {

struct Filing : SandboxTools {
  explicit Filing(std::string_view config = "{}") : SandboxTools(config) {
    for (const char* operation :
         {"sandbox.write_file", "sandbox.remove_files", "sandbox.remove_folders",
          "sandbox.make_folders", "sandbox.move_files"}) {
      gives(operation, "{}");
    }
  }
  void on_s1(const char* tool, const std::string& more) {
    call(tool, R"({"sandbox_id":"s1","connect_if_missing":true,)" + more + "}");
  }
  void file_holds(std::string bytes) {
    const std::string size = std::to_string(bytes.size());
    operations.on("sandbox.read_file", [=](FakeRun& run) -> Status {
      if (auto st = run.emit(BH_STREAM_DATA, bytes); !st) return st;
      return run.result(R"({"sandbox":"s1","path":"/f","size":)" + size + "}");
    });
    gives("sandbox.file_info", "{}", {R"({"path":"/f","size":)" + size + "}"});
  }
};

constexpr char kItem[] = R"({"path":"/w/a.py","name":"a.py","kind":"file","size":5,
    "modified_ms":1700000000000,"created_ms":null,"mode":493,"owner":"u","group":1000})";

}  // namespace

TEST_CASE("files: reading gives path and content") {
  Filing t;
  t.file_holds("å\n");
  t.on_s1("file_read", R"("path":"/f")");
  REQUIRE(t.code == BH_OK);
  CHECK(json::value(t.structured()) == *json::parse(R"({"path":"/f","content":"å\n"})"));
  CHECK(t.text() == "{\n  \"path\": \"/f\",\n  \"content\": \"å\\n\"\n}");
  CHECK_FALSE(t.asked("sandbox.read_file").contains("offset"));
  CHECK(t.runs("sandbox.file_info") == 0);
}

TEST_CASE("files: ranges as in HTTP") {
  Filing t;
  t.file_holds("0123456789");
  const auto asked = [&](const char* range) {
    t.on_s1("file_read", R"("path":"/f","range_header":")" + std::string(range) + "\"");
    REQUIRE(t.code == BH_OK);
    const json::object args = t.asked("sandbox.read_file");
    return std::pair(json::integer(args, "offset", -1), json::integer(args, "size", -1));
  };
  CHECK(asked("bytes=0-3") == std::pair<int64_t, int64_t>(0, 4));
  CHECK(asked("bytes=5-") == std::pair<int64_t, int64_t>(5, -1));
  CHECK(asked("bytes=-4") == std::pair<int64_t, int64_t>(6, -1));
  CHECK(asked("bytes=-400") == std::pair<int64_t, int64_t>(0, -1));
  for (const char* bad : {"0-3", "bytes=", "bytes=-", "bytes=3-1", "bytes=a-b", "bytes=0-1,3-4",
                          "bytes=--1", "bytes=-0", "bytes=1-99999999999999999999"}) {
    INFO(bad);
    t.on_s1("file_read", R"("path":"/f","range_header":")" + std::string(bad) + "\"");
    CHECK(t.code == BH_INVALID_ARGUMENT);
    CHECK(t.detail("field") == "/range_header");
  }
  t.on_s1("file_read", R"("path":"/f","range_header":"bytes=10-")");
  CHECK(t.code == BH_OUT_OF_RANGE);
}

TEST_CASE("files: what no answer can hold is refused with the remedy") {
  Filing t;
  t.file_holds(std::string((3u << 20) + 1, 'x'));
  t.on_s1("file_read", R"("path":"/f")");
  CHECK(t.code == BH_RESOURCE_EXHAUSTED);
  CHECK(t.detail("remedy").find("range_header") != std::string::npos);
  t.file_holds(std::string(2u << 20, '\x01'));  // six characters each, and seven in the text
  t.on_s1("file_read", R"("path":"/f")");
  CHECK(t.code == BH_RESOURCE_EXHAUSTED);
}

TEST_CASE("files: encodings of what is read and written") {
  Filing t;
  t.file_holds("\xE5");
  t.on_s1("file_read", R"("path":"/f")");
  CHECK(t.code == BH_FAILED_PRECONDITION);
  t.on_s1("file_read", R"("path":"/f","encoding":"ISO-8859-1")");
  CHECK(json::text(t.structured(), "content") == "å");
  t.on_s1("file_write", R"("path":"/f","content":"å","encoding":"latin_1")");
  CHECK(t.sent("sandbox.write_file") == "\xE5");
  t.on_s1("file_write", R"("path":"/f","content":"å")");
  CHECK(t.sent("sandbox.write_file") == "å");
  t.on_s1("file_write", R"("path":"/f","content":"å","encoding":"ascii")");
  CHECK(t.detail("field") == "/content");
  t.on_s1("file_write", R"("path":"/f","content":"€","encoding":"latin-1")");
  CHECK(t.code == BH_INVALID_ARGUMENT);
  for (const char* unknown : {"klingon", "base64"}) {
    t.on_s1("file_read", R"("path":"/f","encoding":")" + std::string(unknown) + "\"");
    CHECK(t.detail("field") == "/encoding");
  }
}

TEST_CASE("files: with extras, base64 stands for bytes") {
  Filing t(kExtras);
  t.file_holds(std::string("\0\xFF", 2));
  t.on_s1("file_read", R"("path":"/f","encoding":"base64")");
  CHECK(json::text(t.structured(), "content") == "AP8=");
  t.on_s1("file_write", R"("path":"/f","content":"AP8=","encoding":"base64")");
  CHECK(t.sent("sandbox.write_file") == std::string("\0\xFF", 2));
  t.on_s1("file_write", R"("path":"/f","content":"A","encoding":"base64")");
  CHECK(t.detail("field") == "/content");
}

TEST_CASE("files: a mode is its octal number written in decimal") {
  Filing t;
  t.on_s1("file_write", R"("path":"/f","content":"")");
  CHECK(json::integer(t.asked("sandbox.write_file"), "mode") == 0755);
  CHECK(json::text(t.structured(), "status") == "written");
  t.on_s1("file_write", R"("path":"/f","content":"","mode":600,"owner":"u","group":null)");
  CHECK(json::integer(t.asked("sandbox.write_file"), "mode") == 0600);
  CHECK(json::text(t.asked("sandbox.write_file"), "owner") == "u");
  CHECK_FALSE(t.asked("sandbox.write_file").contains("group"));
  t.on_s1("file_write", R"("path":"/f","content":"","mode":0)");
  CHECK_FALSE(t.asked("sandbox.write_file").contains("mode"));
  for (const char* bad : {"789", "-1", "77777", "493888"}) {
    t.on_s1("file_write", R"("path":"/f","content":"","mode":)" + std::string(bad));
    CHECK(t.detail("field") == "/mode");
  }
  using toolset_sandbox::mode_bits;
  using toolset_sandbox::mode_digits;
  for (int64_t bits = 1; bits <= 07777; ++bits) CHECK(**mode_bits(mode_digits(bits), "") == bits);
  CHECK(mode_digits(0100644) == 644);
}

TEST_CASE("files: a search gives an entry and a text block each, and nothing for nothing") {
  Filing t;
  t.gives("sandbox.search_files", R"({"count":2,"truncated":false})", {kItem, kItem});
  t.on_s1("file_search", R"("path":"/w","pattern":"*.py")");
  REQUIRE(t.code == BH_OK);
  const json::array& found = *json::list(t.structured(), "result");
  REQUIRE(found.size() == 2);
  CHECK(found.at(0) == *json::parse(R"({"path":"/w/a.py","type":"file","mode":755,"owner":"u",
    "group":"1000","size":5,"modified_at":"2023-11-14T22:13:20Z",
    "created_at":"2023-11-14T22:13:20Z"})"));
  CHECK(t.content().size() == 2);
  CHECK(*json::parse(t.text(1)) == found.at(1));
  t.gives("sandbox.search_files", R"({"count":0,"truncated":false})");
  t.on_s1("file_search", R"("path":"/w","pattern":"*.rs")");
  CHECK(t.content().empty());
  CHECK(json::print(t.structured()) == R"({"result":[]})");
  t.gives("sandbox.search_files", R"({"count":1,"truncated":true})", {kItem});
  t.on_s1("file_search", R"("path":"/w","pattern":"*")");
  CHECK(json::boolean(*json::child(t.result, "meta"), "bulkhead/truncated"));
}

TEST_CASE("files: folders, deleting and moving") {
  Filing t;
  t.on_s1("file_create_directories", R"("entries":[{"path":"/d"},{"path":"/e","mode":700}])");
  CHECK(json::text(t.structured(), "status") == "created");
  CHECK(json::print(t.asked("sandbox.make_folders").at("entries")) ==
        R"([{"path":"/d","mode":493},{"path":"/e","mode":448}])");
  t.on_s1("file_create_directories", R"("entries":[{"path":"/d","mode":8}])");
  CHECK(t.detail("field") == "/entries/0/mode");
  t.on_s1("file_delete", R"("paths":["/a","/b"])");
  CHECK(t.asked("sandbox.remove_files").at("paths") == json::value({"/a", "/b"}));
  CHECK(json::text(t.structured(), "status") == "deleted");
  t.on_s1("file_delete_directories", R"("paths":[])");
  CHECK(json::text(t.structured(), "status") == "deleted");
  CHECK(t.runs("sandbox.remove_folders") == 0);
  t.on_s1("file_move", R"("entries":[{"source":"/a","destination":"/b"},{"src":"/c","dest":"/d"}])");
  CHECK(json::print(t.asked("sandbox.move_files").at("moves")) ==
        R"([{"from":"/a","to":"/b"},{"from":"/c","to":"/d"}])");
  CHECK(json::text(t.structured(), "status") == "moved");
  t.on_s1("file_move", R"("entries":[{"source":"/a"}])");
  CHECK(t.detail("field") == "/entries/0/destination");
  t.refuses("sandbox.move_files", BH_ALREADY_EXISTS, "/b is there", "file_exists");
  t.on_s1("file_move", R"("entries":[{"source":"/a","destination":"/b"}])");
  CHECK(t.code == BH_ALREADY_EXISTS);
}

TEST_CASE("files: replacing tells how often, a text block each") {
  Filing t;
  t.gives("sandbox.replace_in_files",
          R"({"results":[{"path":"/a","replaced":3},{"path":"/b","replaced":0}]})");
  t.on_s1("file_replace_contents", R"("entries":[{"path":"/a","old_content":"x","new_content":""},
      {"path":"/b","old_content":"y","new_content":"z"}])");
  REQUIRE(t.code == BH_OK);
  CHECK(t.content().size() == 2);
  CHECK(json::print(t.structured()) ==
        R"({"result":[{"path":"/a","replaced_count":3},{"path":"/b","replaced_count":0}]})");
  CHECK(json::print(t.asked("sandbox.replace_in_files").at("edits")) ==
        R"([{"path":"/a","old":"x","new":""},{"path":"/b","old":"y","new":"z"}])");
  t.on_s1("file_replace_contents",
          R"("entries":[{"path":"/a","old_content":"","new_content":"x"}])");
  CHECK(t.detail("field") == "/entries/0/old_content");
}

TEST_CASE("base64 of every remainder, there and back") {
  using toolset_sandbox::from_base64;
  using toolset_sandbox::to_base64;
  for (const std::string& bytes :
       {std::string(), std::string("\xFF"), std::string("\0\1", 2), std::string("abc"),
        std::string("abcd")}) {
    CHECK(*from_base64(to_base64(bytes)) == bytes);
  }
  CHECK(to_base64("ab") == "YWI=");
  for (const char* bad : {"A", "AB", "ABC", "A===", "=AAA", "AB=C", "A B=", "****"}) {
    INFO(bad);
    CHECK_FALSE(from_base64(bad));
  }
}
