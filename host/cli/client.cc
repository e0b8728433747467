#include "cli/client.h"

#include <unistd.h>

#include <boost/json.hpp>

#include "cli/output.h"

namespace bh::cli {
namespace {
constexpr std::int32_t kCloseMs = 5000;
}

Failure failure_of(const bulkhead::Fault& fault, const Named& named) {
  return Failure{from_fault(fault, named), fault_json(fault, named)};
}

Failure failure_of(const Problem& p) {
  boost::json::object details{{"reason", "usage"}};
  if (!p.remedy.empty()) details["remedy"] = p.remedy;
  boost::json::object all;
  all["error"] = boost::json::object{
      {"code", "INVALID_ARGUMENT"}, {"message", p.message}, {"details", std::move(details)}};
  return Failure{p, boost::json::serialize(all)};
}

int fail(const Failure& failure, bool json) {
  if (json) print(failure.json + "\n");
  return fail(failure.problem);
}

tl::expected<Client, Failure> Client::open(const Setup& setup) {
  Client client;
  bulkhead::Fault fault = bulkhead::Runtime::make(setup.runtime_config, client.runtime_);
  if (!fault) {
    fault = bulkhead::Session::make(client.runtime_, setup.session_config, client.session_);
  }
  if (!fault) fault = bulkhead::Queue::make(client.runtime_, client.queue_);
  if (fault) return tl::unexpected<Failure>(failure_of(fault, setup.named));
  client.named_.config_file = setup.named.config_file;
  return client;
}

Client::~Client() {
  if (!runtime_) return;
  queue_ = bulkhead::Queue();
  session_ = bulkhead::Session();
  runtime_.close(kCloseMs);
}

tl::expected<Answer, Failure> Client::ask(std::string_view operation, std::string_view args,
                                          const std::string& doing) {
  constexpr std::uint64_t kTag = 2;
  bulkhead::Request request;
  bulkhead::Run run;
  bulkhead::Fault fault = bulkhead::Request::make(operation, args, request);
  if (!fault) fault = bulkhead::Run::start(session_, request, queue_, kTag, run);
  Answer answer;
  Progress progress(STDERR_FILENO);
  progress.start(doing);
  while (!fault) {
    bulkhead::Event event;
    fault = queue_.next(progress.wait_ms(), event);
    if (fault) break;
    progress.tick();
    if (!event || event.tag() != kTag) continue;
    if (event.kind() == BH_EVENT_ITEM) answer.items.emplace_back(event.data());
    if (event.kind() == BH_EVENT_RESULT) {
      answer.result = std::string(event.data());
      return answer;
    }
    if (event.kind() == BH_EVENT_FAULT) fault = event.fault();
  }
  return tl::unexpected<Failure>(failure_of(fault, named_));
}

}  // namespace bh::cli
