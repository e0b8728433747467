// A small embedder over host.h, for tests: a runtime with a data folder of its own and the plugin
// "obedient" (tests/host/operations/plugins), and calls that come back as one value.
#pragma once

#include <bulkhead/host.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bh_test {

struct Fault {
  bh_status code = BH_OK;
  std::string message, details;
  bool has(std::string_view word) const { return details.find(word) != std::string::npos; }
};

// Takes a fault over; none is empty.
inline Fault take(bh_fault* f) {
  Fault out;
  if (f == nullptr) return out;
  out.code = bh_fault_code(f);
  size_t n = 0;
  const char* text = bh_fault_message(f, &n);
  out.message.assign(text, n);
  text = bh_fault_details(f, &n);
  out.details.assign(text, n);
  bh_fault_free(f);
  return out;
}

struct Answer {
  int last = 0;  // 0: it did not even start, or not end
  std::string result;
  Fault fault;
  std::vector<std::string> items;
  std::string out, err;
};

class Place {
 public:
  Place() {
    char name[] = "/tmp/bh-embed-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  std::string path;
};

// `more`: further members of the configuration, with a comma before each.
inline std::string config_at(const std::string& data_root, const std::string& more = {}) {
  return R"({"version":1,"data_root":")" + data_root + R"(","plugins":{"path":[")" BH_BINARY_DIR
         R"(/tests/plugins"],"environment":false,"user":false,"relative":false,"system":false})" +
         more + "}";
}

class Embedder {
 public:
  explicit Embedder(const std::string& config) {
    bh_fault* f = nullptr;
    (void)bh_runtime_new(config.data(), config.size(), &runtime, &f);
    fault = take(f);
    if (runtime == nullptr) return;
    (void)bh_queue_new(runtime, &queue, nullptr);
    session = open_session(R"({"persona":"default"})");
  }
  ~Embedder() {
    bh_session_free(session);
    bh_queue_free(queue);
    if (runtime != nullptr) (void)bh_runtime_close(runtime, 10'000, nullptr);
    bh_runtime_free(runtime);
  }
  Embedder(const Embedder&) = delete;
  Embedder& operator=(const Embedder&) = delete;

  bh_session* open_session(std::string_view config) {
    bh_session* s = nullptr;
    (void)bh_session_new(runtime, config.data(), config.size(), &s, nullptr);
    return s;
  }

  static bh_request* request(std::string_view operation, std::string_view args, Fault* why = nullptr) {
    bh_fault* f = nullptr;
    bh_request* r = nullptr;
    if (bh_request_new(operation.data(), operation.size(), &r, &f) == BH_OK &&
        bh_request_args(r, args.data(), args.size(), &f) != BH_OK) {
      bh_request_free(r);
      r = nullptr;
    }
    Fault said = take(f);
    if (why != nullptr) *why = std::move(said);
    return r;
  }

  // Events of this queue until the run with that tag has ended.
  Answer finish(uint64_t tag, int32_t timeout_ms = 30'000) {
    Answer answer;
    while (answer.last == 0) {
      bh_event* e = nullptr;
      if (bh_queue_next(queue, timeout_ms, &e, nullptr) != BH_OK || e == nullptr) return answer;
      if (bh_event_tag(e) == tag) note(e, answer);
      bh_event_free(e);
    }
    return answer;
  }

  Answer call(std::string_view operation, std::string_view args, bh_session* by = nullptr,
              std::string_view input = {}) {
    Answer answer;
    bh_request* r = request(operation, args, &answer.fault);
    if (r == nullptr) return answer;
    if (!input.empty()) (void)bh_request_input(r, nullptr);
    bh_fault* f = nullptr;
    bh_run* run = nullptr;
    const uint64_t tag = ++tags_;
    if (bh_start(by != nullptr ? by : session, r, queue, tag, &run, &f) == BH_OK) {
      size_t taken = 0;
      if (!input.empty()) {
        (void)bh_run_send(run, input.data(), input.size(), &taken, nullptr);
        (void)bh_run_send_end(run, nullptr);
      }
      answer = finish(tag);
    } else {
      answer.fault = take(f);
    }
    bh_run_free(run);
    bh_request_free(r);
    return answer;
  }

  static void note(bh_event* e, Answer& answer) {
    size_t n = 0;
    const char* data = static_cast<const char*>(bh_event_data(e, &n));
    const std::string bytes(data, n);
    switch (bh_event_kind(e)) {
      case BH_EVENT_OUTPUT:
        (bh_event_stream(e) == BH_STREAM_STDERR ? answer.err : answer.out) += bytes;
        break;
      case BH_EVENT_ITEM:
        answer.items.push_back(bytes);
        break;
      case BH_EVENT_RESULT:
        answer.result = bytes;
        answer.last = BH_EVENT_RESULT;
        break;
      case BH_EVENT_FAULT: {
        const bh_fault* f = bh_event_fault(e);
        answer.fault = {bh_fault_code(f), bh_fault_message(f, nullptr), bh_fault_details(f, nullptr)};
        answer.last = BH_EVENT_FAULT;
        break;
      }
      default:
        break;
    }
  }

  bh_runtime* runtime = nullptr;
  bh_session* session = nullptr;
  bh_queue* queue = nullptr;
  Fault fault;

 private:
  uint64_t tags_ = 0;
};

}  // namespace bh_test
