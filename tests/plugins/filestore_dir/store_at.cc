#include "store_at.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace bh_test {

namespace sdk = bulkhead::sdk;

TempFolder::TempFolder() {
  char name[] = "/tmp/bh-files-XXXXXX";
  path = ::mkdtemp(name);
}
TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

Pouring::Pouring(const bh_host* host, int64_t total, std::function<bh_status(int64_t)> at)
    : FakeCall(host), total_(total), at_(std::move(at)), table_(*raw()->api) {
  table_.receive = &receive;
  table_.emit = &emit;
  raw()->api = &table_;
}

namespace {

// Differs from place to place, and costs little: the time is the store's.
char pattern(int64_t at) { return static_cast<char>((at >> 12) * 31 + 7); }

void add(uint64_t& sum, int64_t at, const char* data, size_t size) {
  for (size_t i = 0; i < size; i += 997) {
    sum = sum * 31 + static_cast<unsigned char>(data[i]);
  }
  (void)at;
}

}  // namespace

bh_status Pouring::receive(bh_call* c, void* buffer, size_t size, size_t* got) {
  auto& me = static_cast<Pouring&>(of(c));
  if (me.at_) {
    if (const bh_status st = me.at_(me.received); st != BH_OK) return st;
  }
  const auto n = static_cast<size_t>(
      std::min<int64_t>(me.total_ - me.received, static_cast<int64_t>(std::min(size, size_t{1} << 20))));
  auto* out = static_cast<char*>(buffer);
  for (size_t i = 0; i < n; i += 4096) {
    std::memset(out + i, pattern(me.received + static_cast<int64_t>(i)), std::min<size_t>(4096, n - i));
  }
  add(me.sum_in, me.received, out, n);
  me.received += static_cast<int64_t>(n);
  *got = n;
  return BH_OK;
}

bh_status Pouring::emit(bh_call* c, int32_t, const void* data, size_t size) {
  auto& me = static_cast<Pouring&>(of(c));
  add(me.sum_out, me.emitted, static_cast<const char*>(data), size);
  me.emitted += static_cast<int64_t>(size);
  return BH_OK;
}

namespace {

Answer answer_of(const testing::FakeCall& call, bh_status code) {
  testing::Recorded got = call.recorded();
  Answer out;
  out.code = code;
  out.data = std::move(got.output[BH_STREAM_DATA]);
  out.result = got.result;
  if (code != BH_OK) out.message = got.message, out.details = got.details;
  const size_t at = out.result.find("\"etag\":\"");
  if (at != std::string::npos) {
    out.etag = out.result.substr(at + 8, out.result.find('"', at + 8) - at - 8);
  }
  return out;
}

struct Collecting {
  std::vector<Entry>* out;
  size_t most;
};

bh_status collect(void* ctx, const bh_file_info* info) {
  auto& to = *static_cast<Collecting*>(ctx);
  if (to.out->size() >= to.most) return BH_OUT_OF_RANGE;
  to.out->push_back({std::string(sdk::view(info->name)), info->kind, info->size, info->modified_ns,
                     std::string(sdk::view(info->etag)), std::string(sdk::view(info->media_type))});
  return BH_OK;
}

std::string config_of(const std::string& root, const std::string& limits) {
  return "{\"root\":" + sdk::json_quote(root) + limits + "}";
}

}  // namespace

StoreAt::StoreAt(const std::string& root, const std::string& limits)
    : store_(host.open<bh_filestore>(&filestore_dir_entry, BH_FILESTORE, "dir",
                                     config_of(root, limits))) {}

Answer StoreAt::put(std::string_view path, std::string_view data, std::string_view if_etag,
                    std::string_view media_type) {
  testing::FakeCall call(host.raw());
  bh_write what{};
  what.struct_size = sizeof what;
  what.if_etag = sdk::str(if_etag);
  what.media_type = sdk::str(media_type);
  what.data = data.data();
  what.size = data.size();
  return answer_of(call, store_->write(store_.self(), call.raw(), path.data(), path.size(), &what));
}

Answer StoreAt::pour(Pouring& call, std::string_view path, std::string_view if_etag) {
  bh_write what{};
  what.struct_size = sizeof what;
  what.flags = BH_WRITE_INPUT;
  what.if_etag = sdk::str(if_etag);
  return answer_of(call, store_->write(store_.self(), call.raw(), path.data(), path.size(), &what));
}

Answer StoreAt::get(std::string_view path, int64_t offset, int64_t size) {
  testing::FakeCall call(host.raw());
  return get(call, path, offset, size);
}

Answer StoreAt::get(testing::FakeCall& call, std::string_view path, int64_t offset, int64_t size) {
  return answer_of(
      call, store_->read(store_.self(), call.raw(), path.data(), path.size(), offset, size));
}

Answer StoreAt::stat(std::string_view path, Entry* out) {
  testing::FakeCall call(host.raw());
  std::vector<Entry> got;
  Collecting to{&got, SIZE_MAX};
  Answer a = answer_of(
      call, store_->stat(store_.self(), call.raw(), path.data(), path.size(), &collect, &to));
  if (out != nullptr && got.size() == 1) *out = got[0];
  return a;
}

Answer StoreAt::list(std::string_view path, std::vector<Entry>& out, bool recursive,
                     std::string_view after, size_t most) {
  testing::FakeCall call(host.raw());
  Collecting to{&out, most};
  return answer_of(call, store_->list(store_.self(), call.raw(), path.data(), path.size(),
                                      recursive ? BH_LIST_RECURSIVE : 0, after.data(),
                                      after.size(), &collect, &to));
}

std::vector<std::string> StoreAt::names(std::string_view path, bool recursive,
                                        std::string_view after, size_t most) {
  std::vector<Entry> got;
  (void)list(path, got, recursive, after, most);
  std::vector<std::string> out;
  for (const Entry& e : got) out.push_back(e.name);
  return out;
}

Answer StoreAt::remove(std::string_view path, bool recursive) {
  testing::FakeCall call(host.raw());
  return answer_of(call, store_->remove(store_.self(), call.raw(), path.data(), path.size(),
                                        recursive ? BH_LIST_RECURSIVE : 0));
}

Answer open_answer(const std::string& config, const std::string& state_dir) {
  testing::FakeHost host;
  testing::FakeCall call(host.raw());
  const bh_plugin* plugin = filestore_dir_entry(call.raw());
  const bh_provider* provider = testing::FakeHost::find(plugin, BH_FILESTORE, "dir");
  bh_opening how{};
  how.struct_size = sizeof how;
  how.config = sdk::str(config);
  how.state_dir = sdk::str(state_dir);
  void* self = nullptr;
  const bh_status st = provider->open(call.raw(), &how, &self);
  if (st == BH_OK) provider->close(self);
  return answer_of(call, st);
}

std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    std::string said;
    try {
      said = body();
    } catch (const std::exception& e) {
      said = std::string("exception: ") + e.what();
    }
    (void)!::write(ends[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string out;
  char buffer[4096];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    out.append(buffer, static_cast<size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? "killed" : out;
}

std::string in_child_with_mount(const std::string& folder, const char* type, const char* options,
                                const std::function<std::string()>& body) {
  return in_child([&]() -> std::string {
    const auto uid = ::getuid();
    const auto gid = ::getgid();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return "cannot: no user namespace";
    spill("/proc/self/setgroups", "deny");
    spill("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1");
    spill("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1");
    if (::mount(type, folder.c_str(), type, 0, options) != 0) {
      return std::string("cannot: no mount of ") + type;
    }
    return body();
  });
}

std::vector<std::string> entries(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& e : std::filesystem::directory_iterator(folder)) {
    out.push_back(e.path().filename().string());
  }
  return out;
}

std::string slurp(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void spill(const std::string& file, std::string_view data) {
  std::ofstream(file, std::ios::binary) << data;
}

}  // namespace bh_test
