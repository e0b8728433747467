#include "core/pool.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace bh {

namespace {
// Deep enough for any parser of ours and a plugin's; stated in abi/README.md.
constexpr std::size_t kStack = 2u << 20;
constexpr auto kIdle = std::chrono::seconds(10);
}  // namespace

struct Pool::State {
  std::mutex mutex;
  std::condition_variable work_there;
  std::condition_variable thread_gone;
  std::deque<std::function<LastWord()>> work;
  std::size_t most = 0;
  bool queues = false;
  long lent = 0;
  std::size_t threads = 0;
  std::size_t idle = 0;
  bool ended = false;

  std::size_t places() const { return most + static_cast<std::size_t>(lent > 0 ? lent : 0); }
  void loop();
};

Pool::Pool(std::size_t most, bool queues) : state_(std::make_shared<State>()) {
  state_->most = most;
  state_->queues = queues;
}

Pool::~Pool() {
  std::lock_guard lock(state_->mutex);
  state_->ended = true;
  state_->work_there.notify_all();
}

void Pool::State::loop() {
  std::unique_lock lock(mutex);
  idle++;
  for (;;) {
    bool due = work_there.wait_for(lock, kIdle, [&] { return ended || !work.empty(); });
    if (work.empty()) {
      if (due && !ended) continue;
      idle--;
      return;
    }
    idle--;
    std::function<LastWord()> next = std::move(work.front());
    work.pop_front();
    lock.unlock();
    LastWord last_word = next();
    next = nullptr;  // what it holds may be the last of a runtime: freed outside the lock
    lock.lock();
    idle++;
    lock.unlock();
    if (last_word) last_word();
    last_word = nullptr;
    lock.lock();
  }
}

void* Pool::thread_main(void* given) {
  std::unique_ptr<std::shared_ptr<State>> held(static_cast<std::shared_ptr<State>*>(given));
  State& state = **held;
  pthread_setname_np(pthread_self(), "bulkhead");
  state.loop();
  std::lock_guard lock(state.mutex);
  state.threads--;
  state.thread_gone.notify_all();
  return nullptr;
}

bool Pool::start(std::function<LastWord()> work) {
  std::lock_guard lock(state_->mutex);
  if (state_->ended) return false;
  bool free_thread = state_->idle > state_->work.size();
  bool may_grow = state_->threads < state_->places();
  if (!free_thread && !may_grow && !state_->queues) return false;
  if (!free_thread && may_grow) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStack);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    auto held = std::make_unique<std::shared_ptr<State>>(state_);
    pthread_t thread;
    int failed = 0;
    {
      SignalsBlocked inherited_by_the_thread;
      failed = pthread_create(&thread, &attributes, &Pool::thread_main, held.get());
    }
    pthread_attr_destroy(&attributes);
    if (failed == 0) {
      (void)held.release();
      state_->threads++;
    } else if (state_->threads == 0 || !state_->queues) {
      return false;
    }
  }
  state_->work.push_back(std::move(work));
  state_->work_there.notify_one();
  return true;
}

void Pool::lend(int places) {
  std::lock_guard lock(state_->mutex);
  state_->lent += places;
}

bool Pool::end(std::chrono::milliseconds timeout) {
  std::unique_lock lock(state_->mutex);
  state_->ended = true;
  state_->work_there.notify_all();
  return state_->thread_gone.wait_for(lock, timeout, [&] { return state_->threads == 0; });
}

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);
  // What a fault of the thread itself raises must stay deliverable: blocked, it would kill the
  // process without a handler's say.
  for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&all, s);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace bh
