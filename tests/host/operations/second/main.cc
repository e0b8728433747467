// second_host CONFIG: reads lines from stdin and does what they say, a line of answer each.
//   call OPERATION ARGS   "result JSON" or "fault CODE DETAILS"
//   start OPERATION ARGS  "started ITEM" once its first item came; it goes on
//   work SEED PROGRAM     makes, uses, renews and kills sandboxes until it is killed, telling of each
//                         what it is about to do and what was answered
#include <bulkhead/sdk/json.hpp>

#include <iostream>
#include <random>

#include "support/embedder.h"

namespace sdk = bulkhead::sdk;
using bh_test::Answer;
using bh_test::Embedder;

namespace {

void say(const std::string& line) { std::cout << line << std::endl; }

std::string id_in(const std::string& json) {
  auto o = sdk::json::parse_object(json);
  return o ? std::string(sdk::json::text(*o, "sandbox")) : std::string();
}

int start(Embedder& host, const std::string& operation, const std::string& args) {
  bh_test::Fault why;
  bh_request* request = Embedder::request(operation, args, &why);
  bh_run* run = nullptr;
  bh_fault* f = nullptr;
  if (request == nullptr || bh_start(host.session, request, host.queue, 1u << 20, &run, &f) != BH_OK) {
    say("fault " + why.message + bh_test::take(f).message);
    return 1;
  }
  bh_event* event = nullptr;
  if (bh_queue_next(host.queue, 30'000, &event, nullptr) != BH_OK || event == nullptr) return 1;
  Answer answer;
  Embedder::note(event, answer);
  bh_event_free(event);
  say(answer.items.empty() ? "fault " + answer.fault.message : "started " + answer.items[0]);
  return 0;  // the run is given up with the process
}

void work(Embedder& host, unsigned seed, const std::string& program) {
  std::mt19937 random(seed);
  std::vector<std::string> mine;
  for (;;) {
    const unsigned what = mine.size() < 2 ? 0 : random() % 8;
    const std::size_t which = mine.empty() ? 0 : random() % mine.size();
    const std::string named = mine.empty() ? "" : R"({"sandbox":")" + mine[which] + "\"";
    if (what < 2) {
      Answer made = host.call("sandbox.create", R"({"timeout_ms":3600000,"metadata":{"a":"b"}})");
      if (made.last != BH_EVENT_RESULT) return say("fault " + made.fault.message);
      mine.push_back(id_in(made.result));
      say("created " + mine.back());
    } else if (what < 5) {
      const std::string args = what == 4 ? "{" : named + ",";
      Answer ran = host.call("sandbox.exec", args + R"("argv":[")" + program + R"(","a"]})");
      if (ran.last != BH_EVENT_RESULT) return say("fault " + ran.fault.message);
      say("ran " + id_in(ran.result));
    } else if (what < 7) {
      Answer renewed = host.call("sandbox.renew", named + R"(,"timeout_ms":7200000})");
      if (renewed.last != BH_EVENT_RESULT) return say("fault " + renewed.fault.message);
      say("renewed " + mine[which]);
    } else {
      say("killing " + mine[which]);
      Answer killed = host.call("sandbox.kill", named + "}");
      if (killed.last != BH_EVENT_RESULT) return say("fault " + killed.fault.message);
      say("killed " + mine[which]);
      mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Embedder host(argv[1]);
  if (host.session == nullptr) {
    say("fault " + host.fault.message);
    return 1;
  }
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t first = line.find(' ');
    const std::size_t second = line.find(' ', first + 1);
    if (second == std::string::npos) return 2;
    const std::string verb = line.substr(0, first);
    const std::string name = line.substr(first + 1, second - first - 1);
    const std::string rest = line.substr(second + 1);
    if (verb == "work") {
      work(host, static_cast<unsigned>(std::stoul(name)), rest);
      return 1;
    }
    if (verb == "start") {
      if (start(host, name, rest) != 0) return 1;
      continue;
    }
    Answer answer = host.call(name, rest);
    say(answer.last == BH_EVENT_RESULT
            ? "result " + answer.result
            : "fault " + std::to_string(answer.fault.code) + " " + answer.fault.details);
  }
}
