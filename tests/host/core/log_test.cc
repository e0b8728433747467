#include "core/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/json.h"
#include "core/host_view.h"
#include "core/session.h"
#include "engine_host.h"
#include "support/catch.h"

namespace {

bh::Session persona(const char* name) {
  bh::Session s;
  s.persona = name;
  return s;
}

std::string message_of(const std::string& record) {
  auto o = bh::json::parse_object(record);
  return o ? std::string(bh::json::get_string(*o, "message")) : "no JSON: " + record;
}

}  // namespace

TEST_CASE("a persona follows its own records, the operator all") {
  bh::Log log;
  auto a = persona("a");
  auto b = persona("b");
  bh::Session boss;
  boss.is_operator = true;
  std::vector<std::string> for_a, for_boss;
  auto one = log.follow(BH_LOG_INFO, a, [&](const std::string& r) { for_a.push_back(r); });
  auto two = log.follow(BH_LOG_DEBUG, boss, [&](const std::string& r) { for_boss.push_back(r); });
  log.write({BH_LOG_INFO, "of a", "org.example.p", R"({"k":1})"}, &a);
  log.write({BH_LOG_INFO, "of b", {}, {}}, &b);
  log.write({BH_LOG_ERROR, "of nobody", {}, {}}, nullptr);
  log.write({BH_LOG_DEBUG, "detail of a", {}, {}}, &a);
  log.write({BH_LOG_TRACE, "too fine", {}, {}}, &a);
  REQUIRE(for_a.size() == 1);
  auto record = bh::json::parse_object(for_a[0]).value();
  CHECK(record["message"] == "of a");
  CHECK(record["level"] == "info");
  CHECK(record["plugin"] == "org.example.p");
  CHECK(record["persona"] == "a");
  CHECK(bh::json::print(record["fields"]) == R"({"k":1})");
  CHECK(record["time_ms"].is_int64());
  REQUIRE(for_boss.size() == 4);
  CHECK(message_of(for_boss[2]) == "of nobody");
}

TEST_CASE("the level test is cheap and right: nobody listens, somebody does, nobody again") {
  bh::Log log;
  CHECK_FALSE(log.on(BH_LOG_PLUGIN_MISUSE));
  auto handle = log.follow(BH_LOG_WARN, persona("a"), [](const std::string&) {});
  CHECK(log.on(BH_LOG_WARN));
  CHECK(log.on(BH_LOG_ERROR));
  CHECK_FALSE(log.on(BH_LOG_INFO));
  handle.reset();
  CHECK_FALSE(log.on(BH_LOG_ERROR));
}

TEST_CASE("after its handle has gone a follower hears nothing") {
  bh::Log log;
  int heard = 0;
  auto a = persona("a");
  auto handle = log.follow(BH_LOG_INFO, a, [&](const std::string&) { heard++; });
  log.write({BH_LOG_INFO, "one", {}, {}}, &a);
  handle.reset();
  log.write({BH_LOG_INFO, "two", {}, {}}, &a);
  CHECK(heard == 1);
}

TEST_CASE("the file gets what is at its level, and is closed in children") {
  char path[] = "/tmp/bh-log-XXXXXX";
  int fd = ::mkstemp(path);
  REQUIRE(fd >= 0);
  ::close(fd);
  {
    bh::Log log;
    REQUIRE(log.open_file(path, BH_LOG_WARN));
    CHECK(log.on(BH_LOG_WARN));
    CHECK_FALSE(log.on(BH_LOG_INFO));
    log.write({BH_LOG_INFO, "unheard", {}, {}}, nullptr);
    log.write({BH_LOG_ERROR, "heard", {}, "no JSON at all"}, nullptr);
    int open_in_children = 0;
    for (int i = 3; i < 256; i++) {
      char target[64] = {};
      std::string link = "/proc/self/fd/" + std::to_string(i);
      if (::readlink(link.c_str(), target, sizeof target - 1) > 0 && std::string(target) == path) {
        if ((::fcntl(i, F_GETFD) & FD_CLOEXEC) == 0) open_in_children++;
      }
    }
    CHECK(open_in_children == 0);
  }
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str().find("heard") != std::string::npos);
  CHECK(text.str().find("unheard") == std::string::npos);
  ::unlink(path);
}

TEST_CASE("a file that cannot be opened is an error that names the key") {
  bh::Log log;
  auto opened = log.open_file("/dev/null/log.txt", BH_LOG_INFO);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == BH_FAILED_PRECONDITION);
  CHECK(opened.error().details.find("/log/file") != std::string::npos);
}

TEST_CASE("levels have names, and names have levels") {
  for (int level = 0; level <= BH_LOG_PLUGIN_MISUSE; level++) {
    CHECK(bh::log_level_of(bh::log_level_name(level)) == level);
  }
  CHECK(bh::log_level_name(-1) == "other");
  CHECK(bh::log_level_name(99) == "other");
  CHECK(bh::log_level_of("loud") == -1);
}

TEST_CASE("a plugin's records carry its id and the session on whose behalf they are") {
  bh_test::EngineHost host;
  bh::HostView view(*host.engine, "org.example.p");
  std::vector<std::string> heard;
  bh::Session boss;
  boss.is_operator = true;
  auto handle =
      host.engine->log().follow(BH_LOG_TRACE, boss, [&](const std::string& r) { heard.push_back(r); });
  CHECK(view.api->log_on(&view, BH_LOG_INFO) == 1);
  view.api->log(&view, nullptr, BH_LOG_INFO, "hello\xff", 6, nullptr, 7);
  view.api->log(&view, nullptr, BH_LOG_INFO, nullptr, 6, "[]", 2);
  view.api->notify(&view, nullptr, 5);
  view.api->notify(&view, "no JSON", 7);
  CHECK(view.api->get_service(&view, "org.example.none/1") == nullptr);
  REQUIRE(heard.size() == 2);
  auto record = bh::json::parse_object(heard[0]).value();
  CHECK(record["plugin"] == "org.example.p");
  CHECK(record["message"] == "hello\xEF\xBF\xBD");
}
