#include "box.h"

#include <sys/stat.h>

#include <atomic>
#include <thread>

namespace bulkhead::sdk::contract {

namespace {
std::atomic<int> g_execs{0};

// The new sandbox's handle, alive as long as a call that may still write it.
struct Creation {
  std::string id, profile;
  void* handle = nullptr;
};

Answer create(Backend& backend, const std::shared_ptr<Creation>& what) {
  return backend.call([what, create = backend.table().create, self = backend.self()](bh_call* c) {
    return create(self, c, what->id.data(), what->id.size(), what->profile.data(),
                  what->profile.size(), &what->handle);
  });
}
}  // namespace

bool Ran::not_run() const {
  if (!returned) return false;
  if (status != BH_OK) return true;
  auto result = json::parse_object(said.result);
  return result && json::child(*result, "not_run") != nullptr &&
         (exit.exit_code == 126 || exit.exit_code == 127);
}
std::string Ran::told() const {
  std::string text = Answer::text();
  if (ok()) {
    text += ", reason " + std::to_string(exit.reason) + ", code " + std::to_string(exit.exit_code) +
            ", signal " + std::to_string(exit.signal);
  }
  auto add = [&](const char* name, const std::string& s) {
    if (!s.empty()) text += std::string(", ") + name + " " + json_quote(to_utf8(s.substr(0, 300)));
  };
  add("stdout", out);
  add("stderr", err);
  return text;
}

// What exec() borrows.
struct Running::What {
  std::string id, options;
  std::vector<std::string> argv;
  std::vector<bh_str> views;
  bh_exec exec{};
  bh_exit exit{};
};

bool Running::says(const std::string& text, milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (call().kept(BH_STREAM_STDOUT).find(text) == std::string::npos) {
    if (done(milliseconds(5))) {
      return call().kept(BH_STREAM_STDOUT).find(text) != std::string::npos;
    }
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}
bool Running::done(milliseconds patience) {
  return flight_->returned.wait_for(patience) == std::future_status::ready;
}
Ran Running::wait(milliseconds patience) {
  Ran ran;
  static_cast<Answer&>(ran) = backend_->land(flight_, patience);
  if (ran.returned) ran.exit = what_->exit;
  ran.out = ran.said.kept[BH_STREAM_STDOUT];
  ran.err = ran.said.kept[BH_STREAM_STDERR];
  return ran;
}

json::object base_profile(const std::string& workspace) {
  return {{"workspace", json::object({{"source", workspace}})}};
}

Box::Box(Try& t) : Box(t, json::object()) {}

Box::Box(Try& t, json::object profile) : t_(t), id_(t.backend.new_id()) {
  Backend& backend = t.backend;
  const bool listed = backend.plugin().profile.lists("workspace");
  if (const auto* given = json::child(profile, "workspace")) {
    workspace_ = json::text(*given, "source");
  } else if (listed) {
    workspace_ = backend.scratch() + "/w-" + id_;
    (void)::mkdir(workspace_.c_str(), 0755);
    profile["workspace"] = json::object({{"source", workspace_}});
  }
  // As the host does with its data folder, in which the provider's state lies.
  if (backend.plugin().profile.lists("hide") && profile.if_contains("hide") == nullptr) {
    profile["hide"] = json::array({backend.state()});
  }
  auto what = std::make_shared<Creation>(Creation{id_, json::print(profile)});
  const Answer answer = create(backend, what);
  if (!answer.ok()) {
    (void)backend.destroy(id_);
    Try::fail("create: " + answer.text());
  }
  handle_ = what->handle;
  std::string wrong;
  report_ = Report::parse(answer.said.result, wrong);
  t.expect(wrong.empty(), "create: " + wrong);
}

Box::~Box() {
  if (destroyed_) return;
  const Answer answer = destroy();
  t_.expect(answer.ok(), "destroy: " + answer.text());
}
void Box::release() {
  if (handle_ == nullptr || t_.backend.abandoned()) return;
  // It is the last call on a handle. One that a command does not come back from is not given back.
  for (const auto& flight : flights_) {
    if (!flight->returned.valid()) continue;
    if (flight->returned.wait_for(kStopped) != std::future_status::ready) return;
  }
  t_.backend.table().release(handle_);
  handle_ = nullptr;
}
Answer Box::destroy() {
  Answer answer = t_.backend.destroy(id_);
  destroyed_ = answer.ok();
  release();
  return answer;
}

Running Box::start(const Command& command) {
  Running running;
  running.backend_ = &t_.backend;
  running.flight_ = t_.backend.fly();
  flights_.push_back(running.flight_);
  auto what = std::make_shared<Running::What>();
  what->id = command.id.empty() ? "x" + std::to_string(++g_execs) : command.id;
  what->options = json::print(command.options);
  what->argv = command.argv;
  for (const auto& arg : what->argv) what->views.push_back(str(arg));
  what->exec.struct_size = sizeof what->exec;
  const bool input = command.input || !command.fed.empty();
  what->exec.flags = input ? BH_EXEC_INPUT : 0;
  what->exec.id = str(what->id);
  what->exec.argv = what->views.data();
  what->exec.argc = what->views.size();
  what->exec.options = str(what->options);
  what->exit.struct_size = sizeof what->exit;
  what->exit.exit_code = -1;
  what->exit.cpu_ns = what->exit.peak_bytes = -1;
  running.what_ = what;
  running.id_ = what->id;
  running.flight_->call.sink = command.sink;
  if (!command.fed.empty()) {
    running.flight_->call.feed(command.fed);
    running.flight_->call.end_of_input();
  }
  Backend::start(running.flight_,
                 [what, exec = t_.backend.table().exec, box = handle_](bh_call* c) {
                   return exec(box, c, &what->exec, &what->exit);
                 });
  return running;
}

Ran Box::sh(const std::string& script) { return run(Command{{"/bin/sh", "-c", script}}); }
Ran Box::sh(const std::string& script, json::object options) {
  return run(Command{{"/bin/sh", "-c", script}, std::move(options)});
}

Command Box::probe_command(std::vector<std::string> arguments) {
  if (workspace_.empty()) Try::skip("no workspace to put the probe into");
  const std::string path = workspace_ + "/contract-probe";
  if (!probe_there_) {
    copy_program(t_.backend.probe(), path);
    probe_there_ = true;
    const Ran first = run({path, "hello"});
    if (first.out != "hello\n") Try::skip("the probe does not run inside: " + first.told());
  }
  arguments.insert(arguments.begin(), path);
  return Command{std::move(arguments)};
}
Ran Box::probe(std::vector<std::string> arguments) {
  return run(probe_command(std::move(arguments)));
}

Answer Box::signal(const std::string& exec, int number) {
  const auto signal = t_.backend.table().signal;
  if (signal == nullptr) Try::skip("signal is not offered");
  Answer answer = t_.backend.call(
      [=, box = handle_](bh_call* c) { return signal(box, c, exec.data(), exec.size(), number); });
  if (answer.not_offered()) Try::skip("signal is not offered");
  return answer;
}
Answer Box::inspect() {
  const auto inspect = t_.backend.table().inspect;
  if (inspect == nullptr) Try::skip("inspect is not offered");
  Answer answer = t_.backend.call([=, box = handle_](bh_call* c) { return inspect(box, c); });
  if (answer.not_offered()) Try::skip("inspect is not offered");
  return answer;
}

Made try_create(Try& t, const json::object& profile) {
  auto what = std::make_shared<Creation>(Creation{t.backend.new_id(), json::print(profile)});
  Made made;
  made.answer = create(t.backend, what);
  if (made.answer.ok()) {
    made.report = Report::parse(made.answer.said.result, made.wrong);
    t.backend.table().release(what->handle);
  }
  const Answer gone = t.backend.destroy(what->id);
  t.expect(gone.ok(), "destroy after create: " + gone.text());
  return made;
}

}  // namespace bulkhead::sdk::contract
