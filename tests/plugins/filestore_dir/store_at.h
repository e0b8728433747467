// Drives filestore_dir through its table, as a host does.
#pragma once

#include <bulkhead/filestore.h>
#include <bulkhead/sdk/testing/fake_host.hpp>
#include <functional>
#include <string>
#include <vector>

extern "C" const bh_plugin* filestore_dir_entry(bh_call* call);

namespace bh_test {

namespace testing = bulkhead::sdk::testing;

// A folder that goes with the test.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string path;
};

// A call whose input is made while it is read, and whose output is only added up: gigabytes pass.
class Pouring : public testing::FakeCall {
 public:
  // `at` is told the position before each piece; a code that is not BH_OK is what receive() says.
  explicit Pouring(const bh_host* host, int64_t total = 0,
                   std::function<bh_status(int64_t)> at = {});
  int64_t received = 0, emitted = 0;
  uint64_t sum_in = 0, sum_out = 0;

 private:
  static bh_status receive(bh_call* c, void* buffer, size_t size, size_t* got);
  static bh_status emit(bh_call* c, int32_t stream, const void* data, size_t size);
  int64_t total_;
  std::function<bh_status(int64_t)> at_;
  bh_call_api table_;
};

struct Answer {
  bh_status code = BH_UNKNOWN;
  std::string data, result, message, details, etag;
  bool has(const std::string& word) const { return details.find(word) != std::string::npos; }
};

struct Entry {
  std::string name;
  int32_t kind = 0;
  int64_t size = 0, modified_ns = 0;
  std::string etag, media_type;
};

class StoreAt {
 public:
  // Throws what open() said. `limits`: further members, with a comma before each.
  explicit StoreAt(const std::string& root, const std::string& limits = {});

  Answer put(std::string_view path, std::string_view data, std::string_view if_etag = {},
             std::string_view media_type = {});
  Answer pour(Pouring& call, std::string_view path, std::string_view if_etag = {});
  Answer get(std::string_view path, int64_t offset = 0, int64_t size = -1);
  Answer get(testing::FakeCall& call, std::string_view path, int64_t offset = 0, int64_t size = -1);
  Answer stat(std::string_view path, Entry* out = nullptr);
  Answer list(std::string_view path, std::vector<Entry>& out, bool recursive = false,
              std::string_view after = {}, size_t most = SIZE_MAX);
  std::vector<std::string> names(std::string_view path, bool recursive = false,
                                 std::string_view after = {}, size_t most = SIZE_MAX);
  Answer remove(std::string_view path, bool recursive = false);

  testing::FakeHost host;

 private:
  testing::Opened<bh_filestore> store_;
};

// What open() says of that configuration.
Answer open_answer(const std::string& config, const std::string& state_dir = {});

// Runs `body` in a child process and gives what it returned; "killed" where it was. Called while
// the test has one thread.
std::string in_child(const std::function<std::string()>& body);
// The same with a file system of that type mounted over `folder`; "cannot: why" where that is
// impossible.
std::string in_child_with_mount(const std::string& folder, const char* type, const char* options,
                                const std::function<std::string()>& body);

std::vector<std::string> entries(const std::string& folder);
std::string slurp(const std::string& file);
void spill(const std::string& file, std::string_view data);

}  // namespace bh_test
