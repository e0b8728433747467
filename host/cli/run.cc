#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <deque>

#include "cli/client.h"
#include "cli/exec_args.h"
#include "cli/exits.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/stream_loop.h"
#include "cli/verbs.h"

namespace bh::cli {
namespace {

namespace json = boost::json;

// A command's streams and signals. Signals that come before it runs wait for it, or end the start.
class CommandHandler : public StreamHandler {
 public:
  // `stated`: the caller brought a profile of its own, and is told what of it does not hold.
  CommandHandler(Client& client, Progress& progress, bool stated)
      : client_(client), progress_(progress), stated_(stated) {}

  int route(std::int32_t stream) override {
    return stream == BH_STREAM_STDOUT ? 1 : stream == BH_STREAM_STDERR ? 2 : 0;
  }

  void item(const bulkhead::Event& event) override {
    json::object item = parse_object_or_empty(event.data());
    if (!item.contains("started")) return;
    const json::object& started = object_at(item, "started");
    sandbox_ = string_at(started, "sandbox");
    exec_ = string_at(started, "exec");
    progress_.stop();
    if (stated_) tell_unenforced(object_at(started, "enforcement"));
    for (int number : early_) pass_on(number);
    early_.clear();
  }

  bool signal(int number) override {
    bool ends = number != SIGUSR1 && number != SIGUSR2;
    if (number == SIGINT) ++interrupts_;
    if (ends) last_ = number;
    if (interrupts_ > 1) return true;
    if (!sandbox_.empty()) {
      pass_on(number);
      return false;
    }
    if (!ends) early_.push_back(number);
    return ends;
  }

  // The last signal that asked for an end, 0: none did.
  int last() const { return last_; }

 private:
  static void tell_unenforced(const json::object& report) {
    const json::value* rules = report.if_contains("rules");
    if (rules == nullptr || !rules->is_array()) return;
    for (const json::value& line : rules->get_array()) {
      if (!line.is_object()) continue;
      const json::object& rule = line.get_object();
      std::string status = string_at(rule, "status");
      if (status == "enforced") continue;
      std::string reason = string_at(rule, "reason");
      std::string text = string_at(rule, "rule") + " is " +
                         (status == "partial" ? "enforced in part" : status) +
                         (reason.empty() ? "" : ": " + reason);
      complain(sentence(Problem{std::move(text), {}}));
    }
  }

  // Its answer is of no interest: where the command has just ended, so has the question.
  void pass_on(int number) {
    json::object args{{"sandbox", sandbox_}, {"exec", exec_}, {"signal", number}};
    bulkhead::Request request;
    if (bulkhead::Request::make("sandbox.signal", json::serialize(args), request)) return;
    bulkhead::Run run;
    if (bulkhead::Run::start(client_.session(), request, client_.queue(), kSignalTag, run)) return;
    // Freeing a run cancels it, so the latest ones stay.
    sent_.push_back(std::move(run));
    if (sent_.size() > 64) sent_.pop_front();
  }

  static constexpr std::uint64_t kSignalTag = 9;
  Client& client_;
  Progress& progress_;
  const bool stated_;
  std::string sandbox_;
  std::string exec_;
  std::deque<int> early_;
  std::deque<bulkhead::Run> sent_;
  int interrupts_ = 0;
  int last_ = 0;
};

int report(const StreamLoop::Ending& ending, const CommandHandler& handler,
           const Options& options, const Named& named) {
  if (ending.write_error != 0) {
    return fail(
        Problem{std::string("cannot write the output: ") + std::strerror(ending.write_error),
                "the command was stopped"});
  }
  if (ending.reader_gone) return kExitSignal + SIGPIPE;
  if (ending.cancelled && (ending.result || ending.fault.code() == BH_CANCELLED)) {
    return kExitSignal + handler.last();
  }
  if (!ending.result) return fail(from_fault(ending.fault, named));
  Exit exit = exit_of(parse_object_or_empty(*ending.result), options.timeout_ms, handler.last());
  for (const Problem& note : exit.notes) complain(sentence(note));
  return exit.code;
}

}  // namespace

int verb_run(const Options& options, const Surroundings& around) {
  Result<Setup> setup = make_setup(options, around);
  if (!setup) return fail(setup.error());
  Result<json::object> args = exec_args(options, *setup, around);
  if (!args) return fail(args.error());

  Signals signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT});
  tl::expected<Client, Failure> client = Client::open(*setup);
  if (!client) return fail(client.error().problem);

  bulkhead::Request request;
  bulkhead::Run run;
  bulkhead::Fault fault = bulkhead::Request::make("sandbox.exec", json::serialize(*args), request);
  if (!fault) fault = request.input();
  if (!fault) {
    fault =
        bulkhead::Run::start(client->session(), request, client->queue(), StreamLoop::kTag, run);
  }
  const Named named = named_of_exec(options, *setup, around);
  if (fault) return fail(from_fault(fault, named));

  Progress progress(STDERR_FILENO);
  progress.start("preparing the sandbox");
  CommandHandler handler(*client, progress, options.profile.has_value());
  StreamLoop loop(client->queue(), run, signals, progress, handler);
  StreamLoop::Ending ending = loop.go(STDIN_FILENO);
  return report(ending, handler, options, named);
}

}  // namespace bh::cli
