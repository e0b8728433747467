#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "support/catch.h"
#include "support/embedder.h"

using bh_test::Embedder;
using bh_test::Place;

TEST_CASE("a wrong configuration names the key") {
  struct Row {
    const char* more;  // members, or a whole text where it does not start with a comma
    const char* word;
  };
  const Row rows[] = {
      {R"(,"colour":"red")", "colour"},
      {R"(,"workers":0)", "/workers"},
      {R"(,"workers":4097)", "/workers"},
      {R"(,"workers":"many")", "/workers"},
      {R"(,"isolation":{"backend":5})", "/isolation/backend"},
      {R"(,"isolation":{"backends":"x"})", "backends"},
      {R"(,"isolation":{"config":{"boxes":5}})", "/isolation/config/boxes"},
      {R"(,"defaults":{"network":"sometimes"})", "/defaults/network"},
      {R"(,"defaults":{"limits":{"memory":1}})", "memory"},
      {R"(,"defaults":{"limits":{"pids":0}})", "/defaults/limits/pids"},
      {R"(,"log":{"level":"loud"})", "/log/level"},
      {R"(,"log":{"file":"/dev/null/x"})", "/log/file"},
      {R"(,"version":1)", "version"},
      {"{\"version\":2}", "/version"},
      {"[]", "object"},
      {"{", "configuration"},
      {"\xff", "configuration"},
      {R"({"version":1,"data_root":"relative"})", "/data_root"},
      {R"({"version":1,"data_root":"/dev/null/x"})", "/data_root"},
      {R"({"version":1,"data_root":"/tmp/bh-never-made","plugins":{"path":["relative"]}})", "path"},
      {R"({"version":1,"data_root":"/tmp/bh-never-made","plugins":{"paths":[]}})", "paths"},
      {R"({"version":1,"data_root":"/tmp/bh-never-made","plugins":{"sha256":{"a":"no hex"}}})", "sha256"},
  };
  for (const Row& row : rows) {
    INFO(row.more);
    Place place;
    std::string config = row.more[0] == ',' ? bh_test::config_at(place.path + "/d", row.more) : row.more;
    Embedder host(config);
    CHECK(host.runtime == nullptr);
    CHECK(host.fault.code != BH_OK);
    CHECK((host.fault.message + host.fault.details).find(row.word) != std::string::npos);
    CHECK(host.fault.has("\"reason\""));
  }
}

TEST_CASE("a wrong session names what is wrong, a right one works") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  REQUIRE(host.runtime != nullptr);
  struct Row {
    std::string config;
    bool good;
  };
  const Row rows[] = {
      {"", true},
      {"{}", true},
      {R"({"persona":"a"})", true},
      {R"({"persona":")" + std::string(40, 'z') + "\"}", true},
      {R"({"operator":true})", true},
      {R"({"persona":")" + std::string(41, 'z') + "\"}", false},
      {R"({"persona":""})", false},
      {R"({"persona":"A"})", false},
      {R"({"persona":"a/b"})", false},
      {R"({"persona":".."})", false},
      {R"({"persona":"a\u0000b"})", false},
      {R"({"persona":5})", false},
      {R"({"operator":1})", false},
      {R"({"admin":true})", false},
      {"[]", false},
      {"{", false},
  };
  for (const Row& row : rows) {
    INFO(row.config);
    bh_session* s = nullptr;
    bh_fault* f = nullptr;
    bh_status st = bh_session_new(host.runtime, row.config.data(), row.config.size(), &s, &f);
    CHECK((st == BH_OK) == row.good);
    CHECK((s != nullptr) == row.good);
    auto fault = bh_test::take(f);
    CHECK(fault.code == (row.good ? BH_OK : BH_INVALID_ARGUMENT));
    bh_session_free(s);
  }
}

TEST_CASE("a session is a persona's or the operator's, never both") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  REQUIRE(host.runtime != nullptr);
  // Also where the two would agree: a session that says "operator": false says that it is unsure.
  for (const char* both : {R"({"persona":"a","operator":true})", R"({"operator":true,"persona":"a"})",
                           R"({"persona":"a","operator":false})"}) {
    INFO(both);
    const std::string config = both;
    bh_session* s = nullptr;
    bh_fault* f = nullptr;
    CHECK(bh_session_new(host.runtime, config.data(), config.size(), &s, &f) ==
          BH_INVALID_ARGUMENT);
    CHECK(s == nullptr);
    auto fault = bh_test::take(f);
    CHECK(fault.message.find("\"persona\"") != std::string::npos);
    CHECK(fault.message.find("\"operator\"") != std::string::npos);
    CHECK(fault.has("\"reason\":\"config\""));
    CHECK(fault.has("remedy"));
    bh_session_free(s);
  }
}

TEST_CASE("a runtime starts, works and ends without a word on stdout or stderr") {
  Place place;
  const std::string path = place.path + "/said";
  int file = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  int out = ::dup(1), err = ::dup(2);
  ::dup2(file, 1);
  ::dup2(file, 2);
  {
    Embedder host(bh_test::config_at(place.path + "/d"));
    (void)host.call("tool.list", "{}");
    (void)host.call("tool.call", R"({"name":"none"})");
    (void)host.call("plugin.list", R"({"probe":true})");
    Embedder bad(R"({"version":1,"colour":1})");
  }
  ::dup2(out, 1);
  ::dup2(err, 2);
  for (int fd : {out, err, file}) ::close(fd);
  std::stringstream said;
  said << std::ifstream(path).rdbuf();
  CHECK(said.str().empty());
}
