// sandbox.exec, .signal and .resize: commands in a sandbox.
#include <bulkhead/isolation_state.h>

#include <algorithm>

#include "core/output_keeper.h"
#include "operations/catalogue.h"
#include "operations/command.h"
#include "operations/rooms.h"
#include "sandbox/denials.h"
#include "sandbox/exec_result.h"

namespace bh {
namespace {

// Counts what a command writes and hands it on, or keeps head and tail of it for the result.
class ExecSink final : public PassSink {
 public:
  ExecSink(Call& up, bool collect) : PassSink(up), collect_(collect) {}

  bh_status emit(Call& from, int stream, std::string_view bytes) override {
    bool is_error = stream == BH_STREAM_STDERR;
    {
      std::lock_guard lock(mutex_);
      (is_error ? stderr_bytes_ : stdout_bytes_) += static_cast<std::int64_t>(bytes.size());
      if (collect_) (is_error ? stderr_ : stdout_).append(bytes);
      if (is_error) keep_end(bytes);
    }
    return collect_ ? from.stop_reason() : PassSink::emit(from, stream, bytes);
  }

  void tell(json::object& result) {
    std::lock_guard lock(mutex_);
    result["stdout_bytes"] = stdout_bytes_;
    result["stderr_bytes"] = stderr_bytes_;
    if (!collect_) return;
    result["stdout"] = stdout_.result();
    result["stderr"] = stderr_.result();
  }

  // The last of what went to stderr, where programs say why they failed.
  std::string last_words() {
    std::lock_guard lock(mutex_);
    return last_words_.substr(last_words_.size() - std::min(last_words_.size(), kLastWords));
  }

 private:
  static constexpr std::size_t kLastWords = 4096;

  void keep_end(std::string_view bytes) {
    last_words_ += bytes.substr(bytes.size() - std::min(bytes.size(), kLastWords));
    if (last_words_.size() > 4 * kLastWords) last_words_.erase(0, last_words_.size() - kLastWords);
  }

  const bool collect_;
  std::mutex mutex_;
  std::string last_words_;
  std::int64_t stdout_bytes_ = 0;
  std::int64_t stderr_bytes_ = 0;
  OutputKeeper stdout_;
  OutputKeeper stderr_;
};

Result<void> announce(Call& call, const Sandbox& sandbox, const std::string& exec) {
  json::object started;
  started["sandbox"] = sandbox.id;
  started["exec"] = exec;
  started["backend"] = sandbox.opened->backend->id();
  started["enforcement"] = sandbox.report;
  bh_status st = call.item(json::print(json::object{{"started", std::move(started)}}));
  if (st != BH_OK) return tl::unexpected(stop_error(st));
  return {};
}

Result<void> exec(Call& call, const Arguments& args) {
  auto argv = argv_of(args.values);
  if (!argv) return tl::unexpected(std::move(argv).error());
  auto found = sandbox_for(call, args.values);
  if (!found) return tl::unexpected(std::move(found).error());
  const Sandbox& sandbox = **found;
  const Backend& backend = *sandbox.opened->backend;
  json::object options = options_of(args.values, sandbox.env);
  BH_TRY(check_options(*sandbox.opened, options));

  std::string id = new_name('x');
  std::string option_text = json::print(options);
  std::vector<bh_str> pointers;
  for (const std::string& a : *argv) pointers.push_back({a.data(), a.size()});
  bh_exec what{};
  what.struct_size = sizeof what;
  what.flags = BH_EXEC_INPUT;
  what.id = {id.data(), id.size()};
  what.argv = pointers.data();
  what.argc = pointers.size();
  what.options = {option_text.data(), option_text.size()};
  BH_TRY(announce(call, sandbox, id));

  ExecSink sink(call, json::get_bool(args.values, "collect"));
  bh_exit exit = fresh_exit();
  auto done = drive(call, backend.host(), backend.who("exec"), sink, call.input(), [&](bh_call* c) {
    return backend.table().exec(sandbox.handle, c, &what, &exit);
  });
  json::object result{{"sandbox", sandbox.id}, {"exec", id}};
  for (auto& member : exit_members(exit)) result[member.key()] = std::move(member.value());
  sink.tell(result);
  json::array denials;
  if (done) {
    if (auto told = json::parse(*done); told && told->is_object()) {
      if (const json::array* listed = json::get_array(told->get_object(), "denials")) {
        denials = *listed;
      }
    }
  }
  if (denials.empty() && exit.reason == BH_EXIT_CODE && exit.exit_code > 0) {
    denials = guess_denials(sink.last_words(), sandbox.report);
  }
  result["denials"] = std::move(denials);
  // Also of one that was stopped: what it did until then becomes the fault's "partial".
  BH_TRY(call.set_result(json::print(result)));
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

Result<void> signal(Call& call, const Arguments& args) {
  auto found = rooms_of(call).sandboxes.get(call, std::string(json::get_string(args.values, "sandbox")));
  if (!found) return tl::unexpected(std::move(found).error());
  const Sandbox& sandbox = **found;
  const Backend& backend = *sandbox.opened->backend;
  std::string id(json::get_string(args.values, "exec"));
  auto number = static_cast<std::int32_t>(json::get_int(args.values, "signal"));
  NullSink nowhere;
  NoInput none;
  auto done = drive(call, backend.host(), backend.who("signal"), nowhere, none, [&](bh_call* c) {
    return backend.table().signal(sandbox.handle, c, id.data(), id.size(), number);
  });
  if (!done) return tl::unexpected(std::move(done).error());
  return call.set_result("{}");
}

Result<void> resize(Call& call, const Arguments& args) {
  auto found = rooms_of(call).sandboxes.get(call, std::string(json::get_string(args.values, "sandbox")));
  if (!found) return tl::unexpected(std::move(found).error());
  const Sandbox& sandbox = **found;
  const Backend& backend = *sandbox.opened->backend;
  const auto* pty = static_cast<const bh_isolation_pty*>(backend.table().get_extension(BH_ISOLATION_PTY));
  if (pty == nullptr || !BH_HAS(pty, bh_isolation_pty, resize) || pty->resize == nullptr) {
    return fail(BH_UNIMPLEMENTED, "the backend " + backend.id() + " has no terminals", "no_terminal",
                {{"backend", backend.id()}});
  }
  std::string id(json::get_string(args.values, "exec"));
  auto rows = static_cast<std::uint32_t>(json::get_int(args.values, "rows"));
  auto cols = static_cast<std::uint32_t>(json::get_int(args.values, "cols"));
  NullSink nowhere;
  NoInput none;
  auto done = drive(call, backend.host(), backend.who("resize"), nowhere, none, [&](bh_call* c) {
    return pty->resize(sandbox.handle, c, id.data(), id.size(), rows, cols);
  });
  if (!done) return tl::unexpected(std::move(done).error());
  return call.set_result("{}");
}

}  // namespace

void add_exec_operations(const AddOperation& add) {
  OperationSpec spec;
  spec.name = "sandbox.exec";
  spec.summary =
      "Runs one command to its end, in the sandbox named or in the persona's default one.";
  spec.args_schema =
      R"({"type":"object","required":["argv"],"properties":{)" + command_properties() +
      R"(,"tty":{"type":"object","properties":{"rows":{"type":"integer","minimum":1},"cols":{"type":"integer","minimum":1},"term":{"type":"string"}}},)"
      R"("collect":{"type":"boolean","description":"The output goes into the result, 256 KiB of head and tail of each stream, instead of being streamed."}}})";
  spec.result_schema =
      R"({"type":"object","properties":{"sandbox":{"type":"string"},"exec":{"type":"string"},"exit":{"type":"object","properties":{"reason":{"enum":["code","signal","memory","time","output","policy","stopped","lost","unknown"]},"code":{"type":["integer","null"]},"signal":{"type":["integer","null"]}}},"output_open":{"type":"boolean"},"leftovers":{"type":"boolean"},"wall_ms":{"type":["integer","null"]},"cpu_ms":{"type":["integer","null"]},"peak_bytes":{"type":["integer","null"]},"stdout_bytes":{"type":"integer"},"stderr_bytes":{"type":"integer"},"stdout":{"type":"object"},"stderr":{"type":"object"},"denials":{"type":"array"}}})";
  spec.input = "the command's stdin; without input it is empty";
  spec.output =
      "first an item {started:{sandbox, exec, backend, enforcement}}; streams 1 (stdout) and 2 (stderr)";
  spec.reasons = {"backend_not_permitted", "backend_unavailable", "exec_option_unsupported",
                  "image_unknown", "image_unsupported", "not_enforced", "sandbox_ended",
                  "sandbox_not_found", "sandbox_owned", "sandbox_state", "workspace_refused"};
  spec.run = exec;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.signal";
  spec.summary = "Sends a signal to a command, or to all processes of a sandbox.";
  spec.args_schema =
      R"({"type":"object","required":["sandbox","signal"],"properties":{"sandbox":{"type":"string"},"exec":{"type":"string","description":"Without it: all."},"signal":{"type":"integer","minimum":1,"maximum":64,"description":"Linux's number."}}})";
  spec.result_schema = R"({"type":"object","properties":{}})";
  spec.lane = Lane::kControl;
  spec.reasons = {"exec_ended", "sandbox_not_found"};
  spec.run = signal;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.resize";
  spec.summary = "Tells a command's terminal its new size.";
  spec.args_schema =
      R"({"type":"object","required":["sandbox","exec","rows","cols"],"properties":{"sandbox":{"type":"string"},"exec":{"type":"string"},"rows":{"type":"integer","minimum":1,"maximum":65535},"cols":{"type":"integer","minimum":1,"maximum":65535}}})";
  spec.result_schema = R"({"type":"object","properties":{}})";
  spec.lane = Lane::kControl;
  spec.repeatable = true;
  spec.reasons = {"exec_ended", "no_terminal", "sandbox_not_found"};
  spec.run = resize;
  add(std::move(spec));
}

}  // namespace bh
