// A toolset that moves much and holds little.
#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/json.hpp>
#include <sys/mman.h>

namespace sdk = bulkhead::sdk;

namespace {

class Bulky : public sdk::Toolset {
 public:
  sdk::Status list(sdk::Call& call) override {
    const char* const definitions[] = {
        R"({"name":"echo","description":"Gives its input back.","input_schema":{"type":"object"}})",
        R"({"name":"through","description":"Has echo do it.","needs":["tool.call/1"],"input_schema":{"type":"object"}})",
        R"({"name":"attach","description":"Attaches that many zeros.","input_schema":{"type":"object","properties":{"size":{"type":"integer"}}}})"};
    for (const char* definition : definitions) {
      auto sent = call.item(definition);
      if (!sent) return sent;
    }
    return {};
  }

  sdk::Status call(sdk::Call& call, std::string_view tool, std::string_view json,
                   sdk::Blobs) override {
    if (tool == "echo") return echo(call);
    if (tool == "through") {
      auto ran = sdk::Operation("tool.call")
                     .args(R"({"name":"echo"})")
                     .pass_input()
                     .pass_output()
                     .run(call);
      if (!ran) return std::move(ran).failure();
      return done(call);
    }
    auto args = sdk::json::parse_object(json);
    if (!args) return std::move(args).failure();
    const auto size = static_cast<size_t>(args->at("size").to_number<int64_t>());
    // Pages that are only read are all the same page of zeros: nothing of it is held.
    void* zeros = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) return sdk::failure(BH_RESOURCE_EXHAUSTED, "no room for it", "memory");
    auto sent = call.attach("zeros", "application/octet-stream",
                            std::string_view(static_cast<const char*>(zeros), size));
    ::munmap(zeros, size);
    return sent ? done(call) : std::move(sent);
  }

 private:
  static sdk::Status done(sdk::Call& call) { return call.result(R"({"content":[]})"); }

  static sdk::Status echo(sdk::Call& call) {
    std::string buffer(65536, '\0');
    for (;;) {
      size_t got = 0;
      if (bh_status st = call.raw()->api->receive(call.raw(), buffer.data(), buffer.size(), &got)) {
        return sdk::Status::from(st);
      }
      if (got == 0) return done(call);
      auto sent = call.emit(BH_STREAM_DATA, std::string_view(buffer.data(), got));
      if (!sent) return sent;
    }
  }
};

}  // namespace

BULKHEAD_PLUGIN(sdk::Plugin("org.example.bulky", "Bulky", BULKHEAD_PLUGIN_VERSION)
                    .vendor("Example")
                    .license("Apache-2.0")
                    .toolset<Bulky>("bulky", sdk::Provides().title("Bulky")));
