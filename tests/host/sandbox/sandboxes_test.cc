// The life of sandboxes over their records, without any backend: a record without a profile never
// reached one, so that it is swept without.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "core/engine.h"
#include "sandbox/sandboxes.h"
#include "support/catch.h"

namespace fs = std::filesystem;
namespace json = bh::json;

namespace {

struct Host {
  Host() : path(made()), root(bh::DataRoot::open(path).value()) { settings.lease_wait_ms = 0; }
  ~Host() {
    CHECK(sandboxes.close());
    CHECK(engine->close(std::chrono::seconds(5)));
    db.close();
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  static std::string made() {
    char name[] = "/tmp/bh-sandboxes-XXXXXX";
    return ::mkdtemp(name);
  }

  void put(const std::string& id, const std::function<void(bh::SandboxRecord&)>& change = {}) {
    bh::SandboxRecord r;
    r.id = id;
    r.persona = std::string("p");
    r.backend = std::string("none");
    r.state = std::string("running");
    r.created_ms = r.changed_ms = r.used_ms = bh::wall_ms();
    if (change) change(r);
    REQUIRE(records.put(r));
  }
  bool there(const std::string& id) { return records.life(id).has_value(); }
  bool gone_soon(const std::string& id) {
    for (int i = 0; i < 500 && there(id); i++) ::usleep(10'000);
    return !there(id);
  }
  bh::Result<void> call(const std::function<bh::Result<void>(bh::Call&)>& work) {
    return engine->run_internal(5 * bh::kSecond, work);
  }

  const std::string path;
  bh::Session session{"p", false, {}, false};
  bh::SandboxSettings settings;
  bh::DataRoot root;
  bh::Database db{root};
  bh::SandboxRecords records{db};
  bh::JobRecords jobs{db};
  bh::Catalogue catalogue;
  std::shared_ptr<bh::Engine> engine = std::make_shared<bh::Engine>(catalogue, 4);
  bh::Backends backends{
      root, settings,
      [](const std::string&) -> bh::Result<const bh::Provider*> {
        return bh::fail(BH_NOT_FOUND, "none");
      },
      [] { return std::vector<std::string>(); }, [](const std::string&) -> const bh_host* { return nullptr; }};
  bh::ImagesSettings images_settings;
  bh::ImageRecords image_records{db};
  bh::ImageStore images{root, images_settings, image_records};
  bh::Sandboxes sandboxes{root, settings, backends, images, records, jobs,
                          [this](std::int64_t time, const std::function<bh::Result<void>(bh::Call&)>& work) {
                            return engine->run_internal(time, work);
                          }};
};

bh::ProcessName dead() {
  bh::ProcessName name = bh::ProcessName::self();
  name.start++;
  return name;
}

}  // namespace

TEST_CASE("an expired sandbox is not found at once, and swept soon") {
  Host host;
  host.put("s-old", [](auto& r) { r.expires_ms = bh::wall_ms() - 1; });
  host.put("s-new", [](auto& r) { r.expires_ms = bh::wall_ms() + 600'000; });
  host.put("s-ever");
  CHECK(host.sandboxes.record(host.session, "s-old").error().code == BH_NOT_FOUND);
  CHECK(host.sandboxes.list(host.session)->size() == 2);
  CHECK(host.sandboxes.renew(host.session, "s-old", 600'000).error().code == BH_NOT_FOUND);
  CHECK(host.there("s-old"));
  host.sandboxes.start();
  CHECK(host.gone_soon("s-old"));
  CHECK(host.there("s-new"));
  CHECK(host.there("s-ever"));
}

TEST_CASE("what dead processes left is swept, what living ones are at is not") {
  Host host;
  host.settings.idle_ms = 1'000;
  const std::int64_t long_ago = bh::wall_ms() - 60'000;
  host.put("s-half", [](auto& r) { r.state = "making"; r.actor = dead(); });
  host.put("s-made", [](auto& r) { r.state = "making"; r.actor = bh::ProcessName::self(); });
  host.put("s-ending", [](auto& r) { r.state = "stopping"; r.reason = "killed"; r.actor = dead(); });
  host.put("s-ended", [](auto& r) {
    r.state = "stopping"; r.reason = "killed"; r.actor = bh::ProcessName::self();
  });
  host.put("d-idle", [&](auto& r) { r.default_key = "k"; r.used_ms = long_ago; });
  host.put("d-busy", [&](auto& r) {
    r.default_key = "k"; r.used_ms = long_ago; r.busy = 1; r.owner = bh::ProcessName::self();
  });
  host.put("d-fresh", [&](auto& r) { r.default_key = "k"; r.used_ms = bh::wall_ms() + 600'000; });
  host.put("s-unused", [&](auto& r) { r.used_ms = long_ago; });
  host.put("s-pausing", [](auto& r) { r.state = "pausing"; r.actor = dead(); });
  bh::JobRecord job;
  job.id = "j-1";
  job.sandbox = "s-unused";
  job.persona = "p";
  job.state = "running";
  job.owner = dead();
  REQUIRE(host.jobs.put(job));
  for (const char* folder : {"sandboxes/s-nobody/home", "sandboxes/s-unused/home", "sandboxes/s-half/home",
                             "jobs/j-nobody", "jobs/j-1"}) {
    fs::create_directories(host.path + "/" + folder);
  }
  CHECK(host.sandboxes.record(host.session, "s-half").error().code == BH_NOT_FOUND);
  CHECK(host.sandboxes.record(host.session, "s-made"));
  host.sandboxes.start();
  for (const char* gone : {"s-half", "s-ending", "d-idle"}) {
    INFO(gone);
    CHECK(host.gone_soon(gone));
  }
  REQUIRE(host.sandboxes.close());  // the pass is over
  for (const char* stays : {"s-made", "s-ended", "d-busy", "d-fresh", "s-unused"}) {
    INFO(stays);
    CHECK(host.there(stays));
  }
  CHECK(host.records.life("s-pausing")->state == "paused");
  CHECK(host.jobs.get("j-1")->state == "lost");
  CHECK_FALSE(fs::exists(host.path + "/sandboxes/s-nobody"));
  CHECK_FALSE(fs::exists(host.path + "/sandboxes/s-half"));
  CHECK(fs::exists(host.path + "/sandboxes/s-unused"));
  CHECK_FALSE(fs::exists(host.path + "/jobs/j-nobody"));
  CHECK(fs::exists(host.path + "/jobs/j-1"));
}

TEST_CASE("a renew that was answered is never followed by an older end") {
  Host host;
  host.sandboxes.start();
  constexpr int kBoxes = 4;
  for (int i = 0; i < kBoxes; i++) {
    host.put("s-" + std::to_string(i), [](auto& r) { r.expires_ms = bh::wall_ms() + 60; });
  }
  std::atomic<int> broken{0}, renewed{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&, t] {
      const std::string id = "s-" + std::to_string(t % kBoxes);
      for (int i = 0; i < 60; i++) {
        auto until = host.sandboxes.renew(host.session, id, 20 + t);
        if (!until) {
          refused++;
          return;
        }
        renewed++;
        auto found = host.sandboxes.record(host.session, id);
        // Others renew it too, to ends about as far away: before the earliest it has to be there.
        if (!found && bh::wall_ms() < *until - 10) broken++;
        ::usleep(static_cast<useconds_t>(1'000 * (i % 20)));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(broken == 0);
  CHECK(renewed > 8);
  for (int i = 0; i < kBoxes; i++) CHECK(host.gone_soon("s-" + std::to_string(i)));
}

TEST_CASE("leases: counted here, refused elsewhere, taken over from the dead") {
  Host host;
  host.put("s-1");
  bh::Leases leases(host.records, 0);
  REQUIRE(host.call([&](bh::Call& up) -> bh::Result<void> {
    for (int i = 0; i < 2; i++) {
      auto claim = leases.claim(up, "s-1");
      if (!claim) return tl::unexpected(claim.error());
      if (claim->inherited) return bh::fail(BH_INTERNAL, "inherited from nobody");
    }
    return {};
  }));
  CHECK(host.records.life("s-1")->busy == 2);
  CHECK(host.records.life("s-1")->owner.here());
  leases.release("s-1");
  CHECK(host.records.life("s-1")->owner.here());
  leases.release("s-1");
  CHECK(host.records.life("s-1")->owner.nobody());
  leases.release("s-1");  // no more than there was
  CHECK(host.records.life("s-1")->busy == 0);

  int out[2];
  REQUIRE(::pipe(out) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = bh::ProcessName::self().text();
    (void)!::write(out[1], text.data(), text.size());
    for (;;) ::pause();
  }
  char buffer[200];
  const ssize_t got = ::read(out[0], buffer, sizeof buffer);
  REQUIRE(got > 0);
  const auto other = bh::ProcessName::parse(std::string_view(buffer, static_cast<std::size_t>(got)));
  host.put("s-2", [&](auto& r) { r.owner = other; r.busy = 3; });
  auto claim = [&](const char* id, bool* was_inherited) {
    return host.call([&](bh::Call& up) -> bh::Result<void> {
      auto claimed = leases.claim(up, id);
      if (!claimed) return tl::unexpected(claimed.error());
      *was_inherited = claimed->inherited;
      return {};
    });
  };
  bool inherited = false;
  auto refused = claim("s-2", &inherited);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == BH_FAILED_PRECONDITION);
  CHECK(refused.error().message.find("process " + std::to_string(child)) != std::string::npos);
  CHECK(host.records.life("s-2")->busy == 3);
  REQUIRE(::kill(child, SIGKILL) == 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(claim("s-2", &inherited));
  CHECK(inherited);
  CHECK(host.records.life("s-2")->busy == 1);
  // Given back before what it inherited was ended: the next claimant has to.
  leases.release("s-2");
  inherited = false;
  REQUIRE(claim("s-2", &inherited));
  CHECK(inherited);
  REQUIRE(leases.settle("s-2"));
  leases.release("s-2");
  REQUIRE(claim("s-2", &inherited));
  CHECK_FALSE(inherited);
  ::close(out[0]);
  ::close(out[1]);
}

TEST_CASE("of a persona's defaults the best is taken, and one that another process uses never is") {
  Host host;
  bh::Leases leases(host.records, 0);
  CHECK_FALSE(leases.claim_default("k")->has_value());
  host.put("d-1", [&](auto& r) { r.default_key = "k"; r.owner = dead(); r.busy = 1; });
  auto first = leases.claim_default("k");
  REQUIRE(*first);
  CHECK((**first).inherited);
  // While it is being settled, it is no one's.
  CHECK_FALSE(leases.claim_default("k")->has_value());
  host.put("d-2", [&](auto& r) { r.default_key = "k"; });
  CHECK((**leases.claim_default("k")).life.id == "d-2");
  CHECK((**leases.claim_default("k")).life.id == "d-2");  // in use here: used by both
  CHECK(host.records.life("d-2")->busy == 2);
  host.put("d-0", [&](auto& r) { r.default_key = "k"; r.state = "paused"; });
  CHECK((**leases.claim_default("k")).life.id == "d-2");
}
