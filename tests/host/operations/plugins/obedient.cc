// A backend whose sandboxes are files in its state folder, and a toolset. The operator's config says
// what they answer, so that a test can have them break each rule.
#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/json.hpp>

#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>

#include "memory_store.h"
#include "runners.h"

namespace sdk = bulkhead::sdk;

namespace {

// Commands that wait, by id: what they were last sent.
struct Waiting {
  std::mutex mutex;
  std::map<std::string, int32_t> sent;
};
Waiting& waiting() {
  static Waiting all;
  return all;
}

class Box : public sdk::Sandbox, public sdk::Pause {
 public:
  Box(std::string state, std::string id) : state_(std::move(state)), id_(std::move(id)) {}

  sdk::Status exec(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) override {
    const std::string program(what.arg(0));
    if (program == "wait") return wait(call, what, out);
    if (program == "options") {
      out.exited(0);
      return call.emit(BH_STREAM_STDOUT, what.options());
    }
    if (program == "cat") {
      std::string buffer(65536, '\0');
      size_t got = 0;
      do {
        if (bh_status st = call.raw()->api->receive(call.raw(), buffer.data(), buffer.size(), &got)) {
          return sdk::Status::from(st);
        }
        auto sent = call.emit(BH_STREAM_STDOUT, std::string_view(buffer.data(), got));
        if (!sent) return sent;
      } while (got != 0);
      out.exited(0);
      return {};
    }
    for (size_t i = 1; i < what.argc(); i++) {
      auto sent = call.emit(i % 2 == 1 ? BH_STREAM_STDOUT : BH_STREAM_STDERR, what.arg(i));
      if (!sent) return sent;
    }
    out.exited(3);
    return call.result(R"({"denials":[{"rule":"files:/x"}]})");
  }
  sdk::Status signal(sdk::Call&, std::string_view exec, int32_t number) override {
    std::ofstream(state_ + "/log", std::ios::app)
        << "signal " << id_ << " [" << exec << "] " << number << "\n";
    if (exec.empty()) return {};
    std::lock_guard<std::mutex> lock(waiting().mutex);
    auto at = waiting().sent.find(std::string(exec));
    if (at == waiting().sent.end()) {
      return sdk::failure(BH_NOT_FOUND, "no such command runs", "no_command");
    }
    // The one that ends it is not lost to one that does not.
    if (number == 9 || number == 15) at->second = number;
    return {};
  }
  sdk::Status inspect(sdk::Call& call) override {
    return call.result(R"({"state":"running","usage":{"memory_bytes":5,"pids":2}})");
  }
  sdk::Status pause(sdk::Call&) override { return note("pause"); }
  sdk::Status resume(sdk::Call&) override { return note("resume"); }

 private:
  sdk::Status note(const char* what) {
    std::ofstream(state_ + "/log", std::ios::app) << what << " " << id_ << "\n";
    return {};
  }
  // Until it is cancelled or sent what ends it: SIGTERM, and of a stubborn one SIGKILL.
  static sdk::Status wait(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) {
    const std::string id(what.id());
    const bool stubborn = what.argc() > 1 && what.arg(1) == "stubborn";
    {
      std::lock_guard<std::mutex> lock(waiting().mutex);
      waiting().sent[id] = 0;
    }
    sdk::Status ended;
    for (;;) {
      if (bh_status st = call.raw()->api->wait(call.raw(), 2'000'000)) {
        out.reason = BH_EXIT_STOPPED;
        ended = sdk::Status::from(st);
        break;
      }
      std::lock_guard<std::mutex> lock(waiting().mutex);
      const int32_t sent = waiting().sent[id];
      if (sent != 9 && (sent != 15 || stubborn)) continue;
      out.reason = BH_EXIT_SIGNAL;
      out.signal = sent;
      break;
    }
    std::lock_guard<std::mutex> lock(waiting().mutex);
    waiting().sent.erase(id);
    return ended;
  }

  const std::string state_, id_;
};

class Boxes : public sdk::Isolation {
 public:
  explicit Boxes(const sdk::Opening& how) : state_(how.state_dir()) {
    config_ = std::move(*sdk::json::parse_object(how.config()));
  }

  static const void* extension(std::string_view id) { return sdk::extensions<sdk::Pause>(id); }

  sdk::Status plan(sdk::Call& call, std::string_view profile) override {
    note("plan", profile);
    return report(call);
  }
  sdk::Result<std::unique_ptr<sdk::Sandbox>> create(sdk::Call& call, std::string_view id,
                                                    std::string_view profile) override {
    note("create", id);
    note("profile", profile);
    std::ofstream(path_of(id)) << "x";
    if (sdk::json::boolean(config_, "create_fails")) {
      return sdk::failure(BH_RESOURCE_EXHAUSTED, "no room for a sandbox", "disk");
    }
    auto told = report(call);
    if (!told) return std::move(told).failure();
    return std::make_unique<Box>(state_, std::string(id));
  }
  sdk::Result<std::unique_ptr<sdk::Sandbox>> find(sdk::Call& call, std::string_view id) override {
    note("find", id);
    if (!std::ifstream(path_of(id))) return sdk::failure(BH_NOT_FOUND, "it is gone", "sandbox_not_found");
    auto told = report(call);
    if (!told) return std::move(told).failure();
    return std::make_unique<Box>(state_, std::string(id));
  }
  sdk::Status destroy(sdk::Call&, std::string_view id) override {
    note("destroy", id);
    if (sdk::json::boolean(config_, "destroy_fails")) {
      return sdk::failure(BH_UNAVAILABLE, "not now", "busy");
    }
    std::remove(path_of(id).c_str());
    return {};
  }

 private:
  std::string path_of(std::string_view id) const { return state_ + "/" + std::string(id) + ".box"; }
  sdk::Status report(sdk::Call& call) {
    const std::string_view text = sdk::json::text(config_, "report");
    return text.empty() ? sdk::Status() : call.result(text);
  }
  void note(std::string_view what, std::string_view of) {
    static std::mutex one_at_a_time;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    std::ofstream(state_ + "/log", std::ios::app) << what << " " << of << "\n";
  }

  const std::string state_;
  boost::json::object config_;
};

class Tools : public sdk::Toolset {
 public:
  static sdk::Result<std::unique_ptr<Tools>> open(sdk::Call& call, const sdk::Opening& how) {
    auto config = sdk::json::parse_object(how.config());
    if (!config) return std::move(config).failure();
    const std::string needs(sdk::json::text(*config, "open_needs"));
    if (!needs.empty() && !std::ifstream(needs)) {
      return sdk::failure(BH_UNAVAILABLE, "there is no " + needs, "missing");
    }
    const std::string waits(sdk::json::text(*config, "open_waits_for"));
    while (!waits.empty() && !std::ifstream(waits)) {
      if (bh_status st = call.raw()->api->wait(call.raw(), 5'000'000)) {
        return sdk::failure(st, "stopped while opening", "stopped");
      }
    }
    return std::make_unique<Tools>();
  }

  sdk::Status list(sdk::Call& call) override {
    const char* const definitions[] = {
        R"({"name":"say","description":"Says it.","input_schema":{"type":"object","additionalProperties":false,"required":["text"],"properties":{"text":{"type":"string"}}}})",
        R"({"name":"lenient","description":"Takes it anyhow.","input_schema":{"type":"object","properties":{"n":{"type":"array"}}},"accepts_schema":{"type":"object","additionalProperties":false,"properties":{"n":{"type":["array","string"]},"m":{"type":"integer"}}}})",
        R"({"name":"promises","description":"Promises a number.","input_schema":{"type":"object","properties":{"text":{"type":"string"}}},"output_schema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}})",
        R"({"name":"raw","description":"Gives back what it is told.","input_schema":{"type":"object","properties":{"text":{"type":"string"}}}})",
        R"({"name":"runs","description":"Runs an operation.","needs":["host.inspect/1","tool.call/1"],"input_schema":{"type":"object","properties":{"text":{"type":"string"},"args":{"type":"object"}}}})",
        R"({"name":"upper","description":"Gives its input back.","input_schema":{"type":"object","properties":{}}})",
        R"({"name":"blobs","description":"Counts its blobs.","input_schema":{"type":"object","properties":{}}})",
        // What is wrong, and left out with a word in the log.
        R"({"name":"no spaces","description":"x","input_schema":{"type":"object"}})",
        R"({"name":"no_schema","description":"x"})",
        R"({"name":"no_description","input_schema":{"type":"object"}})",
        R"({"name":"keyword","description":"x","input_schema":{"type":"object","unevaluatedProperties":false}})",
        R"({"name":"needs_none_such","description":"x","needs":["no.such/1"],"input_schema":{"type":"object"}})",
        R"({"name":"say","description":"The second of its name.","input_schema":{"type":"object"}})",
        R"([1])"};
    for (const char* definition : definitions) {
      auto sent = call.item(definition);
      if (!sent) return sent;
    }
    return {};
  }

  sdk::Status call(sdk::Call& call, std::string_view tool, std::string_view json,
                   sdk::Blobs blobs) override {
    auto args = sdk::json::parse_object(json);
    if (!args) return std::move(args).failure();
    const std::string text(sdk::json::text(*args, "text"));
    if (tool == "raw" || tool == "promises") return call.result(text);
    if (tool == "lenient") return call.result(content(std::string(json)));
    if (tool == "blobs") {
      std::string all;
      for (size_t i = 0; i < blobs.size(); i++) all += std::string(sdk::bytes(blobs[i])) + ";";
      return call.result(content(all));
    }
    if (tool == "upper") return pass(call);
    if (tool == "runs") {
      auto ran = sdk::Operation(text).args(sdk::json::print(boost::json::value(
          sdk::json::child(*args, "args") != nullptr ? *sdk::json::child(*args, "args")
                                                     : boost::json::object()))).run(call);
      if (!ran) return std::move(ran).failure();
      return call.result(content("ran"));
    }
    return call.result(content(text));
  }

 private:
  static std::string content(const std::string& text) {
    return sdk::json::print(boost::json::object{
        {"content", boost::json::array{boost::json::object{{"type", "text"}, {"text", text}}}}});
  }
  static sdk::Status pass(sdk::Call& call) {
    std::string buffer(65536, '\0');
    for (;;) {
      size_t got = 0;
      if (bh_status st = call.raw()->api->receive(call.raw(), buffer.data(), buffer.size(), &got)) {
        return sdk::Status::from(st);
      }
      if (got == 0) return call.result(content("done"));
      auto sent = call.emit(BH_STREAM_STDOUT, std::string_view(buffer.data(), got));
      if (!sent) return sent;
    }
  }
};

sdk::Provides boxes() {
  return sdk::Provides()
      .title("Boxes")
      .config_schema(
          R"({"type":"object","additionalProperties":false,"properties":{"report":{"type":"string"},"create_fails":{"type":"boolean"},"destroy_fails":{"type":"boolean"}}})")
      .profile_schema(
          R"({"type":"object","additionalProperties":false,"properties":{"network":{"type":"object","additionalProperties":false,"properties":{"mode":{"enum":["off"]}}},"limits":{"type":"object","additionalProperties":false,"properties":{"pids":{"type":"integer"}}}}})")
      .exec_schema(
          R"({"type":"object","additionalProperties":false,"properties":{"cwd":{"type":"string"},"limits":{"type":"object","additionalProperties":false,"properties":{"wall_ms":{"type":"integer"}}}}})");
}

}  // namespace

BULKHEAD_PLUGIN(sdk::Plugin("org.example.obedient", "Obedient", BULKHEAD_PLUGIN_VERSION)
                    .vendor("Example")
                    .license("Apache-2.0")
                    .isolation<Boxes>("boxes", boxes())
                    .isolation<Boxes>("process", boxes().title("Boxes without walls").exec_schema(
                        R"({"type":"object","additionalProperties":false,"properties":{"env":{"type":"object","additionalProperties":{"type":"string"}}}})"))
                    .isolation<Boxes>("rooted", boxes().title("Boxes that start from images").capabilities(R"({"root":["host","image"]})").profile_schema(
                        R"({"type":"object","additionalProperties":false,"properties":{"root":{"type":"object","additionalProperties":false,"properties":{"view":{"enum":["host"]},"image":{"type":"string"}}},"env":{"type":"object","additionalProperties":false,"properties":{"allow":{"type":"array","items":{"type":"string"}},"set":{"type":"object","additionalProperties":{"type":"string"}}}},"network":{"type":"object","additionalProperties":false,"properties":{"mode":{"enum":["off"]}}}}})"))
                    .isolation<obedient::Runners>("runners", obedient::runners())
                    .isolation<obedient::Keepers>("keepers", obedient::runners().title("Keepers"))
                    .filestore<obedient::MemoryStore>("memory", obedient::memory_store())
                    .toolset<Tools>(
                        "tools",
                        sdk::Provides().title("Tools").config_schema(
                            R"({"type":"object","additionalProperties":false,"properties":{"open_needs":{"type":"string"},"open_waits_for":{"type":"string"}}})")));
