#include "backend.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace bulkhead::sdk::contract {

std::string Answer::text() const {
  if (!returned) return "the call did not return";
  std::string out(code_name(status));
  if (!said.message.empty()) out += ": " + said.message;
  return out;
}
std::string Answer::reason() const {
  auto details = json::parse_object(said.details);
  return details ? std::string(json::text(*details, "reason")) : std::string();
}

std::string Try::show(const std::string& text) {
  std::string out = to_utf8(text.substr(0, 200));
  return json_quote(out) + (text.size() > 200 ? "..." : "");
}

Backend::Backend(const Plugin& plugin, const Host& host, std::string config, std::string scratch,
                 std::string probe)
    : plugin_(plugin),
      host_(host),
      config_(std::move(config)),
      scratch_(scratch),
      probe_(std::move(probe)),
      owner_("contract-" + std::to_string(::getpid())),
      state_(scratch_.make("state")) {
  (void)::chmod(state_.c_str(), 0700);
}
Backend::~Backend() { close(); }

std::shared_ptr<Flight> Backend::fly() const { return std::make_shared<Flight>(host_.raw()); }

void Backend::start(const std::shared_ptr<Flight>& flight, Function f) {
  std::thread([flight, f = std::move(f)] {
    // As a host's threads, but for what a crash raises, which has to be told.
    sigset_t all, after;
    ::sigfillset(&all);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
      ::sigdelset(&all, number);
    }
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    ::pthread_sigmask(SIG_SETMASK, nullptr, &all);
    const auto begun = std::chrono::steady_clock::now();
    const bh_status st = f(flight->call.raw());
    flight->seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (int number = 1; number < NSIG; ++number) {
      if (::sigismember(&all, number) != ::sigismember(&after, number)) flight->mask_changed = true;
    }
    flight->call.over(st);
    flight->promise.set_value(st);
  }).detach();
}

Answer Backend::land(const std::shared_ptr<Flight>& flight, milliseconds patience) {
  Answer out;
  if (flight->returned.wait_for(patience) != std::future_status::ready) {
    flight->call.stop(BH_CANCELLED);
    if (flight->returned.wait_for(kStopped) != std::future_status::ready) abandoned_ = true;
    // What comes this late is no answer either.
    out.said = flight->call.said();
    kept_.push_back(flight);
    return out;
  }
  out.returned = true;
  out.status = flight->returned.get();
  out.seconds = flight->seconds;
  out.said = flight->call.said();
  if (flight->mask_changed) misuse_.emplace_back("the calling thread's signal mask was changed");
  kept_.push_back(flight);  // so that a use after the return is seen and not a crash
  if (kept_.size() > 256) kept_.erase(kept_.begin());
  return out;
}

Answer Backend::call(Function f, milliseconds patience) {
  auto flight = fly();
  start(flight, std::move(f));
  return land(flight, patience);
}

namespace {

// What open() borrows.
struct Opening {
  std::string config, owner, state;
  void* self = nullptr;
  bh_opening raw() const {
    bh_opening how{};
    how.struct_size = sizeof how;
    how.config = str(config);
    how.instance = str("contract");
    how.owner = str(owner);
    how.state_dir = str(state);
    return how;
  }
};

}  // namespace

Answer Backend::probe_here() {
  auto opening = std::make_shared<Opening>(Opening{config_, owner_, state_});
  const bh_provider* provider = plugin_.provider;
  if (!BH_HAS(provider, bh_provider, probe) || provider->probe == nullptr) {
    Answer fine;
    fine.returned = true;
    fine.status = BH_OK;
    return fine;
  }
  return call([opening, provider](bh_call* c) {
    const bh_opening how = opening->raw();
    return provider->probe(c, &how);
  });
}

Answer Backend::open() {
  close();
  auto opening = std::make_shared<Opening>(Opening{config_, owner_, state_});
  const bh_provider* provider = plugin_.provider;
  Answer out = call([opening, provider](bh_call* c) {
    if (provider->open == nullptr) return bh_status{BH_OK};
    const bh_opening how = opening->raw();
    return provider->open(c, &how, &opening->self);
  });
  if (out.ok()) {
    self_ = opening->self;
    opened_ = true;
  }
  return out;
}
void Backend::close() {
  if (!opened_ || abandoned_) return;
  opened_ = false;
  if (plugin_.provider->close != nullptr) plugin_.provider->close(self_);
}

Answer Backend::open_second(std::shared_ptr<void>& out) {
  auto opening = std::make_shared<Opening>(Opening{config_, owner_, state_});
  const bh_provider* provider = plugin_.provider;
  Answer answer = call([opening, provider](bh_call* c) {
    if (provider->open == nullptr) return bh_status{BH_OK};
    const bh_opening how = opening->raw();
    return provider->open(c, &how, &opening->self);
  });
  if (answer.ok()) {
    out = std::shared_ptr<void>(opening->self, [provider](void* self) {
      if (provider->close != nullptr) provider->close(self);
    });
  }
  return answer;
}

Answer Backend::plan(const json::object& profile) {
  const auto plan = table().plan;
  if (plan == nullptr) {
    Answer none;
    none.returned = true;
    none.status = BH_UNIMPLEMENTED;
    return none;
  }
  return call([plan, self = self_, text = json::print(profile)](bh_call* c) {
    return plan(self, c, text.data(), text.size());
  });
}
Answer Backend::list() {
  const auto list = table().list;
  if (list == nullptr) {
    Answer none;
    none.returned = true;
    none.status = BH_UNIMPLEMENTED;
    return none;
  }
  return call([list, self = self_](bh_call* c) { return list(self, c); });
}
Answer Backend::destroy(const std::string& id) {
  return call([destroy = table().destroy, self = self_, id](bh_call* c) {
    return destroy(self, c, id.data(), id.size());
  });
}
std::string Backend::new_id() {
  return "c" + std::to_string(::getpid()) + "-" + std::to_string(++ids_);
}

std::vector<std::string> Backend::misuse() {
  std::vector<std::string> out = std::move(misuse_);
  misuse_.clear();
  for (const auto& flight : kept_) {
    for (std::string& one : flight->call.take_misuse()) out.push_back(std::move(one));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace bulkhead::sdk::contract
