// The plugin's side of its broker: started on first use, restarted when it has died, gone with us.
#pragma once

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/isolation/launch.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "wire.h"

namespace ns {

namespace sdk = bulkhead::sdk;

// One per opened provider; shared by all threads. [any]
class BrokerClient {
 public:
  explicit BrokerClient(std::string helper) : helper_(std::move(helper)) {}

  // What a sandbox is built from: blueprint and entry (wire.h), and the system call filter.
  struct Plan {
    std::string blueprint, entry;
    int filter = -1;  // borrowed
    bool own_network = true;
    bool shared_processes = false;
  };
  // Which life of the broker holds it. A later one knows nothing of it.
  struct Number {
    uint64_t sandbox = 0, life = 0;
    bool memory_root = false;  // see Answer
  };

  // FAILED_PRECONDITION: `unmapped` where a file system cannot be mounted with other ids, else
  // `namespaces`; CANCELLED and the like as the call says. [blocking]
  sdk::Result<Number> make(sdk::Call& call, const Plan& plan);
  // A first process inside, which waits for its task; nothing is waited for. ABORTED
  // (`broker_lost`): the broker that held it has died.
  sdk::Result<isolation::Launched> enter(const Number& number);
  // Ends all that runs inside, and waits for that; nothing where it is gone. [blocking]
  void drop(const Number& number);

  // A connection to a TCP port inside. UNAVAILABLE (`nobody_listens`). [blocking]
  sdk::Result<isolation::Fd> dial(sdk::Call& call, const Number& number, uint32_t port);

  bool alive(const Number& number);
  int pid();  // of the broker; -1: it does not run

 private:
  sdk::Status start();
  // Until an answer comes, or the call is to stop; the descriptors that come with it in `fds`.
  static sdk::Status wait(sdk::Call& call, int socket, Answer& answer,
                          std::vector<isolation::Fd>& fds);
  sdk::Status send(const Request& request, const std::vector<int>& fds);

  const std::string helper_;
  std::mutex m_;
  std::unique_ptr<isolation::Launched> process_;
  uint64_t life_ = 0, last_ = 0;
};

// Gives a first process its task and fills in what is known of it only now. `owner`, `group`: who is
// to own the ends of the pipes that the command has; kNobody: we. UNAVAILABLE (`busy`): it had
// waited too long; take another.
sdk::Status give_task(isolation::Launched& inside, const isolation::Task& task, bool input,
                      const std::vector<isolation::Fd>& doors, uint32_t owner, uint32_t group);

}  // namespace ns
