#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "cli/attachments.h"
#include "cli/client.h"
#include "cli/config_file.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/stream_loop.h"
#include "cli/verbs.h"

namespace bh::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxArguments = 64u << 20;

// Any signal that asks for an end cancels the call: a tool has no signals of its own.
class ToolHandler : public StreamHandler {
 public:
  ToolHandler(Attachments& attachments, bool as_json) : attachments_(attachments), json_(as_json) {}

  int route(std::int32_t stream) override {
    if (json_ || stream == BH_STREAM_STDOUT || stream == BH_STREAM_STDERR) return 2;
    data_ = true;
    return 1;
  }
  void attachment(const bulkhead::Event& event) override {
    if (event.stream() >= BH_STREAM_ATTACHED) {
      attachments_.begin(event.stream(), event.name(), event.type());
    } else {
      attachments_.add(event.name(), event.type(), event.data());
    }
  }
  void attachment_bytes(const bulkhead::Event& event) override {
    if (event.data().empty()) {
      attachments_.end(event.stream());
    } else {
      attachments_.append(event.stream(), event.data());
    }
  }
  bool signal(int number) override {
    last_ = number;
    return true;
  }

  bool data() const { return data_; }  // stdout holds a stream of data
  int last() const { return last_; }

 private:
  Attachments& attachments_;
  bool json_;
  bool data_ = false;
  int last_ = 0;
};

// The JSON itself, or where it is. It goes on as it was written: the library says what is wrong
// with its keys.
Result<std::string> arguments_text(const Options& options, const Surroundings& around) {
  std::string text = options.arguments;
  std::string what = "the argument text";
  if (text == "-") {
    Result<std::string> read = read_small_fd(STDIN_FILENO, "the arguments on stdin", kMaxArguments);
    if (!read) return read;
    text = std::move(*read);
    what += " on stdin";
  } else if (!text.empty() && text.front() == '@') {
    std::string path = around.absolute(text.substr(1));
    Result<std::string> read = read_small_file(path, "the arguments", kMaxArguments);
    if (!read) return read;
    text = std::move(*read);
    what += " in " + path;
  }
  Result<json::object> parsed = parse_strict_object(text, what);
  if (!parsed) {
    Problem p = std::move(parsed.error());
    if (p.remedy.empty()) p.remedy = "for example '{\"text\":\"hello\"}'";
    return tl::unexpected<Problem>(std::move(p));
  }
  return text;
}

Result<int> open_input(const Options& options, const Surroundings& around) {
  if (!options.input) return -1;
  if (*options.input == "-") {
    if (options.arguments == "-") {
      return problem("stdin cannot be both the arguments and the input",
                     "give the arguments as @FILE or in place");
    }
    return STDIN_FILENO;
  }
  std::string path = around.absolute(*options.input);
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return problem("cannot open the input " + path + ": " + std::strerror(errno));
  return fd;  // until the program ends
}

std::string text_of(const json::object& result) {
  std::string text;
  for (const json::value& v : array_at(result, "content")) {
    if (!v.is_object()) continue;
    const json::object& part = v.get_object();
    std::string type = string_at(part, "type");
    std::string piece;
    if (type == "text" || (type == "resource" && part.contains("text"))) {
      piece = string_at(part, "text");
    } else if (type == "link" || type == "resource") {
      piece = string_at(part, "uri");
    }
    if (piece.empty()) continue;
    text += piece;
    if (text.back() != '\n') text += '\n';
  }
  // A tool may answer with structured content alone.
  if (text.empty() && result.contains("structured")) {
    text = json::serialize(result.at("structured")) + "\n";
  }
  return text;
}

int report(const StreamLoop::Ending& ending, const ToolHandler& handler,
           const Attachments& attachments, const Options& options, const Named& named) {
  if (ending.write_error != 0) {
    return fail(
        Problem{std::string("cannot write the output: ") + std::strerror(ending.write_error),
                "the call was stopped"});
  }
  if (ending.reader_gone) return kExitSignal + SIGPIPE;
  if (ending.cancelled && (ending.result || ending.fault.code() == BH_CANCELLED)) {
    return kExitSignal + handler.last();
  }
  if (!ending.result) return fail(failure_of(ending.fault, named), options.json);
  json::object result = parse_object_or_empty(*ending.result);
  std::string text = options.json ? *ending.result + "\n" : text_of(result);
  if (handler.data()) {
    complain(text);
  } else if (!print(text)) {
    return kExitOurs;
  }
  for (const std::string& line : attachments.lines()) complain("bulkhead: " + line + "\n");
  int code = bool_at(result, "is_error") ? kExitToolError : kExitOk;
  for (const Problem& p : attachments.problems()) code = fail(p);
  return code;
}

}  // namespace

int verb_call(const Options& options, const Surroundings& around) {
  Result<Setup> setup = make_setup(options, around);
  if (!setup) return fail(failure_of(setup.error()), options.json);
  Result<void> settled = settle_workspace(*setup);
  if (!settled) return fail(failure_of(settled.error()), options.json);
  Result<std::string> arguments = arguments_text(options, around);
  if (!arguments) return fail(failure_of(arguments.error()), options.json);
  Result<int> input = open_input(options, around);
  if (!input) return fail(failure_of(input.error()), options.json);
  Attachments attachments;
  if (options.output) {
    Result<void> ready = attachments.save_to(around.absolute(*options.output));
    if (!ready) return fail(failure_of(ready.error()), options.json);
  }

  Signals signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  tl::expected<Client, Failure> client = Client::open(*setup);
  if (!client) return fail(client.error(), options.json);
  std::string args = "{\"name\":" + json::serialize(json::value(options.tool)) +
                     ",\"arguments\":" + *arguments + "}";
  bulkhead::Request request;
  bulkhead::Run run;
  bulkhead::Fault fault = bulkhead::Request::make("tool.call", args, request);
  if (!fault && *input >= 0) fault = request.input();
  if (!fault && options.timeout_ms) fault = request.timeout(*options.timeout_ms);
  if (!fault) {
    fault =
        bulkhead::Run::start(client->session(), request, client->queue(), StreamLoop::kTag, run);
  }
  if (fault) return fail(failure_of(fault, client->named()), options.json);

  Progress progress(STDERR_FILENO);
  progress.start(options.tool);
  ToolHandler handler(attachments, options.json);
  StreamLoop loop(client->queue(), run, signals, progress, handler);
  StreamLoop::Ending ending = loop.go(*input);
  return report(ending, handler, attachments, options, client->named());
}

}  // namespace bh::cli
