// One sandbox as this process has it: built once, entered for each command.
#pragma once

#include <bulkhead/sdk/isolation/command.hpp>
#include <bulkhead/sdk/isolation/points.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "prepare.h"

namespace ns {

// What the broker is told to build.
BrokerClient::Plan plan_of(const Tools& tools, const Prepared& prepared);

// Shared by all handles on a sandbox. [any]
class Live {
 public:
  Live(const Tools& tools, BrokerClient& broker, std::string state, Prepared prepared)
      : tools_(tools), broker_(broker), prepared_(std::move(prepared)), points_(std::move(state)) {}
  ~Live();
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  const Prepared& prepared() const { return prepared_; }

  // Builds it where it is not yet. ABORTED (`broker_lost`), once: the broker that held it has died,
  // and the next call builds it anew. [blocking]
  sdk::Status build(sdk::Call& call);

  // A first process inside that has its task. A ready-made one where there is one; from the second
  // command on the next one is made beside it. [blocking]
  sdk::Result<isolation::Launched> start(const isolation::LaunchOrder& order,
                                         const std::vector<isolation::Fd>& doors);

  // After build(): what is written to an image's root goes with the broker.
  bool memory_root() {
    std::lock_guard lock(m_);
    return number_.memory_root;
  }

  // A connection to a TCP port inside. [blocking]
  sdk::Result<isolation::Fd> dial(sdk::Call& call, uint32_t port);

  // Ends what waits inside; commands end by themselves or by whoever runs them. [blocking]
  void end();

 private:
  const Tools& tools_;
  BrokerClient& broker_;
  const Prepared prepared_;
  std::mutex building_;
  std::mutex m_;  // of all below
  isolation::Points points_;
  BrokerClient::Number number_;
  bool built_ = false;
  std::optional<isolation::Launched> ready_;
  uint64_t commands_ = 0;
};

}  // namespace ns
