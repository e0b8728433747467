// One MCP server on pipes, and a client that costs next to nothing beside it.
//
//   bench_load start               SERVER...   from spawning it to its first answers
//   bench_load idle                SERVER...   its memory once its tools were listed
//   bench_load calls COUNT FLIGHT  SERVER...   COUNT calls of `echo`, FLIGHT of them in flight
//
// Prints one JSON object. Every answer is read whole: one that is wrong, missing, or sent twice ends
// it with exit code 1 and a sentence on stderr.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

extern char** environ;

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPatienceMs = 30000;

double milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

[[noreturn]] void give_up(const std::string& why, std::string_view about = {}) {
  std::fprintf(stderr, "bench_load: %s%s%.*s\n", why.c_str(), about.empty() ? "" : ": ",
               static_cast<int>(std::min<std::size_t>(about.size(), 400)), about.data());
  std::exit(1);
}

// ------------------------------------------------------------------ JSON, as far as answers need it

// Looks at one text; what does not have the form of JSON ends the program.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // F(key, value) for each member, both as they are written.
  template <class F>
  void members(F&& f) {
    expect('{');
    for (bool first = true; !ends('}'); first = false) {
      if (!first) expect(',');
      const std::string_view key = value();
      expect(':');
      f(key, value());
    }
  }
  template <class F>
  void elements(F&& f) {
    expect('[');
    for (bool first = true; !ends(']'); first = false) {
      if (!first) expect(',');
      f(value());
    }
  }

 private:
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) at_++;
    if (at_ == text_.size()) give_up("an answer is cut off", text_);
    return text_[at_];
  }
  void expect(char c) {
    if (peek() != c) give_up("an answer is no JSON", text_);
    at_++;
  }
  bool ends(char c) {
    if (peek() != c) return false;
    at_++;
    return true;
  }
  std::string_view value() {
    peek();
    const std::size_t from = at_;
    int open = 0;
    do {
      const char c = peek();
      if (c == '"') {
        for (at_++; at_ < text_.size() && text_[at_] != '"'; at_++) at_ += text_[at_] == '\\';
        expect('"');
      } else if (c == '{' || c == '[') {
        open++;
        at_++;
      } else if (c == '}' || c == ']') {
        open--;
        at_++;
      } else if (c == ',' || c == ':') {
        at_++;
      } else {
        at_ = std::min(text_.find_first_of(",:]} \t", at_), text_.size());
      }
    } while (open > 0);
    return text_.substr(from, at_ - from);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct Answer {
  std::string_view id;
  std::string_view result;
};

Answer read_answer(std::string_view line) {
  Answer out;
  bool version = false;
  Reader(line).members([&](std::string_view key, std::string_view value) {
    if (key == R"("id")") out.id = value;
    if (key == R"("result")") out.result = value;
    if (key == R"("jsonrpc")") version = value == R"("2.0")";
  });
  if (!version || out.id.empty() || out.result.empty()) give_up("this is no result", line);
  return out;
}

// ------------------------------------------------------------------ the server

class Server {
 public:
  explicit Server(char** argv) : started_(Clock::now()) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) give_up("no pipes");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    if (posix_spawnp(&pid_, argv[0], &files, nullptr, argv, environ) != 0)
      give_up("this cannot be started", argv[0]);
    posix_spawn_file_actions_destroy(&files);
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }

  Clock::time_point started() const { return started_; }
  pid_t pid() const { return pid_; }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = write(to_, bytes.data(), bytes.size());
      if (n <= 0) give_up("the server reads no more");
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  // F(line) for each line that has come; waits until there is one.
  template <class F>
  void lines(F&& f) {
    for (bool any = false; !any;) {
      pollfd ready{from_, POLLIN, 0};
      if (poll(&ready, 1, kPatienceMs) != 1) give_up("the server does not answer");
      const std::size_t had = text_.size();
      text_.resize(had + kPiece);
      const ssize_t n = read(from_, text_.data() + had, kPiece);
      if (n <= 0) give_up("the server has ended");
      text_.resize(had + static_cast<std::size_t>(n));
      std::size_t from = 0;
      for (std::size_t end; (end = text_.find('\n', from)) != std::string::npos; from = end + 1) {
        f(std::string_view(text_).substr(from, end - from));
        any = true;
      }
      text_.erase(0, from);
    }
  }

  // The result of the one request that is in flight.
  std::string ask(std::string_view request, std::string_view id) {
    send(request);
    std::string result;
    lines([&](std::string_view line) {
      const Answer answer = read_answer(line);
      if (answer.id != id || !result.empty()) give_up("this was not asked for", line);
      result = answer.result;
    });
    return result;
  }

  void end() {
    close(to_);
    char rest;
    if (read(from_, &rest, 1) != 0) give_up("there was an answer too many");
    int status = 0;
    if (waitpid(pid_, &status, 0) != pid_ || status != 0) give_up("the server ended badly");
  }

 private:
  static constexpr std::size_t kPiece = 65536;
  Clock::time_point started_;
  pid_t pid_ = 0;
  int to_ = -1, from_ = -1;
  std::string text_;
};

void initialize(Server& server) {
  const std::string result = server.ask(
      R"({"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18",)"
      R"("capabilities":{},"clientInfo":{"name":"bench_load","version":"1"}}})"
      "\n",
      R"("hello")");
  if (result.find(R"("protocolVersion":"2025-06-18")") == std::string::npos)
    give_up("another revision was answered", result);
  server.send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
              "\n");
}

void list_tools(Server& server) {
  const std::string result = server.ask(
      R"({"jsonrpc":"2.0","id":"tools","method":"tools/list"})"
      "\n",
      R"("tools")");
  if (result.find(R"("name":"echo")") == std::string::npos) give_up("echo is missing", result);
}

// ------------------------------------------------------------------ calls of `echo`

void append_call(std::string& out, int number) {
  const std::string n = std::to_string(number);
  out += R"({"jsonrpc":"2.0","id":)";
  out += n;
  out += R"(,"method":"tools/call","params":{"name":"echo","arguments":{"text":"call )";
  out += n;
  out += "\"}}}\n";
}

// Which call this answers; its text has to be the one that was sent, in both of its places.
int check_call(std::string_view line) {
  const Answer answer = read_answer(line);
  const int number = std::atoi(std::string(answer.id).c_str());
  const std::string said = "\"call " + std::to_string(number) + '"';
  int texts = 0, wrong = 0;
  auto look = [&](std::string_view key, std::string_view value) {
    if (key == R"("text")") (value == said ? texts : wrong)++;
    if (key == R"("type")" && value != R"("text")") wrong++;
  };
  Reader(answer.result).members([&](std::string_view key, std::string_view value) {
    if (key == R"("content")")
      Reader(value).elements([&](std::string_view part) { Reader(part).members(look); });
    if (key == R"("structuredContent")") Reader(value).members(look);
    if (key == R"("isError")" && value != "false") wrong++;
  });
  if (answer.id != std::to_string(number) || texts != 2 || wrong != 0)
    give_up("this is a wrong answer", line);
  return number;
}

// How long they took, from the first question to the last answer.
double call_many(Server& server, int first, int count, int in_flight) {
  std::vector<bool> open(static_cast<std::size_t>(count));
  int asked = 0, answered = 0;
  std::string text;
  auto ask = [&] {
    open[static_cast<std::size_t>(asked)] = true;
    append_call(text, first + asked++);
  };
  const auto begin = Clock::now();
  while (asked < std::min(count, in_flight)) ask();
  while (answered < count) {
    if (!text.empty()) server.send(text);
    text.clear();
    server.lines([&](std::string_view line) {
      const int which = check_call(line) - first;
      if (which < 0 || which >= count || !open[static_cast<std::size_t>(which)])
        give_up("nobody waits for this", line);
      open[static_cast<std::size_t>(which)] = false;
      answered++;
      if (asked < count) ask();
    });
  }
  return milliseconds(begin);
}

// ------------------------------------------------------------------ what is measured

// KiB, of the process and its children: pages that others have too count by their share.
long pss_of(pid_t pid) {
  const std::string proc = "/proc/" + std::to_string(pid);
  std::ifstream rollup(proc + "/smaps_rollup");
  std::string word;
  long kib = -1;
  while (kib < 0 && rollup >> word)
    if (word == "Pss:") rollup >> kib;
  if (kib < 0) give_up("its memory cannot be read", proc);
  std::ifstream children(proc + "/task/" + std::to_string(pid) + "/children");
  for (pid_t child; children >> child;) kib += pss_of(child);
  return kib;
}

int start(char** argv) {
  Server server(argv);
  initialize(server);
  const double initialized = milliseconds(server.started());
  call_many(server, 1, 1, 1);
  const double called = milliseconds(server.started());
  server.end();
  std::printf(R"({"initialize_ms":%.3f,"call_ms":%.3f})"
              "\n",
              initialized, called);
  return 0;
}

int idle(char** argv) {
  Server server(argv);
  initialize(server);
  list_tools(server);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const long kib = pss_of(server.pid());
  server.end();
  std::printf("{\"pss_kib\":%ld}\n", kib);
  return 0;
}

int calls(int count, int in_flight, char** argv) {
  Server server(argv);
  initialize(server);
  list_tools(server);
  // The first ones find caches cold and, in Node, code that is not compiled yet.
  const int warm_up = std::max(count / 4, 1);
  call_many(server, 1, warm_up, in_flight);
  const double spent = call_many(server, 1 + warm_up, count, in_flight);
  server.end();
  std::printf(R"({"calls_per_second":%.0f,"us_each":%.2f})"
              "\n",
              count / spent * 1000, spent * 1000 / count);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  const std::string what = argc > 2 ? argv[1] : "";
  if (what == "start") return start(argv + 2);
  if (what == "idle") return idle(argv + 2);
  const int count = what == "calls" && argc > 4 ? std::atoi(argv[2]) : 0;
  const int in_flight = count > 0 ? std::atoi(argv[3]) : 0;
  if (in_flight > 0) return calls(count, in_flight, argv + 4);
  std::fprintf(stderr, "usage: bench_load start|idle|calls COUNT IN_FLIGHT SERVER...\n");
  return 2;
}
