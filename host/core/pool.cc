#include "core/pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

#include "core/clock.h"
#include "core/spin.h"

namespace bh {

namespace {
// Deep enough for any parser of ours and a plugin's; stated in abi/README.md.
constexpr std::size_t kStack = 2u << 20;
constexpr auto kIdle = std::chrono::seconds(10);
constexpr auto kGuardEvery = std::chrono::milliseconds(1);
// What is quick work, and how much of it may wait for one thread that is at work.
constexpr std::int64_t kQuickNs = 20'000;
constexpr std::size_t kLeftToOne = 64;
}  // namespace

struct Pool::State : std::enable_shared_from_this<Pool::State> {
  State(std::size_t most_threads, bool may_queue) : most(most_threads), queues(may_queue) {}

  const std::size_t most;
  const bool queues;
  std::mutex mutex;
  std::condition_variable work_there;
  std::condition_variable guard_called;
  std::condition_variable thread_gone;
  std::deque<std::function<LastWord()>> work;
  long lent = 0;
  std::size_t threads = 0;
  std::size_t idle = 0;     // have no work, or no more than its last word
  std::size_t talking = 0;  // of them: say a last word, and come for work right after
  bool spinning = false;    // of them: one looks for work without having gone to sleep
  bool guarded = false;     // of them: one is on guard
  bool called = false;      // the guard is wanted for work
  bool ended = false;

  std::size_t left = 0;   // of the work: no thread was woken for it
  std::size_t taken = 0;  // how much work was ever taken
  bool dense = false;     // since the guard last looked, work came while there was work
  std::int64_t usual_ns = INT64_MAX;  // how long it takes of late
  Patience patience;
  std::atomic<bool> look{false};  // to the one that spins: there is something

  std::size_t places() const { return most + static_cast<std::size_t>(lent > 0 ? lent : 0); }
  std::size_t running() const { return threads - idle; }
  bool quick() const { return usual_ns < kQuickNs; }
  bool due() const { return ended || !work.empty(); }

  void loop();
  bool wait_for_work(std::unique_lock<std::mutex>& lock);
  bool sleep(std::unique_lock<std::mutex>& lock);
  void guard(std::unique_lock<std::mutex>& lock);
  void take_one(std::unique_lock<std::mutex>& lock);
  void note_duration(std::int64_t ns);
  bool is_seen_to() const;
  bool may_be_left() const;
  enum class Told { kNone, kSleeper, kNew, kGuard };
  Told add_thread();
  void tell(Told who);
  bool make_thread();
  void end();
};

Pool::Pool(std::size_t most, bool queues) : state_(std::make_shared<State>(most, queues)) {}

Pool::~Pool() {
  std::lock_guard lock(state_->mutex);
  state_->end();
}

void Pool::State::end() {
  ended = true;
  look = true;
  work_there.notify_all();
  guard_called.notify_all();
}

// False: there was none for so long that the thread may end.
bool Pool::State::wait_for_work(std::unique_lock<std::mutex>& lock) {
  if (due()) return true;
  const std::int64_t since = monotonic_ns();
  if (const std::int64_t ns = patience.spin_ns(); ns > 0 && !spinning) {
    spinning = true;
    look = false;
    lock.unlock();
    (void)Patience::spin(ns, [&] { return look.load(std::memory_order_acquire); });
    lock.lock();
    spinning = false;
  }
  const bool there = due() || sleep(lock);
  patience.note(monotonic_ns() - since);
  return there;
}

bool Pool::State::sleep(std::unique_lock<std::mutex>& lock) {
  if (quick() && dense && !guarded) guard(lock);
  return work_there.wait_for(lock, kIdle, [&] { return due(); });
}

// Until work has to be taken, or comes so seldom that each has a thread woken for it.
void Pool::State::guard(std::unique_lock<std::mutex>& lock) {
  guarded = true;
  while (!ended && !called && quick() && dense) {
    dense = false;
    const std::size_t before = taken;
    guard_called.wait_for(lock, kGuardEvery, [&] { return ended || called; });
    if (!work.empty() && taken == before) break;
    dense = dense || !work.empty();
  }
  guarded = false;
  called = false;
}

void Pool::State::note_duration(std::int64_t ns) {
  // One slow call makes work slow, several quick ones make it quick again.
  constexpr std::int64_t kSlow = 8 * kQuickNs;
  usual_ns = ns >= kQuickNs ? kSlow : usual_ns > kSlow ? ns : (usual_ns * 3 + ns) / 4;
}

void Pool::State::take_one(std::unique_lock<std::mutex>& lock) {
  idle--;
  taken++;
  std::function<LastWord()> next = std::move(work.front());
  work.pop_front();
  left = std::min(left, work.size());
  // With nobody on guard, who takes some of what was left sees to the rest; so does who comes then.
  const Told told = left > 0 && !guarded ? add_thread() : Told::kNone;
  if (told != Told::kNone) left--;
  lock.unlock();
  tell(told);
  const std::int64_t begun = monotonic_ns();
  LastWord last_word = next();
  next = nullptr;  // what it holds may be the last of a runtime: freed outside the lock
  const std::int64_t took = monotonic_ns() - begun;
  lock = lock_soon(mutex);
  note_duration(took);
  idle++;
  talking++;
  lock.unlock();
  if (last_word) last_word();
  last_word = nullptr;
  lock = lock_soon(mutex);
  talking--;
}

void Pool::State::loop() {
  std::unique_lock lock(mutex);
  for (;;) {
    const bool there = wait_for_work(lock);
    if (!work.empty()) {
      take_one(lock);
    } else if (!there || ended) {
      break;
    }
  }
  idle--;
  threads--;
  thread_gone.notify_all();
}

void* Pool::thread_main(void* given) {
  std::unique_ptr<std::shared_ptr<State>> held(static_cast<std::shared_ptr<State>*>(given));
  pthread_setname_np(pthread_self(), "bulkhead");
  (*held)->loop();
  return nullptr;
}

bool Pool::State::make_thread() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  auto held = std::make_unique<std::shared_ptr<State>>(shared_from_this());
  pthread_t thread;
  int failed = 0;
  {
    SignalsBlocked inherited_by_the_thread;
    failed = pthread_create(&thread, &attributes, &Pool::thread_main, held.get());
  }
  pthread_attr_destroy(&attributes);
  if (failed != 0) return false;
  (void)held.release();
  threads++;
  idle++;
  return true;
}

// One more thread on its way to the work, or the guard. kNone: no more than are on their way. Who is
// to be told is told once the mutex is free, or would wait for it at once.
Pool::State::Told Pool::State::add_thread() {
  // Each piece that was not left has one of those that do not run.
  const std::size_t free = idle - (guarded && !called ? 1 : 0);
  if (free > work.size() - left) return Told::kSleeper;
  if (threads < places() && make_thread()) return Told::kNew;
  if (!guarded || called) return Told::kNone;
  called = true;
  return Told::kGuard;
}

void Pool::State::tell(Told who) {
  if (who == Told::kSleeper) work_there.notify_one();
  if (who == Told::kGuard) guard_called.notify_one();
}

// One more piece of work has a thread that is awake and comes for it.
bool Pool::State::is_seen_to() const { return talking + (spinning ? 1 : 0) > work.size(); }

bool Pool::State::may_be_left() const {
  const std::size_t at_work = running() + talking;
  return guarded && quick() && at_work > 0 && work.size() < kLeftToOne * at_work;
}

bool Pool::start(std::function<LastWord()> work) {
  State& s = *state_;
  auto lock = lock_soon(s.mutex);
  if (s.ended) return false;
  const bool full = s.idle <= s.work.size() && s.running() + s.work.size() >= s.places();
  if (full && !s.queues) return false;
  if (s.running() > 0 || !s.work.empty()) s.dense = true;
  auto told = State::Told::kNone;
  if (!s.is_seen_to()) {
    if (s.may_be_left()) {
      s.left++;
    } else {
      told = s.add_thread();
      const bool may_wait = s.threads > 0 && (full || s.queues);
      if (told == State::Told::kNone && !may_wait) return false;
    }
  }
  s.work.push_back(std::move(work));
  s.look.store(true, std::memory_order_release);
  lock.unlock();
  s.tell(told);
  return true;
}

void Pool::lend(int places) {
  std::lock_guard lock(state_->mutex);
  state_->lent += places;
}

bool Pool::end(std::chrono::milliseconds timeout) {
  std::unique_lock lock(state_->mutex);
  state_->end();
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
