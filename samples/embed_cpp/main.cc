// What an embedder does with Bulkhead, in C++17 over bulkhead/host.hpp: make a sandbox, stream a
// command, send it input, cancel one, read a fault, list tools, call one, define one, clean up.
//
//   embed_cpp CONFIG WORKSPACE
//
// The same programme stands beside this one in C, Python, Rust and Go.
#include <bulkhead/host.hpp>

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace json = boost::json;

namespace {

// A sample may throw; a program that must not looks at the Fault.
void need(const bulkhead::Fault& fault) {
  if (fault) throw std::runtime_error(fault.message());
}

std::string reason_of(const bulkhead::Fault& fault) {
  return std::string(json::parse(fault.details()).at("reason").as_string());
}

class Host {
 public:
  Host(const char* config, const char* session) {
    need(bulkhead::Runtime::make(config, runtime_));
    need(bulkhead::Session::make(runtime_, session, session_));
    need(bulkhead::Queue::make(runtime_, queue_));
  }

  bulkhead::Run start(const char* operation, const json::object& args, bool with_input = false) {
    bulkhead::Request request;
    bulkhead::Run run;
    need(bulkhead::Request::make(operation, json::serialize(args), request));
    if (with_input) need(request.input());
    need(bulkhead::Run::start(session_, request, queue_, 1, run));
    return run;
  }

  bulkhead::Run exec(std::vector<std::string> argv, bool with_input = false) {
    return start("sandbox.exec", {{"sandbox", sandbox}, {"argv", json::value_from(argv)}}, with_input);
  }

  // The next event; waits. Faults of runs are events like others.
  bulkhead::Event next() {
    bulkhead::Event event;
    need(queue_.next(60000, event));
    if (!event) throw std::runtime_error("nothing happened for a minute");
    return event;
  }

  // Runs one operation to its end: its result, its items on the way.
  json::value call(const char* operation, const json::object& args, json::array* items = nullptr) {
    bulkhead::Run run = start(operation, args);
    for (;;) {
      bulkhead::Event event = next();
      if (event.kind() == BH_EVENT_FAULT) need(event.fault());
      if (event.kind() == BH_EVENT_ITEM && items != nullptr) items->push_back(json::parse(event.data()));
      if (event.kind() == BH_EVENT_RESULT) return json::parse(event.data());
    }
  }

  bulkhead::Server serve(const json::object& what) {
    bulkhead::Server server;
    need(bulkhead::Server::serve(session_, json::serialize(what), queue_, 2, server));
    return server;
  }

  void close() { need(runtime_.close(5000)); }

  std::string sandbox;

 private:
  bulkhead::Runtime runtime_;
  bulkhead::Session session_;
  bulkhead::Queue queue_;
};

void stream_a_command(Host& host) {
  bulkhead::Run run =
      host.exec({"sh", "-c", "echo one; sleep 0.2; echo two; echo three >&2; exit 3"});
  std::string out, err;
  for (;;) {
    bulkhead::Event event = host.next();
    if (event.kind() == BH_EVENT_FAULT) need(event.fault());
    if (event.kind() == BH_EVENT_OUTPUT) {
      (event.stream() == BH_STREAM_STDERR ? err : out).append(event.data());
      for (std::size_t end; (end = out.find('\n')) != std::string::npos; out.erase(0, end + 1)) {
        std::cout << "out: " << out.substr(0, end) << std::endl;
      }
    }
    if (event.kind() == BH_EVENT_RESULT) {
      const json::value exit = json::parse(event.data()).at("exit");
      std::cout << "err: " << err << "exit: " << std::string(exit.at("reason").as_string()) << ' '
                << exit.at("code") << '\n';
      return;
    }
  }
}

// The library takes what has room; the rest waits for BH_EVENT_ROOM, and output is read meanwhile.
std::string through(Host& host, std::vector<std::string> argv, const std::string& input) {
  bulkhead::Run run = host.exec(std::move(argv), true);
  std::string out;
  std::size_t sent = 0;
  bool full = false, ended = false;
  for (;;) {
    while (!full && sent < input.size()) {
      std::size_t taken = 0;
      need(run.send(input.data() + sent, input.size() - sent, taken));
      sent += taken;
      full = sent < input.size();
    }
    if (sent == input.size() && !ended) {
      need(run.send_end());
      ended = true;
    }
    bulkhead::Event event = host.next();
    if (event.kind() == BH_EVENT_FAULT) need(event.fault());
    if (event.kind() == BH_EVENT_ROOM) full = false;
    if (event.kind() == BH_EVENT_OUTPUT) out.append(event.data());
    if (event.kind() == BH_EVENT_RESULT) return out;
  }
}

void cancel_a_command(Host& host) {
  bulkhead::Run run = host.exec({"sleep", "60"});
  for (;;) {
    bulkhead::Event event = host.next();
    if (event.kind() == BH_EVENT_ITEM) run.cancel();  // it has begun
    if (event.kind() == BH_EVENT_RESULT) throw std::runtime_error("sleep ended, although cancelled");
    if (event.kind() == BH_EVENT_FAULT) {
      std::cout << "cancelled: " << event.fault().code() << ' ' << reason_of(event.fault()) << '\n';
      return;
    }
  }
}

void read_a_fault(Host& host) {
  bulkhead::Run run =
      host.start("sandbox.exec", {{"sandbox", "nobody-made-this"}, {"argv", {"true"}}});
  bulkhead::Event event = host.next();
  std::cout << "fault: " << event.fault().code() << ' ' << reason_of(event.fault()) << '\n';
}

void tools(Host& host) {
  json::array items;
  const json::value listed = host.call("tool.list", json::object(), &items);
  const bool there = std::any_of(items.begin(), items.end(), [](const json::value& tool) {
    return tool.at("name") == "command_run";
  });
  if (!there || listed.at("count").to_number<std::size_t>() != items.size()) {
    throw std::runtime_error("tool.list has no command_run, or counted otherwise");
  }
  std::cout << "tools: command_run is among them\n";
  const json::object id{{"sandbox_id", host.sandbox}};
  host.call("tool.call", {{"name", "sandbox_connect"}, {"arguments", id}});
  json::object command = id;
  command["command"] = "echo from a tool";
  const json::value done = host.call("tool.call", {{"name", "command_run"}, {"arguments", command}});
  std::cout << "tool: "
            << std::string(done.at("structured").at("logs").at("stdout").at(0).at("text").as_string())
            << '\n';
}

// The question arrives on the same queue as everything else; whoever reads it answers.
void serve_a_tool(Host& host) {
  const json::object text_only{
      {"type", "object"}, {"required", {"text"}}, {"properties", {{"text", {{"type", "string"}}}}}};
  bulkhead::Server server = host.serve({{"tool", {{"name", "shout"},
                                                  {"description", "Says it louder."},
                                                  {"input_schema", text_only}}}});
  bulkhead::Run run = host.start("tool.call", {{"name", "shout"}, {"arguments", {{"text", "hello"}}}});
  for (;;) {
    bulkhead::Event event = host.next();
    if (event.kind() == BH_EVENT_FAULT) need(event.fault());
    if (event.kind() == BH_EVENT_ASK) {
      bulkhead::Ask ask(event);
      std::string text(json::parse(event.data()).at("text").as_string());
      std::transform(text.begin(), text.end(), text.begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      const json::object part{{"type", "text"}, {"text", text}};
      need(ask.result(json::serialize(json::object{{"content", json::array{part}}})));
    }
    if (event.kind() == BH_EVENT_RESULT) {
      const json::value result = json::parse(event.data());
      std::cout << "served: " << std::string(result.at("content").at(0).at("text").as_string()) << '\n';
      return;
    }
  }
}

void programme(const char* config, const char* workspace) {
  Host host(config, R"({"persona":"sample"})");
  const json::value made = host.call("sandbox.create", {{"workspace", workspace}});
  host.sandbox = std::string(made.at("sandbox").as_string());
  std::cout << "sandbox: " << std::string(made.at("state").as_string()) << '\n';
  stream_a_command(host);
  std::cout << "stdin: " << through(host, {"tr", "a-z", "A-Z"}, "hello from the embedder\n");
  std::cout << "through: " << std::stol(through(host, {"wc", "-c"}, std::string(4u << 20, '\0')))
            << " bytes\n";
  cancel_a_command(host);
  read_a_fault(host);
  tools(host);
  serve_a_tool(host);
  host.call("sandbox.kill", {{"sandbox", host.sandbox}});
  json::array left;
  host.call("sandbox.list", json::object(), &left);
  std::cout << "left: " << left.size() << '\n';
  host.close();
  std::cout << "closed\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: embed_cpp CONFIG WORKSPACE\n");
    return 2;
  }
  try {
    programme(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "embed_cpp: %s\n", error.what());
    return 1;
  }
}
