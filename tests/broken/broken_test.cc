// Every broken plugin of this folder in one scan, each with its line in the load report; and the
// good one among them works.
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "broken/spoil.h"
#include "loader/registry.h"
#include "support/bare_caller.h"
#include "support/catch.h"
#include "support/skip.h"

namespace {

namespace fs = std::filesystem;

// '*' stands for anything.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') {
    return !text.empty() && text[0] == pattern[0] && matches(pattern.substr(1), text.substr(1));
  }
  for (size_t skip = 0; skip <= text.size(); ++skip) {
    if (matches(pattern.substr(1), text.substr(skip))) return true;
  }
  return false;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(BH_SOURCE_DIR "/tests/broken")) {
    if (fs::exists(entry.path() / "expected.json")) names.push_back(entry.path().filename());
  }
  return names;
}

// A place for plugins below /tmp, where every folder on the way is safe whatever the umask and
// owner of the build tree.
class Place {
 public:
  Place() {
    char name[] = "/tmp/bh-broken-XXXXXX";
    path_ = ::mkdtemp(name);
    ::chmod(path_.c_str(), 0755);
  }
  ~Place() { fs::remove_all(path_); }

  const std::string& path() const { return path_; }

  void install(const std::string& name) {
    const std::string folder = path_ + "/" + name;
    fs::create_directory(folder);
    ::chmod(folder.c_str(), 0755);
    const std::string built = std::string(BH_BINARY_DIR "/tests/broken/") + name + "/plugin.so";
    bh_test::write_file(folder + "/plugin.so", bh_test::read_file(built), 0755);
    bh_test::write_manifest(name, folder);
    bh_test::spoil(name, folder);
  }

 private:
  std::string path_;
};

bh::RegistryOptions options_for(const Place& place) {
  bh::RegistryOptions options;
  options.search.path = {place.path()};
  options.search.environment = options.search.user = false;
  options.search.relative = options.search.system = false;
  options.probe_helper = BH_BINARY_DIR "/libexec/bulkhead/bulkhead-probe";
  return options;
}

std::map<std::string, bh::json::object> lines_by_folder(const bh::Registry& registry) {
  std::map<std::string, bh::json::object> lines;
  const bh::json::object report = registry.report();
  for (const auto& line : *bh::json::get_array(report, "plugins")) {
    const std::string path(bh::json::get_string(line.get_object(), "path"));
    lines[fs::path(path).filename()] = line.get_object();
  }
  return lines;
}

// Whoever reads that a plugin is not used reads what to do about it too; and nothing where nothing
// is wrong. Held against every line, whatever a fixture expects.
void check_hint(const std::string& name, const bh::json::object& line) {
  const std::string_view status = bh::json::get_string(line, "status");
  INFO(name << " is " << status << ": " << bh::json::get_string(line, "message"));
  CHECK(bh::json::get_string(line, "hint").empty() ==
        (status == "loaded" || status == "available"));
}

void check_line(const std::string& name, const bh::json::object& line) {
  check_hint(name, line);
  const auto expected = bh::json::parse_object(
      bh_test::read_file(std::string(BH_SOURCE_DIR "/tests/broken/") + name + "/expected.json"));
  REQUIRE(expected);
  for (const char* key : {"status", "stage", "message", "hint"}) {
    INFO(name << ": " << key << ": \"" << bh::json::get_string(line, key) << "\"\n  expected: \""
              << bh::json::get_string(*expected, key) << "\"");
    CHECK(matches(bh::json::get_string(*expected, key), bh::json::get_string(line, key)));
  }
}

}  // namespace

TEST_CASE("each broken plugin has its line in the report, and hurts no other") {
  Place place;
  for (const std::string& name : all_names()) {
    if (name != "hangs") place.install(name);
  }
  bh_test::BareCaller caller;
  bh::Registry registry(options_for(place), caller);
  registry.scan();
  CHECK(caller.entered.empty());
  registry.load_all();

  const auto lines = lines_by_folder(registry);
  for (const std::string& name : all_names()) {
    if (name == "hangs") continue;
    INFO(name);
    REQUIRE(lines.count(name) == 1);
    check_line(name, lines.at(name));
  }
  const auto good = registry.find("bh.toolset/1", "good");
  REQUIRE(good);
  bh::probe::BareCall call;
  CHECK((*good)->toolset().list(nullptr, call.call()) == BH_OK);
}

TEST_CASE("a plugin that does not come back is stopped") {
  Place place;
  place.install("hangs");
  bh_test::BareCaller caller;
  bh::RegistryOptions options = options_for(place);
  options.probe_time_ms = 1500;
  bh::Registry registry(std::move(options), caller);
  registry.scan();
  const auto found = registry.find("bh.toolset/1", "hangs");
  REQUIRE_FALSE(found);
  CHECK(found.error().code == BH_FAILED_PRECONDITION);
  check_line("hangs", lines_by_folder(registry).at("hangs"));
  CHECK(caller.entered.empty());
}

TEST_CASE("a library that was replaced under its name is not taken for the one in the process") {
  Place place;
  place.install("many_exports");
  bh_test::BareCaller caller;
  bh::Registry first(options_for(place), caller);
  first.scan();
  REQUIRE(first.find("bh.toolset/1", "many_exports"));

  // A second host in the process gets the same plugin.
  bh::Registry beside(options_for(place), caller);
  beside.scan();
  REQUIRE(beside.find("bh.toolset/1", "many_exports"));

  // As an update does: a new file by the old name. The dynamic linker would hand out the old one.
  place.install("many_exports");
  bh::Registry second(options_for(place), caller);
  second.scan();
  CHECK_FALSE(second.find("bh.toolset/1", "many_exports"));
  const auto line = lines_by_folder(second).at("many_exports");
  CHECK(bh::json::get_string(line, "status") == "refused");
  CHECK(bh::json::get_string(line, "message")
            .find("the process has another file of this name mapped") == 0);
  check_hint("many_exports", line);
}

TEST_CASE("what passed its trial is remembered by its hash") {
  Place place;
  place.install("no_sections");
  const std::string memory = place.path() + "/.memory/passed";
  bh_test::BareCaller caller;
  bh::RegistryOptions options = options_for(place);
  options.probe_memory = memory;
  bh::Registry registry(std::move(options), caller);
  registry.scan();
  CHECK_FALSE(fs::exists(memory));
  REQUIRE(registry.find("bh.toolset/1", "no_sections"));
  REQUIRE(fs::exists(memory));
  const auto remembered = fs::directory_iterator(memory)->path().filename().string();
  CHECK(remembered.size() == 64);
}

TEST_CASE("without the helper a plugin is loaded all the same, and the report says so") {
  Place place;
  place.install("forged_sections");
  bh_test::BareCaller caller;
  bh::RegistryOptions options = options_for(place);
  options.probe_helper = place.path() + "/no_such_helper";
  bh::Registry registry(std::move(options), caller);
  registry.scan();
  REQUIRE(registry.find("bh.toolset/1", "forged_sections"));
  const auto line = lines_by_folder(registry).at("forged_sections");
  CHECK(bh::json::get_string(line, "message").find("was not tried out in a process of its own") !=
        std::string::npos);
}

TEST_CASE("many threads that need one plugin enter it once") {
  Place place;
  place.install("good");
  bh_test::BareCaller caller;
  bh::Registry registry(options_for(place), caller);
  registry.scan();
  std::vector<std::thread> threads;
  std::vector<const bh::Provider*> found(8, nullptr);
  for (const bh::Provider*& each : found) {
    threads.emplace_back([&registry, &each] {
      const auto provider = registry.find("bh.toolset/1", "good");
      if (provider) each = *provider;
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(found[0] != nullptr);
  CHECK(std::count(found.begin(), found.end(), found[0]) == 8);
  CHECK(caller.entered.size() == 1);
}

TEST_CASE("a filesystem mounted noexec is named as the reason") {
  Place place;
  // The mount is this process' own, and goes with it.
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", place.path().c_str(), "tmpfs", MS_NOEXEC, "mode=755") != 0) {
    BH_SKIP("mounting takes privileges that this process does not have");
  }
  place.install("good");
  bh_test::BareCaller caller;
  bh::Registry registry(options_for(place), caller);
  registry.scan();
  CHECK_FALSE(registry.find("bh.toolset/1", "good"));
  const auto line = lines_by_folder(registry).at("good");
  CHECK(bh::json::get_string(line, "stage") == "load");
  CHECK(bh::json::get_string(line, "message") == "lies on a filesystem that is mounted noexec");
  check_hint("good", line);
  ::umount2(place.path().c_str(), MNT_DETACH);
}
