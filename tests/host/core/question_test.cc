#include "core/question.h"

#include <atomic>
#include <set>
#include <thread>

#include "as_plugin.h"
#include "engine_host.h"
#include "support/catch.h"

using namespace bh_test;

namespace {

// A host with one offer to answer, on a queue of its own.
struct Asking : EngineHost {
  explicit Asking(std::size_t workers = 4) : EngineHost(workers) {
    server->answers = "tool";
    server->tool_name = "mine";
    server->queue = asks;
    server->tag = 77;
    server->persona = "default";
    engine->add_server(server);
    add("t.ask", [this](Call& call) { return ask(call, false); });
    add("t.people", [this](Call& call) { return ask(call, true); });
  }
  ~Asking() { asks->close(); }

  bh::Result<void> ask(Call& call, bool people) {
    auto answer = engine->ask(call, server, "mine", R"({"q":1})", people);
    if (!answer) return tl::unexpected(std::move(answer).error());
    return call.set_result(std::move(*answer));
  }
  // The next question, taken out of its event.
  std::shared_ptr<bh::Question> next() {
    auto event = asks->next(kPatience);
    if (!event || event->kind != BH_EVENT_ASK) return nullptr;
    last_data = event->data;
    last_name = event->name;
    last_tag = event->tag;
    last_id = event->id;
    return std::move(event->question);
  }
  // The next event of that kind; others are dropped.
  std::unique_ptr<bh::Event> next_of(int kind) {
    while (auto event = asks->next(kPatience)) {
      if (event->kind == kind) return event;
    }
    return nullptr;
  }

  std::shared_ptr<bh::EventQueue> asks = std::make_shared<bh::EventQueue>();
  std::shared_ptr<bh::Server> server = std::make_shared<bh::Server>();
  std::string last_data, last_name;
  std::uint64_t last_tag = 0, last_id = 0;
};

}  // namespace

TEST_CASE("a question is answered, once") {
  Asking host;
  REQUIRE(host.start("t.ask"));
  auto question = host.next();
  REQUIRE(question);
  CHECK(host.last_name == "mine");
  CHECK(host.last_data == R"({"q":1})");
  CHECK(host.last_tag == 77);
  CHECK(host.last_id == question->id());
  CHECK(host.last_id != 0);
  REQUIRE(question->answer(R"("yes")"));
  auto again = question->answer(R"("no")");
  REQUIRE_FALSE(again);
  CHECK(again.error().code == BH_OUT_OF_RANGE);
  CHECK(again.error().details.find("ask_ended") != std::string::npos);
  CHECK_FALSE(question->refuse(bh::fail(BH_ABORTED, "no").value()));
  CHECK(host.finish().result == R"("yes")");
  CHECK_FALSE(host.asks->next(50));  // no ASK_ENDED for what was answered
}

TEST_CASE("a question is refused, or given up") {
  Asking host;
  REQUIRE(host.start("t.ask"));
  auto question = host.next();
  REQUIRE(question);
  REQUIRE(question->refuse(bh::fail(BH_PERMISSION_DENIED, "never", "policy").value()));
  auto out = host.finish();
  CHECK(out.fault.code == BH_PERMISSION_DENIED);
  CHECK(out.reason() == "policy");
  REQUIRE(host.start("t.ask"));
  question = host.next();
  REQUIRE(question);
  question->give_up("nobody there");
  out = host.finish();
  CHECK(out.fault.code == BH_UNAVAILABLE);
  CHECK(out.reason() == "unanswered");
}

TEST_CASE("an event whose question nobody takes counts as unanswered") {
  Asking host;
  REQUIRE(host.start("t.ask"));
  auto event = host.asks->next(kPatience);
  REQUIRE(event);
  event.reset();
  CHECK(host.finish().reason() == "unanswered");
  // Neither waits a question for a queue that is gone.
  host.asks->close();
  REQUIRE(host.start("t.ask"));
  CHECK(host.finish().reason() == "unanswered");
}

TEST_CASE("output and attachments of an answer reach the asker, with back-pressure") {
  Asking host;
  REQUIRE(host.start("t.ask"));
  auto question = host.next();
  REQUIRE(question);
  REQUIRE(question->attach({"shot", "image/png", "PNG"}));
  // Nobody reads the asker's events: its mebibyte fills, then the question's own room.
  std::string piece(64 * 1024, 'x');
  std::size_t taken = 0;
  for (int tries = 0; tries < 4000; tries++) {
    auto took = question->emit(2, piece);
    REQUIRE(took);
    taken += *took;
    if (*took == 0) {
      Gate never;
      if (taken >= (1u << 20)) break;
      (void)never.wait(1);  // the asker is on its way to take it
    }
  }
  CHECK(taken >= 1u << 20);
  CHECK(taken <= (1u << 20) + (512u << 10));
  std::size_t heard = 0;
  int attached = 0;
  while (heard < taken) {
    auto event = host.queue->next(kPatience);
    REQUIRE(event);
    if (event->kind == BH_EVENT_OUTPUT) {
      CHECK(event->stream == 2);
      heard += event->data.size();
    }
    if (event->kind == BH_EVENT_ATTACHMENT) attached++;
  }
  CHECK(attached == 1);
  auto room = host.next_of(BH_EVENT_ROOM);
  REQUIRE(room);
  CHECK(room->id == question->id());
  CHECK(room->tag == 77);
  REQUIRE(question->answer("true"));
  CHECK(host.finish().result == "true");
}

TEST_CASE("what was emitted before the answer comes before it") {
  Asking host;
  REQUIRE(host.start("t.ask"));
  auto question = host.next();
  REQUIRE(question);
  for (int i = 0; i < 10; i++) REQUIRE(question->emit(1, std::to_string(i)));
  REQUIRE(question->answer("1"));
  CHECK_FALSE(question->emit(1, "late"));
  CHECK_FALSE(question->attach({"late", "", ""}));
  auto out = host.finish();
  CHECK(out.text() == "0123456789");
}

TEST_CASE("a question ends with its asker: ASK_ENDED, and answers come too late") {
  Asking host;
  const bool by_deadline = GENERATE(false, true);
  auto run = host.start("t.ask", host.options(1, by_deadline ? 100 : 0));
  REQUIRE(run);
  auto question = host.next();
  REQUIRE(question);
  if (!by_deadline) run->cancel();
  auto ended = host.next_of(BH_EVENT_ASK_ENDED);
  REQUIRE(ended);
  CHECK(ended->id == question->id());
  CHECK(ended->tag == 77);
  CHECK(host.finish().fault.code == (by_deadline ? BH_DEADLINE_EXCEEDED : BH_CANCELLED));
  CHECK(question->answer("1").error().code == BH_OUT_OF_RANGE);
  CHECK(question->lend_session().error().code == BH_OUT_OF_RANGE);
}

TEST_CASE("a server that is withdrawn answers nothing, and its open questions fail") {
  Asking host;
  REQUIRE(host.start("t.ask"));
  auto question = host.next();
  REQUIRE(question);
  host.engine->remove_server(host.server);
  CHECK(host.finish().reason() == "unanswered");
  CHECK(host.engine->servers_of(*host.session, "tool").empty());
  CHECK(host.run("t.ask").reason() == "unanswered");
}

TEST_CASE("servers answer for their persona, an operator's for all") {
  Asking host;
  bh::Session other;
  other.persona = "other";
  CHECK(host.engine->servers_of(*host.session, "tool").size() == 1);
  CHECK(host.engine->servers_of(*host.session, "approval").empty());
  CHECK(host.engine->servers_of(other, "tool").empty());
  host.server->for_all = true;
  CHECK(host.engine->servers_of(other, "tool").size() == 1);
}

TEST_CASE("the run's clock stands still while people decide") {
  Asking host;
  std::atomic<std::int64_t> left{0};
  std::atomic<bh_status> after{-1};
  host.add("t.approval", [&](Call& call) -> bh::Result<void> {
    auto answer = host.engine->ask(call, host.server, "approval", "{}", true);
    if (!answer) return tl::unexpected(answer.error());
    left = call.time_left_ns();
    after = readable(call.cancel_fd());
    return call.set_result("1");
  });
  REQUIRE(host.start("t.approval", host.options(1, 300)));
  auto question = host.next();
  REQUIRE(question);
  Gate never;
  (void)never.wait(700);  // longer than all that the run has
  REQUIRE(question->answer("1"));
  auto out = host.finish();
  CHECK(out.last == BH_EVENT_RESULT);
  CHECK(left.load() > 0);
  CHECK(after.load() == 0);
}

TEST_CASE("after people decided the rest of the time holds again") {
  Asking host;
  host.add("t.approval", [&](Call& call) -> bh::Result<void> {
    auto answer = host.engine->ask(call, host.server, "approval", "{}", true);
    if (!answer) return tl::unexpected(answer.error());
    return as_plugin(call, [](bh_call* c) -> bh_status {
      if (!readable(c->api->cancel_fd(c), kPatience)) return BH_UNKNOWN;
      return c->api->wait(c, INT64_MAX);
    });
  });
  REQUIRE(host.start("t.approval", host.options(1, 200)));
  auto question = host.next();
  REQUIRE(question);
  Gate never;
  (void)never.wait(400);
  REQUIRE(question->answer("1"));
  CHECK(host.finish().fault.code == BH_DEADLINE_EXCEEDED);
}

TEST_CASE("a cancel ends a question to people all the same") {
  Asking host;
  auto run = host.start("t.people");
  REQUIRE(run);
  auto question = host.next();
  REQUIRE(question);
  run->cancel();
  CHECK(host.finish().fault.code == BH_CANCELLED);
}

TEST_CASE("an asker lends its worker: the answer may need the only one") {
  Asking host(1);
  host.add("t.helper", [](Call& call) { return call.set_result(R"("help")"); });
  REQUIRE(host.start("t.ask", host.options(1)));
  auto question = host.next();
  REQUIRE(question);
  auto lent = question->lend_session();
  REQUIRE(lent);
  auto helper = host.engine->start(*lent, *host.catalogue.find("t.helper"),
                                   std::make_shared<bh::RequestBody>(), host.options(2));
  REQUIRE(helper);
  auto help = host.finish(2);
  CHECK(help.result == R"("help")");
  REQUIRE(question->answer(help.result));
  CHECK(host.finish(1).result == R"("help")");
  // And the place was given back, once.
  CHECK(host.run("t.helper", host.options(3)).result == R"("help")");
}

TEST_CASE("a lent session has the asker's persona, time and end") {
  Asking host;
  std::atomic<std::int64_t> left{0};
  Gate in;
  host.add("t.look", [&](Call& call) {
    left = call.time_left_ns();
    return call.set_result(bh::json::quote(call.session().persona));
  });
  host.add("t.wait", [&](Call& call) -> bh::Result<void> {
    in.open();
    return tl::unexpected(bh::stop_error(call.wait(bh::kNoLimit)));
  });
  auto asker = host.start("t.ask", host.options(1, 60'000));
  REQUIRE(asker);
  auto question = host.next();
  REQUIRE(question);
  auto lent = question->lend_session().value();
  auto start = [&](const char* name, std::uint64_t tag, std::int64_t limit_ms) {
    return host.engine->start(lent, *host.catalogue.find(name),
                              std::make_shared<bh::RequestBody>(), host.options(tag, limit_ms));
  };
  REQUIRE(start("t.look", 2, 0));
  CHECK(host.finish(2).result == "\"default\"");
  CHECK(left.load() > 0);
  CHECK(left.load() <= 60 * bh::kSecond);
  REQUIRE(start("t.look", 3, 500'000));
  CHECK(host.finish(3).result == "\"default\"");
  CHECK(left.load() <= 60 * bh::kSecond);
  REQUIRE(start("t.wait", 4, 0));
  REQUIRE(in.wait());
  asker->cancel();
  auto child = host.finish(4);
  CHECK(child.fault.code == BH_CANCELLED);
  auto late = start("t.look", 5, 0);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == BH_OUT_OF_RANGE);
  question.reset();
  CHECK_FALSE(start("t.look", 6, 0));
}

TEST_CASE("run_here that asks the queue which its own thread reads fails at once") {
  Asking host;
  auto options = host.options(1);
  options.queue = host.asks;
  REQUIRE(host.engine->run_here(host.session, *host.catalogue.find("t.ask"),
                                std::make_shared<bh::RequestBody>(), options));
  auto event = host.asks->next(0);
  REQUIRE(event);
  REQUIRE(event->kind == BH_EVENT_FAULT);
  CHECK(event->fault.code == BH_FAILED_PRECONDITION);
  CHECK(event->fault.details.find("would_deadlock") != std::string::npos);
}

TEST_CASE("run_here that asks another queue waits for its reader") {
  Asking host;
  std::thread reader([&] {
    if (auto question = host.next()) (void)question->answer("5");
  });
  REQUIRE(host.engine->run_here(host.session, *host.catalogue.find("t.ask"),
                                std::make_shared<bh::RequestBody>(), host.options(1)));
  reader.join();
  CHECK(host.finish(1, 1000).result == "5");
}

TEST_CASE("many questions at once from many runs find each its own answer") {
  Asking host(64);
  for (std::uint64_t i = 0; i < 64; i++) REQUIRE(host.start("t.ask", host.options(1000 + i)));
  std::vector<std::shared_ptr<bh::Question>> open;
  for (int i = 0; i < 64; i++) {
    open.push_back(host.next());
    REQUIRE(open.back());
  }
  for (auto& question : open) REQUIRE(question->answer(std::to_string(question->id())));
  std::set<std::string> answers;
  for (int i = 0; i < 64; i++) {
    auto event = host.queue->next(kPatience);
    REQUIRE(event);
    CHECK(event->kind == BH_EVENT_RESULT);
    answers.insert(event->data);
  }
  CHECK(answers.size() == 64);
}

TEST_CASE("attachments of an answer wait for the asker as its output does") {
  Asking host;
  REQUIRE(host.start("t.ask"));
  auto question = host.next();
  REQUIRE(question);
  const std::string bytes(200u << 10, 'x');
  int given = 0;
  bool refused = false;
  for (int tries = 0; tries < 4000 && !refused; tries++) {
    auto took = question->attach({"a", "t", bytes});
    if (took) {
      given++;
      continue;
    }
    CHECK(took.error().code == BH_RESOURCE_EXHAUSTED);
    CHECK(took.error().details.find("ask_full") != std::string::npos);
    // The asker takes what it can; then its room and the question's are full for good.
    Gate never;
    refused = !never.wait(200) && !question->attach({"a", "t", bytes});
    if (!refused) given++;
  }
  CHECK(refused);
  CHECK(given >= 5);
  CHECK(given <= 8);
  int heard = 0;
  while (heard < given) {
    auto event = host.queue->next(kPatience);
    REQUIRE(event);
    if (event->kind == BH_EVENT_ATTACHMENT) heard++;
  }
  auto room = host.next_of(BH_EVENT_ROOM);
  REQUIRE(room);
  CHECK(room->id == question->id());
  REQUIRE(question->attach({"a", "t", bytes}));
  REQUIRE(question->answer("true"));
  auto out = host.finish();
  CHECK(out.result == "true");
  CHECK(out.attachments.size() == 1);
}

TEST_CASE("a question's attachments come before it, within the asker's room") {
  Asking host;
  const std::string large(bh::kMaxAttachment + 1, 'l');
  bool with_large = false;
  host.add("t.blobs", [&](Call& call) -> bh::Result<void> {
    std::vector<BlobView> blobs{{"one", "text/plain", "first"}};
    if (with_large) blobs.push_back({"two", "", large});
    auto answer = host.engine->ask(call, host.server, "mine", "{}", false, blobs);
    if (!answer) return tl::unexpected(std::move(answer).error());
    return call.set_result(std::move(*answer));
  });
  for (bool now : {false, true}) {
    with_large = now;
    REQUIRE(host.start("t.blobs"));
    std::vector<std::string> names;
    std::size_t bytes = 0;
    std::set<std::uint64_t> ids;
    std::shared_ptr<bh::Question> question;
    while (!question) {
      auto event = host.asks->next(kPatience);
      REQUIRE(event);
      ids.insert(event->id);
      if (event->kind == BH_EVENT_ATTACHMENT) names.push_back(event->name + event->data);
      if (event->kind == BH_EVENT_OUTPUT) bytes += event->data.size();
      if (event->kind == BH_EVENT_ASK) question = std::move(event->question);
    }
    CHECK(ids == std::set<std::uint64_t>{question->id()});
    CHECK(names == (now ? std::vector<std::string>{"onefirst", "two"}
                        : std::vector<std::string>{"onefirst"}));
    CHECK(bytes == (now ? large.size() : 0));
    REQUIRE(question->answer("true"));
    CHECK(host.finish().result == "true");
  }
  // Unread, they wait; cancelled, the embedder hears that no question follows.
  auto run = host.start("t.blobs");
  REQUIRE(run);
  auto first = host.next_of(BH_EVENT_OUTPUT);
  REQUIRE(first);
  run->cancel();
  CHECK(host.finish().fault.code == BH_CANCELLED);
  auto ended = host.next_of(BH_EVENT_ASK_ENDED);
  REQUIRE(ended);
  CHECK(ended->id == first->id);
}
