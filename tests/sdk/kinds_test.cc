// Browser drivers and file stores through their C tables.
#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/testing/fake_host.hpp>
#include <map>

#include "support/catch.h"

using namespace bulkhead::sdk;
using bulkhead::sdk::testing::FakeCall;
using bulkhead::sdk::testing::FakeHost;

namespace {

int sessions = 0;

class Pages : public Browser {
  struct Session : BrowserSession {
    Session() { ++sessions; }
    ~Session() override { --sessions; }
    Status act(Call& call, std::string_view action, std::string_view, Blobs) override {
      if (action == "throw") throw std::runtime_error("lost the page");
      return call.result(json_quote(action));
    }
  };

 public:
  Result<std::unique_ptr<BrowserSession>> start(Call&, std::string_view id,
                                                std::string_view) override {
    if (id == "none") return failure(BH_UNAVAILABLE, "no browser is here", "no_browser");
    return std::make_unique<Session>();
  }
};

// Files in memory; a test of the tables, not of a store.
class Memory : public FileStore {
 public:
  Status stat(Call&, std::string_view path, const EachFile& each) override {
    const auto it = files_.find(path);
    if (it == files_.end()) return failure(BH_NOT_FOUND, "no such file", "gone", "path");
    return each(info("", it->second));
  }
  Status list(Call&, std::string_view, bool, std::string_view after,
              const EachFile& each) override {
    for (auto it = files_.upper_bound(after); it != files_.end(); ++it) {
      if (auto st = each(info(it->first, it->second)); !st) return st;
    }
    return {};
  }
  Status read(Call& call, std::string_view path, int64_t offset, int64_t size) override {
    const std::string_view all = files_.find(path)->second;
    return call.emit(BH_STREAM_DATA, all.substr(static_cast<size_t>(offset),
                                                size < 0 ? all.npos : static_cast<size_t>(size)));
  }
  Status write(Call& call, std::string_view path, const FileWrite& what) override {
    std::string data(what.data());
    char buffer[3];
    while (what.from_input()) {
      auto got = call.receive(buffer, sizeof buffer);
      if (!got) return got.status();
      if (*got == 0) break;
      data.append(buffer, *got);
    }
    files_[std::string(path)] = std::move(data);
    return call.result("{}");
  }
  Status remove(Call&, std::string_view path, bool) override {
    files_.erase(std::string(path));
    return {};
  }

 private:
  static bh_file_info info(std::string_view name, const std::string& data) {
    bh_file_info out{};
    out.struct_size = sizeof out;
    out.kind = BH_FILE_REGULAR;
    out.name = str(name);
    out.size = static_cast<int64_t>(data.size());
    return out;
  }
  std::map<std::string, std::string, std::less<>> files_;
};

Plugin& kinds() {
  static Plugin plugin = std::move(Plugin("org.example.kinds", "Kinds", "1.0.0")
                                       .browser<Pages>("pages", Provides().session_schema("{}"))
                                       .filestore<Memory>("memory"));
  return plugin;
}

bh_status note(void* ctx, const bh_file_info* info) {
  auto& names = *static_cast<std::vector<std::string>*>(ctx);
  names.emplace_back(view(info->name));
  return names.size() == 2 ? BH_ABORTED : BH_OK;
}

bh_write data(std::string_view bytes, uint32_t flags = 0) {
  bh_write w{};
  w.struct_size = sizeof w;
  w.flags = flags;
  w.data = bytes.data();
  w.size = bytes.size();
  return w;
}

}  // namespace

TEST_CASE("a browser's sessions start, act and end") {
  FakeHost host;
  auto pages = host.open<bh_browser>(&detail::Entry<&kinds>::enter, BH_BROWSER, "pages");
  CHECK(std::string(pages->session_schema) == "{}");
  FakeCall call(host.raw());
  void* session = nullptr;
  CHECK(pages->start(pages.self(), call.raw(), "none", 4, "{}", 2, &session) == BH_UNAVAILABLE);
  CHECK(session == nullptr);
  REQUIRE(pages->start(pages.self(), call.raw(), "a", 1, "{}", 2, &session) == BH_OK);
  CHECK(sessions == 1);
  CHECK(pages->act(session, call.raw(), "click", 5, "{}", 2, nullptr, 0) == BH_OK);
  CHECK(call.recorded().result == "\"click\"");
  CHECK(pages->act(session, call.raw(), "throw", 5, "{}", 2, nullptr, 0) == BH_INTERNAL);
  CHECK(call.recorded().message == "lost the page");
  pages->stop(session);
  CHECK(sessions == 0);
}

TEST_CASE("a file store writes, lists, reads and removes") {
  FakeHost host;
  auto store = host.open<bh_filestore>(&detail::Entry<&kinds>::enter, BH_FILESTORE, "memory");
  FakeCall call(host.raw());
  call.input("streamed", 3);
  const auto write = [&](std::string_view path, const bh_write& w) {
    return store->write(store.self(), call.raw(), path.data(), path.size(), &w);
  };
  REQUIRE(write("a", data("one")) == BH_OK);
  REQUIRE(write("b", data("", BH_WRITE_INPUT)) == BH_OK);
  REQUIRE(write("c", data("three")) == BH_OK);
  CHECK(write("d", data("x", 1u << 9)) == BH_UNIMPLEMENTED);

  std::vector<std::string> names;
  CHECK(store->list(store.self(), call.raw(), "", 0, 0, "", 0, &note, &names) == BH_ABORTED);
  CHECK(names == std::vector<std::string>{"a", "b"});
  CHECK(store->list(store.self(), call.raw(), "", 0, 64, "", 0, &note, &names) == BH_UNIMPLEMENTED);
  names.clear();
  CHECK(store->stat(store.self(), call.raw(), "b", 1, &note, &names) == BH_OK);
  CHECK(store->stat(store.self(), call.raw(), "x", 1, &note, &names) == BH_NOT_FOUND);
  CHECK(store->read(store.self(), call.raw(), "b", 1, 2, 4) == BH_OK);
  CHECK(call.recorded().output[BH_STREAM_DATA] == "ream");
  CHECK(store->remove(store.self(), call.raw(), "b", 1, BH_LIST_RECURSIVE) == BH_OK);
  CHECK(store->remove(store.self(), call.raw(), "b", 1, 8) == BH_UNIMPLEMENTED);
}
