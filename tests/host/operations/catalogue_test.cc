#include <fstream>
#include <sstream>

#include "operations/catalogue.h"
#include "operations_md.h"
#include "support/catch.h"
#include "support/embedder.h"

using bh_test::Embedder;
using bh_test::Fault;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("host/operations.md is what the schemas say") {
  // Differs? build/dev/tests/operations_md > host/operations.md
  CHECK((text_of(BH_SOURCE_DIR "/host/operations.md") ==
         bh_test::operations_markdown(bh::catalogue())));
}

TEST_CASE("every reason of an operation is a word of abi/errors.md") {
  const std::string errors = text_of(BH_SOURCE_DIR "/abi/errors.md");
  REQUIRE_FALSE(errors.empty());
  for (const auto& [name, entry] : bh::catalogue().entries()) {
    for (const std::string& reason : entry.spec.reasons) {
      INFO(name + ": " + reason);
      CHECK(errors.find("| `" + reason + "` |") != std::string::npos);
    }
  }
}

TEST_CASE("every operation has a sentence, schemas, and refuses an unknown key by its name") {
  for (const auto& [name, entry] : bh::catalogue().entries()) {
    INFO(name);
    CHECK(entry.spec.summary.size() > 10);
    CHECK(entry.spec.summary.back() == '.');
    CHECK(entry.spec.summary.find('|') == std::string::npos);
    CHECK(bh::json::parse_object(entry.spec.args_schema));
    if (!entry.spec.result_schema.empty()) CHECK(bh::json::parse_object(entry.spec.result_schema));
    Fault why;
    CHECK(Embedder::request(name, R"({"no_such_key":1})", &why) == nullptr);
    CHECK(why.code == BH_INVALID_ARGUMENT);
    CHECK((why.message + why.details).find("no_such_key") != std::string::npos);
  }
}

TEST_CASE("names of operations: with and without the major, near misses") {
  struct Row {
    const char* name;
    bool there;
  };
  for (const Row& row : {Row{"sandbox.exec", true}, Row{"sandbox.exec/1", true},
                         Row{"sandbox.exec/2", false}, Row{"sandbox.exec/", false},
                         Row{"sandbox.exec/01", false}, Row{"", false}, Row{"/1", false},
                         Row{"Sandbox.exec", false}}) {
    INFO(row.name);
    CHECK((bh::catalogue().find(row.name) != nullptr) == row.there);
  }
  Fault why;
  CHECK(Embedder::request("sandbox.exce", "{}", &why) == nullptr);
  CHECK(why.code == BH_NOT_FOUND);
  CHECK(why.has("unknown_operation"));
  CHECK(why.message.find("sandbox.exec") != std::string::npos);
}
