// The file worker and the host's side of it, without a sandbox around them: what the protocol holds,
// and what the host makes of a worker that lies.
#include "support/catch.h"
#include "temp_folder.h"

#include <signal.h>
#include <sys/wait.h>

#include <bulkhead/sdk/isolation/files_box.hpp>
#include <bulkhead/sdk/isolation/files_worker.hpp>
#include <bulkhead/sdk/testing/fake_host.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

using namespace bulkhead::sdk;
namespace iso = bulkhead::sdk::isolation;
using bulkhead::sdk::testing::FakeCall;
using bulkhead::sdk::testing::FakeHost;

namespace {

// A child that speaks as `body(in, out)` does, in the place of a helper.
iso::Launched child(const std::function<void(int, int)>& body) {
  int in[2], out[2], control[2], trouble[2];
  REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(trouble, O_CLOEXEC | O_NONBLOCK) == 0);
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::signal(SIGTERM, SIG_DFL);
    for (const int fd : {in[1], out[0], control[0], trouble[0]}) ::close(fd);
    body(in[0], out[1]);
    ::_exit(0);
  }
  for (const int fd : {in[0], out[1], control[1], trouble[1]}) ::close(fd);
  iso::Launched l;
  l.pid = pid;
  l.pidfd.reset(iso::pidfd_open(pid));
  l.in.reset(in[1]);
  l.out.reset(out[0]);
  l.control.reset(control[0]);
  l.trouble.reset(trouble[0]);
  for (const int fd : {in[1], out[0]}) (void)::fcntl(fd, F_SETFL, O_NONBLOCK);
  return l;
}

// A sandbox whose workers are such children.
class FilesCell : public Sandbox, public iso::SandboxFiles {
 public:
  using Body = std::function<void(int, int)>;
  FilesCell(iso::Sandboxes& all, iso::FileWorkers& workers, Body body)
      : SandboxFiles(all, workers, "s1"), all_(all), body_(std::move(body)) {}
  Status exec(Call&, const Exec&, Exit&) override { return {}; }
  int started = 0;

 private:
  Result<std::unique_ptr<iso::HeldFileWorker>> start_files(Call&) override {
    const std::string name = "files_" + std::to_string(++started);
    if (auto st = all_.store.enter("s1", name); !st) return std::move(st).failure();
    auto held = std::make_unique<iso::HeldFileWorker>(all_.store, "s1", name);
    held->worker = std::make_unique<iso::FileWorker>(child(body_));
    if (auto st = all_.store.note_helper("s1", name, held->worker->pid()); !st) {
      return std::move(st).failure();
    }
    return held;
  }
  iso::Sandboxes& all_;
  Body body_;
};

struct Setting {
  explicit Setting(FilesCell::Body body, int keep_ms = 3000)
      : workers(std::chrono::milliseconds(keep_ms)) {
    all.store = iso::Store(folder.path);
    REQUIRE(all.store.begin("s1", "{}").ok());
    REQUIRE(all.store.finish("s1", "{}").ok());
    cell = std::make_unique<FilesCell>(all, workers, std::move(body));
  }
  // The table's functions, as a host calls them.
  template <class F>
  bh_status ask(F f) {
    FakeCall call(host.raw());
    if (script) script(call);
    const auto* table =
        static_cast<const bh_isolation_files*>(extensions<Files>(BH_ISOLATION_FILES));
    void* box = static_cast<Sandbox*>(cell.get());
    found.clear();
    const auto before = std::chrono::steady_clock::now();
    const bh_status st = f(*table, box, call.raw());
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    got = call.recorded();
    return st;
  }
  bh_status stat(const std::string& path) {
    return ask([&](const bh_isolation_files& t, void* box, bh_call* c) {
      return t.stat(box, c, path.data(), path.size(), 0, &keep, &found);
    });
  }
  bh_status list(const std::string& path) {
    return ask([&](const bh_isolation_files& t, void* box, bh_call* c) {
      return t.list(box, c, path.data(), path.size(), 9, &keep, &found);
    });
  }
  bh_status read(const std::string& path, int64_t size = -1) {
    return ask([&](const bh_isolation_files& t, void* box, bh_call* c) {
      return t.read(box, c, path.data(), path.size(), 0, size);
    });
  }
  bh_status write(const std::string& path, const std::string& data, uint32_t flags = 0) {
    return ask([&](const bh_isolation_files& t, void* box, bh_call* c) {
      return t.write(box, c, path.data(), path.size(), flags, nullptr, data.data(), data.size());
    });
  }
  bool says(const char* reason) const {
    return got.details.find(std::string("\"") + reason + "\"") != std::string::npos;
  }
  int workers_left() const {
    int n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path + "/s1/run")) {
      n += entry.path().filename().string()[0] != '.' ? 1 : 0;
    }
    return n;
  }

  FakeHost host;
  Folder folder;
  iso::Sandboxes all;
  iso::FileWorkers workers;
  std::unique_ptr<FilesCell> cell;
  std::function<void(FakeCall&)> script;
  std::vector<std::string> found;
  testing::Recorded got;
  double seconds = 0;

 private:
  static bh_status keep(void* ctx, const bh_file_info* info) {
    static_cast<std::vector<std::string>*>(ctx)->emplace_back(view(info->name));
    return BH_OK;
  }
};

void serve(int in, int out) { iso::files::Worker(in, out).serve(); }

void put(int out, iso::files::FrameKind kind, std::string_view body) {
  (void)iso::write_all(out, iso::files::frame(kind, body));
}
void put_done(int out) { put(out, iso::files::kDone, encode(iso::files::Outcome())); }
std::string named(const std::string& name) {
  iso::files::Info info;
  info.kind = 1;
  info.name = name;
  return encode(info);
}
// Until the host hangs up, so that it is never the end of the pipe that is noticed.
void wait_for_end(int in) {
  char byte;
  while (::read(in, &byte, 1) > 0) {
  }
}

}  // namespace

TEST_CASE("file worker: one serves request after request, and goes when nobody asks") {
  Setting s(serve, 200);
  Folder files;
  const std::string path = files.path + "/f";
  CHECK(s.write(path, "hello") == BH_OK);
  CHECK(s.read(path) == BH_OK);
  CHECK(s.got.output[BH_STREAM_DATA] == "hello");
  CHECK(s.stat(path) == BH_OK);
  CHECK(s.found == std::vector<std::string>{""});
  CHECK(s.list(files.path) == BH_OK);
  CHECK(s.found == std::vector<std::string>{"f"});
  CHECK(s.stat(path + "x") == BH_NOT_FOUND);
  CHECK(s.cell->started == 1);
  CHECK(s.workers_left() == 1);
  for (int i = 0; i < 100 && s.workers_left() != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  CHECK(s.workers_left() == 0);
  CHECK(s.stat(path) == BH_OK);
  CHECK(s.cell->started == 2);
}

TEST_CASE("file worker: what is no request ends it, and a half written file goes with it") {
  using namespace iso::files;
  Folder files;
  Request request;
  request.act = kWrite;
  request.path = files.path + "/half";
  const std::string asked = frame(kRequest, encode(request));
  const std::string rows[] = {
      "garbage that is no frame at all",
      frame(kData, "x"),
      frame(kRequest, "short"),
      std::string("\xff\xff\xff\xff\x01\0\0\0", 8),
      asked + frame(kData, "bytes"),          // and then nobody is there
      asked + frame(kData, "bytes") + asked,  // a request in the middle
  };
  for (const std::string& row : rows) {
    iso::Launched l = child(serve);
    REQUIRE(iso::write_all(l.in.get(), row));
    l.in.reset();
    pollfd p{l.pidfd.get(), POLLIN, 0};
    CHECK(::poll(&p, 1, 5000) == 1);
    l.reap();
    CHECK(std::filesystem::is_empty(files.path));
  }
}

TEST_CASE("file worker: one that lies is not believed, and is ended") {
  using namespace iso::files;
  struct Row {
    const char* what;
    std::function<void(int)> says;
  };
  const Row rows[] = {
      {"noise", [](int out) { (void)iso::write_all(out, std::string(5000, '\x7f')); }},
      {"a frame of 4 GiB", [](int out) { (void)iso::write_all(out, std::string("\xff\xff\xff\xff\x04\0\0\0", 8)); }},
      {"a kind that is none", [](int out) { put(out, static_cast<FrameKind>(99), ""); }},
      {"an info that is none", [](int out) { put(out, kInfo, "xyz"); }},
      {"a failure without a cause", [](int out) { put(out, kFailed, encode(Outcome())); }},
      {"ready for nothing", [](int out) { put(out, kReady, ""); }},
      {"two files for one", [](int out) { put(out, kInfo, named("")); put(out, kInfo, named("")); put_done(out); }},
      {"no file", [](int out) { put_done(out); }},
      {"bytes for a stat", [](int out) { put(out, kData, "x"); put_done(out); }},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Setting s([&](int in, int out) {
      row.says(out);
      wait_for_end(in);
    });
    CHECK(s.stat("/x") == BH_INTERNAL);
    CHECK(s.says("file_worker"));
    CHECK(s.seconds < 2);
    CHECK(s.workers_left() <= 1);
  }
  for (const std::string& name : {std::string("../x"), std::string("/x"), std::string("a/../b"), std::string(""), std::string("a\0b", 3), std::string("a//b"), std::string(20000, 'n')}) {
    CAPTURE(name);
    Setting s([&](int in, int out) {
      put(out, kInfo, named("fine"));
      put(out, kInfo, named(name));
      put_done(out);
      wait_for_end(in);
    });
    CHECK(s.list("/x") == BH_INTERNAL);
    CHECK(s.says("file_worker"));
    CHECK(s.found == std::vector<std::string>{"fine"});
    CHECK(s.workers_left() == 0);
  }
}

TEST_CASE("file worker: no more bytes than were asked for, and none of a write's that are not wanted") {
  using namespace iso::files;
  Setting more([](int in, int out) {
    for (int i = 0; i < 10; ++i) put(out, kData, "12345");
    put_done(out);
    wait_for_end(in);
  });
  CHECK(more.read("/x", 12) == BH_INTERNAL);
  CHECK(more.got.output[BH_STREAM_DATA].size() <= 12);

  // It fails at once and reads on: the sender is told, and no more is sent than is on its way.
  Setting stops([](int in, int out) {
    put(out, kReady, "");
    Outcome outcome;
    outcome.error = ENOSPC;
    put(out, kFailed, encode(outcome));
    wait_for_end(in);
  });
  stops.script = [](FakeCall& call) { call.input(std::string(50'000'000, 'x')); };
  CHECK(stops.write("/x", "", BH_FILE_INPUT) == BH_RESOURCE_EXHAUSTED);
  CHECK(stops.says("no_space"));
  CHECK(stops.got.input_ended);
}

TEST_CASE("file worker: one that says nothing, floods or dies keeps nobody") {
  using namespace iso::files;
  Setting silent([](int in, int) {
    wait_for_end(in);
    for (;;) ::pause();
  });
  std::thread later;
  silent.script = [&](FakeCall& call) {
    later = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      call.stop();
    });
  };
  CHECK(silent.stat("/x") == BH_CANCELLED);
  later.join();
  CHECK(silent.seconds < 2);
  CHECK(silent.workers_left() == 0);

  Setting flood([](int, int out) {
    ::signal(SIGPIPE, SIG_DFL);
    for (;;) put(out, kInfo, named("more"));
  });
  flood.script = [&](FakeCall& call) {
    later = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      call.stop();
    });
  };
  CHECK(flood.list("/x") == BH_CANCELLED);
  later.join();
  CHECK(flood.seconds < 2);

  Setting dies([](int, int) {});
  CHECK(dies.stat("/x") == BH_FAILED_PRECONDITION);
  CHECK(dies.says("set_up"));
  Setting halfway([](int in, int out) {
    char request[4096];
    (void)!::read(in, request, sizeof request);
    put(out, kData, "some");
  });
  CHECK(halfway.read("/x") == BH_UNAVAILABLE);
  CHECK(halfway.says("file_worker_ended"));
  CHECK(halfway.got.output[BH_STREAM_DATA] == "some");
}

TEST_CASE("file worker: a handle without the ability, unknown flags and odd paths are refused") {
  class Bare : public Sandbox {
   public:
    Status exec(Call&, const Exec&, Exit&) override { return {}; }
  } bare;
  const auto* table = static_cast<const bh_isolation_files*>(extensions<Files>(BH_ISOLATION_FILES));
  REQUIRE(table != nullptr);
  FakeHost host;
  FakeCall call(host.raw());
  CHECK(table->remove(static_cast<Sandbox*>(&bare), call.raw(), "/x", 2, 0) == BH_UNIMPLEMENTED);
  Setting s(serve);
  for (const std::string& path : {std::string("x"), std::string(""), std::string("/a\0b", 4)}) {
    CHECK(s.read(path) == BH_INVALID_ARGUMENT);
    CHECK(s.says("path_invalid"));
  }
  CHECK(s.write("/x", "", BH_FILE_RECURSIVE) == BH_UNIMPLEMENTED);
  CHECK(s.says("unknown_flag"));
  CHECK(s.cell->started == 0);
}
