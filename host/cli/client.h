// The program's hold on the library: a runtime, one session, one queue, and questions with one
// answer.
#pragma once

#include <bulkhead/host.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/problem.h"
#include "cli/progress.h"
#include "cli/setup.h"

namespace bh::cli {

struct Answer {
  std::vector<std::string> items;  // JSON
  std::string result;              // JSON
};

// What a verb that failed has to say: the problem for people, the JSON for --json.
struct Failure {
  Problem problem;
  std::string json;
};

class Client {
 public:
  static tl::expected<Client, Failure> open(const Setup& setup);
  Client(Client&&) = default;
  Client& operator=(Client&&) = default;
  ~Client();

  // Runs an operation to its end, with a line of progress where it takes a while.
  tl::expected<Answer, Failure> ask(std::string_view operation, std::string_view args,
                                    const std::string& doing);

  const Named& named() const { return named_; }
  bulkhead::Runtime& runtime() { return runtime_; }
  bulkhead::Session& session() { return session_; }
  bulkhead::Queue& queue() { return queue_; }

 private:
  Client() = default;
  Named named_;  // the config file alone: an operation's fields are not the config's
  bulkhead::Runtime runtime_;
  bulkhead::Session session_;
  bulkhead::Queue queue_;
};

Failure failure_of(const bulkhead::Fault& fault, const Named& named = {});
Failure failure_of(const Problem& p);

// Says it as the verb's flags want it, and returns the exit code.
int fail(const Failure& failure, bool json);

}  // namespace bh::cli
