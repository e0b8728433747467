// What the library itself costs, in one process: a start, a tool call that does nothing, the same
// over workers. Each beside what the machine needs for the bare thing, measured in the same run.
//
//   bench_calls PLUGIN_FOLDER DATA_ROOT
//
// Prints one JSON object.
#include <bulkhead/host.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::micro>(Clock::now() - from).count();
}

double median(std::vector<double> all) {
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

void need(const bulkhead::Fault& fault, const char* what) {
  if (!fault) return;
  std::fprintf(stderr, "bench: %s: %s\n", what, fault.message().c_str());
  std::exit(1);
}

// The rounds' median of how long `round` takes for one of its `count`.
template <class Round>
double each(int rounds, int count, Round round) {
  std::vector<double> times;
  for (int i = 0; i < rounds; i++) {
    const auto begin = Clock::now();
    round(count);
    times.push_back(microseconds(begin) / count);
  }
  return median(std::move(times));
}

// One number handed to another thread and back: what a call over a worker cannot be faster than.
double hand_off(int count) {
  std::mutex mutex;
  std::condition_variable changed;
  int asked = 0, answered = 0;
  std::thread other([&] {
    std::unique_lock lock(mutex);
    for (int i = 1; i <= count; i++) {
      changed.wait(lock, [&] { return asked == i; });
      answered = i;
      changed.notify_one();
    }
  });
  const auto begin = Clock::now();
  {
    std::unique_lock lock(mutex);
    for (int i = 1; i <= count; i++) {
      asked = i;
      changed.notify_one();
      changed.wait(lock, [&] { return answered == i; });
    }
  }
  const double spent = microseconds(begin) / count;
  other.join();
  return spent;
}

class Bench {
 public:
  Bench(const std::string& config) {
    need(bulkhead::Runtime::make(config, runtime_), "the runtime");
    need(bulkhead::Session::make(runtime_, R"({"persona":"default"})", session_), "the session");
    need(bulkhead::Queue::make(runtime_, queue_), "the queue");
    need(bulkhead::Request::make("tool.call", R"({"name":"echo","arguments":{"text":"x"}})", echo_),
         "the request");
  }

  void inline_calls(int count) {
    for (int i = 0; i < count; i++) {
      need(bulkhead::do_now(session_, echo_, queue_, 1), "bh_do");
      drain();
    }
  }

  void over_workers(int count, int in_flight) {
    std::vector<bulkhead::Run> runs(static_cast<std::size_t>(in_flight));
    int started = 0, ended = 0;
    auto start = [&](std::size_t place) {
      need(bulkhead::Run::start(session_, echo_, queue_, place, runs[place]), "bh_start");
      started++;
    };
    for (std::size_t place = 0; place < runs.size() && started < count; place++) start(place);
    while (ended < count) {
      bulkhead::Event event;
      need(queue_.next(-1, event), "bh_queue_next");
      if (!event || !event.last()) continue;
      need(event.fault(), "a call");
      ended++;
      if (started < count) start(event.tag());
    }
  }

 private:
  void drain() {
    for (;;) {
      bulkhead::Event event;
      need(queue_.next(0, event), "bh_queue_next");
      if (!event) return;
      need(event.fault(), "a call");
    }
  }

  bulkhead::Runtime runtime_;
  bulkhead::Session session_;
  bulkhead::Queue queue_;
  bulkhead::Request echo_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_calls PLUGIN_FOLDER DATA_ROOT\n");
    return 2;
  }
  const std::string config = R"({"version":1,"data_root":")" + std::string(argv[2]) +
                             R"(","plugins":{"path":[")" + argv[1] + R"("]}})";
  std::vector<double> starts;
  for (int i = 0; i < 21; i++) {
    const auto begin = Clock::now();
    bulkhead::Runtime runtime;
    need(bulkhead::Runtime::make(config, runtime), "the runtime");
    starts.push_back(microseconds(begin));
    need(runtime.close(5000), "close");
  }
  Bench bench(config);
  bench.inline_calls(100);
  const double alone = each(15, 2000, [&](int n) { bench.inline_calls(n); });
  const double worker = each(9, 500, [&](int n) { bench.over_workers(n, 1); });
  const double many = each(9, 4000, [&](int n) { bench.over_workers(n, 32); });
  std::vector<double> bare;
  for (int i = 0; i < 9; i++) bare.push_back(hand_off(2000));
  const double hand = median(std::move(bare));
  std::printf(
      R"({"runtime_new_us":%.0f,"first_runtime_new_us":%.0f,"do_us":%.2f,"worker_alone_us":%.2f,)"
      R"("worker_32_us":%.2f,"hand_off_us":%.2f,"worker_alone_per_hand_off":%.2f,)"
      R"("worker_32_per_hand_off":%.2f})"
      "\n",
      median(starts), starts.front(), alone, worker, many, hand, worker / hand, many / hand);
  return 0;
}
