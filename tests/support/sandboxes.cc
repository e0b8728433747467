#include "support/sandboxes.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <bulkhead/sdk/json.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace bh_test {

namespace sdk = bulkhead::sdk;

namespace {

std::string library_of(const std::string& provider) {
  const std::string folder = "isolation_" + provider;
  return std::string(BH_BINARY_DIR) + "/plugins/" + folder + "/" + folder + ".so";
}

testing::FakeHost::Entry entry_of(const std::string& provider) {
  const std::string path = library_of(provider);
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  void* entry = ::dlsym(library, "bh_plugin_entry_v1");
  if (entry == nullptr) throw std::runtime_error("no entry in " + path);
  return reinterpret_cast<testing::FakeHost::Entry>(entry);
}

std::atomic<int> g_execs{0};

}  // namespace

bool is_built(const std::string& provider) { return exists(library_of(provider)); }

std::string scratch() {
  std::string path = std::string(BH_BINARY_DIR) + "/tests/scratch";
  // A build tree may itself lie where sandboxes have a folder of their own.
  for (const char* own : {"/tmp/", "/var/tmp/"}) {
    if (path.rfind(own, 0) == 0) path = "/srv/bulkhead-test-scratch";
  }
  if (::mkdir(path.c_str(), 0755) == 0) (void)::chmod(path.c_str(), 01777);
  return ::access(path.c_str(), W_OK) == 0 ? path : "/var/tmp";
}

Folder::Folder(const std::string& below) {
  std::string pattern = below + "/bulkhead-test-XXXXXX";
  const char* made = ::mkdtemp(pattern.data());
  if (made == nullptr) throw std::runtime_error("mkdtemp in " + below);
  path_ = std::filesystem::canonical(made);
}
Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}
std::string Folder::make(const std::string& name) const {
  const std::string path = path_ + "/" + name;
  std::filesystem::create_directories(path);
  return path;
}
std::string Folder::write(const std::string& name, const std::string& text) const {
  const std::string path = path_ + "/" + name;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}
std::string read(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}
bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

struct Backend::Inside {
  std::unique_ptr<Folder> own_state;
  testing::FakeHost host;
  std::unique_ptr<testing::Opened<bh_isolation>> opened;
  std::string provider, config;
  std::mutex m;
  std::map<std::string, void*> boxes;
};

Backend::Backend(const std::string& provider, const std::string& state, const std::string& config)
    : in_(std::make_unique<Inside>()), state_(state) {
  if (state_.empty()) {
    in_->own_state = std::make_unique<Folder>();
    state_ = in_->own_state->path();
  }
  in_->provider = provider;
  in_->config = config;
  in_->opened = std::make_unique<testing::Opened<bh_isolation>>(
      in_->host.open<bh_isolation>(entry_of(provider), BH_ISOLATION, provider, config, state_));
}
Backend::~Backend() {
  while (!in_->boxes.empty()) release(in_->boxes.begin()->first);
}

const bh_isolation& Backend::table() const {
  return *static_cast<const bh_isolation*>(in_->opened->provider().table);
}
void* Backend::self() const { return in_->opened->self(); }

// What a sandbox says whose folders lie below scratch(): not every file system takes all backends'. Once
// each; main thread only.
static std::string on_this_ground(const std::string& provider) {
  static std::map<std::string, std::string> known;
  const auto at = known.find(provider);
  if (at != known.end()) return at->second;
  Folder folder;
  Backend trial(provider);
  const std::string profile = R"({"workspace":{"source":)" + quote(folder.make("work")) + "}}";
  const bh_status st = trial.create("trial", profile);
  std::string why = st == BH_OK ? "" : trial.message;
  (void)trial.destroy("trial");
  // Any other fault is for the tests to find.
  if (st != BH_OK && trial.details.find("\"unmapped\"") == std::string::npos) why.clear();
  return known[provider] = why;
}

std::string Backend::unavailable() const {
  testing::FakeCall call(in_->host.raw());
  bh_opening how{};
  how.struct_size = sizeof how;
  how.config = sdk::str(in_->config);
  const auto& provider = in_->opened->provider();
  if (provider.probe != nullptr && provider.probe(call.raw(), &how) != BH_OK) {
    return call.recorded().message;
  }
  return on_this_ground(in_->provider);
}

void Backend::note(const testing::FakeCall& call) {
  const testing::Recorded got = call.recorded();
  message = got.message;
  details = got.details;
  report = got.result;
}

bh_status Backend::create(const std::string& id, const std::string& profile) {
  testing::FakeCall call(in_->host.raw());
  void* box = nullptr;
  const bh_status st = table().create(self(), call.raw(), id.data(), id.size(), profile.data(),
                                      profile.size(), &box);
  note(call);
  if (st == BH_OK) {
    release(id);
    in_->boxes[id] = box;
  }
  return st;
}
bh_status Backend::find(const std::string& id) {
  testing::FakeCall call(in_->host.raw());
  void* box = nullptr;
  const bh_status st = table().find(self(), call.raw(), id.data(), id.size(), &box);
  note(call);
  if (st == BH_OK) {
    release(id);
    in_->boxes[id] = box;
  }
  return st;
}
bh_status Backend::destroy(const std::string& id) {
  testing::FakeCall call(in_->host.raw());
  const bh_status st = table().destroy(self(), call.raw(), id.data(), id.size());
  note(call);
  return st;
}
std::string Backend::plan(const std::string& profile) {
  testing::FakeCall call(in_->host.raw());
  (void)table().plan(self(), call.raw(), profile.data(), profile.size());
  note(call);
  return report;
}
std::vector<std::string> Backend::list() {
  testing::FakeCall call(in_->host.raw());
  (void)table().list(self(), call.raw());
  note(call);
  return call.recorded().items;
}
void* Backend::handle(const std::string& id) const { return in_->boxes.at(id); }
const bh_host* Backend::host() const { return in_->host.raw(); }
void Backend::release(const std::string& id) {
  const auto it = in_->boxes.find(id);
  if (it == in_->boxes.end()) return;
  table().release(it->second);
  in_->boxes.erase(it);
}

Ran Backend::run(const std::string& id, const Command& command) {
  testing::FakeCall call(in_->host.raw());
  if (command.has_input) call.input(command.input);
  std::vector<bh_str> argv;
  for (const auto& arg : command.argv) argv.push_back(sdk::str(arg));
  const std::string exec = command.id.empty() ? "x" + std::to_string(++g_execs) : command.id;
  bh_exec what{};
  what.struct_size = sizeof what;
  what.flags = command.has_input ? BH_EXEC_INPUT : 0;
  what.id = sdk::str(exec);
  what.argv = argv.data();
  what.argc = argv.size();
  what.options = sdk::str(command.options);
  Ran ran;
  ran.exit.struct_size = sizeof ran.exit;
  ran.exit.exit_code = -1;
  ran.exit.cpu_ns = ran.exit.peak_bytes = -1;
  std::thread beside;
  if (command.beside) beside = std::thread([&] { command.beside(call); });
  const auto started = std::chrono::steady_clock::now();
  ran.status = table().exec(in_->boxes.at(id), call.raw(), &what, &ran.exit);
  ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (beside.joinable()) beside.join();
  testing::Recorded got = call.recorded();
  ran.message = got.message;
  ran.details = got.details;
  ran.result = got.result;
  ran.out = got.output[BH_STREAM_STDOUT];
  ran.err = got.output[BH_STREAM_STDERR];
  ran.input_ended = got.input_ended;
  return ran;
}
Ran Backend::sh(const std::string& id, const std::string& script, const std::string& options) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.options = options;
  return run(id, command);
}
bh_status Backend::signal(const std::string& id, const std::string& exec, int number) {
  testing::FakeCall call(in_->host.raw());
  const bh_status st =
      table().signal(in_->boxes.at(id), call.raw(), exec.data(), exec.size(), number);
  note(call);
  return st;
}

namespace {

std::string of_line(const std::string& report, const std::string& rule, const char* key) {
  auto parsed = sdk::json::parse_object(report);
  if (!parsed) return {};
  const auto* rules = sdk::json::list(*parsed, "rules");
  for (const auto& line : rules != nullptr ? *rules : sdk::json::array()) {
    if (sdk::json::text(line.get_object(), "rule") == rule) {
      return std::string(sdk::json::text(line.get_object(), key));
    }
  }
  return {};
}

}  // namespace

std::string rule_status(const std::string& report, const std::string& rule) {
  return of_line(report, rule, "status");
}
std::string rule_reason(const std::string& report, const std::string& rule) {
  return of_line(report, rule, "reason");
}

std::string quote(const std::string& text) { return sdk::json_quote(text); }

}  // namespace bh_test
