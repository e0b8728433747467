#include "live.h"

namespace ns {

using isolation::Launched;
using sdk::Status;

BrokerClient::Plan plan_of(const Tools& tools, const Prepared& prepared) {
  BrokerClient::Plan plan;
  plan.blueprint = encode(prepared.blueprint);
  plan.entry = encode(prepared.entry);
  const isolation::Fd& wide = prepared.set_ids ? tools.set_id_filter : tools.packages_filter;
  plan.filter = (prepared.entry.capabilities != 0 ? wide : tools.filter).get();
  plan.own_network = prepared.entry.own_network != 0;
  plan.shared_processes = prepared.profile.shared_processes;
  return plan;
}

Live::~Live() { end(); }

Status Live::build(sdk::Call& call) {
  std::lock_guard turn(building_);
  {
    std::lock_guard lock(m_);
    if (built_ && broker_.alive(number_)) return {};
    if (built_) {
      built_ = false;
      ready_.reset();
      return sdk::failure(BH_ABORTED,
                          "the process that held this sandbox has died: what it kept in memory "
                          "(/dev/shm, commands that ran) is gone, its files are not",
                          "broker_lost", {},
                          "run the command again; the sandbox is built anew for it");
    }
  }
  points_.make(prepared_.view);
  auto made = broker_.make(call, plan_of(tools_, prepared_));
  if (!made) {
    // What has worked lately does not any more: the next process is to try it first.
    if (made.status().code() == BH_FAILED_PRECONDITION) tools_.memo.forget();
    return std::move(made).failure();
  }
  std::lock_guard lock(m_);
  number_ = *made;
  built_ = true;
  return {};
}

sdk::Result<Launched> Live::start(const isolation::LaunchOrder& order,
                                  const std::vector<isolation::Fd>& doors) {
  for (int attempt = 0;; ++attempt) {
    std::optional<Launched> inside;
    bool more = false;
    BrokerClient::Number number;
    {
      std::lock_guard lock(m_);
      inside.swap(ready_);
      number = number_;
      // What looks for files that were not there before must look now, not earlier.
      more = ++commands_ > 1 && prepared_.entry.late.empty();
    }
    if (!inside) {
      auto entered = broker_.enter(number);
      if (!entered) return std::move(entered).failure();
      inside = std::move(*entered);
    }
    const bool root = prepared_.who.ids == isolation::Ids::kShifted;
    auto st = give_task(*inside, order.task, order.input, doors,
                        root ? prepared_.who.uid : isolation::kNobody,
                        root ? prepared_.who.gid : isolation::kNobody);
    if (!st && st.code() == BH_UNAVAILABLE && attempt < 3) continue;
    if (!st) return std::move(st).failure();
    if (more) {
      // Nothing is waited for: it comes to be while this command runs.
      auto next = broker_.enter(number);
      std::lock_guard lock(m_);
      if (next && !ready_ && built_) ready_ = std::move(*next);
    }
    return std::move(*inside);
  }
}

sdk::Result<isolation::Fd> Live::dial(sdk::Call& call, uint32_t port) {
  BrokerClient::Number number;
  {
    std::lock_guard lock(m_);
    number = number_;
    if (!built_) {
      return sdk::failure(BH_UNAVAILABLE, "nothing runs in the sandbox", "nobody_listens", "port",
                          "start a server in the sandbox first");
    }
  }
  return broker_.dial(call, number, port);
}

void Live::end() {
  BrokerClient::Number number;
  {
    std::lock_guard lock(m_);
    if (!built_) return;
    built_ = false;
    ready_.reset();
    number = number_;
  }
  broker_.drop(number);
  std::lock_guard turn(building_);
  points_.remove();
}

}  // namespace ns
