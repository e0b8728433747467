// bh.isolation.jobs/1: commands that outlive the call that started them.
#include <bulkhead/isolation_jobs.h>

#include "../core/box.h"
#include "../core/extension.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

class Jobs {
 public:
  Jobs(Try& t, Box& box)
      : t_(t), box_(box), table_(extension<bh_isolation_jobs>(t, BH_ISOLATION_JOBS)) {}

  Answer start(const std::string& id, const std::string& script, uint32_t flags = 0) {
    struct What {
      std::string id, script;
      bh_str argv[3];
    };
    auto what = std::make_shared<What>(What{id, script, {}});
    return offered(
        t_.backend.call([=, f = given(table_.start, "start"), box = box_.handle()](bh_call* c) {
          what->argv[0] = str("/bin/sh");
          what->argv[1] = str("-c");
          what->argv[2] = str(what->script);
          bh_exec exec{};
          exec.struct_size = sizeof exec;
          exec.flags = flags;
          exec.id = str(what->id);
          exec.argv = what->argv;
          exec.argc = 3;
          exec.options = str("{}");
          return f(box, c, &exec);
        }),
        "jobs");
  }
  // `exit` is filled when the job has ended.
  Answer attach(const std::string& id, int64_t cursor, uint32_t flags, bh_exit& exit) {
    auto out = std::make_shared<bh_exit>();
    out->struct_size = sizeof *out;
    out->exit_code = -1;
    Answer answer =
        t_.backend.call([=, f = given(table_.attach, "attach"), box = box_.handle()](bh_call* c) {
          return f(box, c, id.data(), id.size(), cursor, flags, out.get());
        });
    if (answer.returned) exit = *out;
    return answer;
  }
  Answer list() {
    return t_.backend.call(
        [f = given(table_.list, "list"), box = box_.handle()](bh_call* c) { return f(box, c); });
  }
  Answer forget(const std::string& id) {
    return t_.backend.call([=, f = given(table_.forget, "forget"), box = box_.handle()](
                               bh_call* c) { return f(box, c, id.data(), id.size()); });
  }

 private:
  Try& t_;
  Box& box_;
  const bh_isolation_jobs table_;
};

std::string out_of(const Answer& answer) {
  const auto it = answer.said.kept.find(BH_STREAM_STDOUT);
  return it != answer.said.kept.end() ? it->second : std::string();
}

void runs_on(Try& t) {
  Box box(t);
  Jobs jobs(t, box);
  const Answer started = jobs.start("job-a", "echo one; sleep 0.3; echo two; exit 6");
  t.require(started.ok(), "start: " + started.text());
  t.expect(started.seconds < 5, "start waits for the end");
  bh_exit exit{};
  const Answer all = jobs.attach("job-a", 0, BH_JOB_FOLLOW, exit);
  t.require(all.ok(), "attach: " + all.text());
  t.equal("its output", out_of(all), "one\ntwo\n");
  t.expect(exit.reason == BH_EXIT_CODE && exit.exit_code == 6, "its exit is not told");
  const Answer part = jobs.attach("job-a", 4, 0, exit);
  t.equal("its output from byte 4", out_of(part), "two\n");
  auto result = json::parse_object(part.said.result);
  t.expect(
      result && json::integer(*result, "next") == 8 && !json::boolean(*result, "running", true),
      "attach answers " + part.said.result);
  t.expect(jobs.forget("job-a").ok(), "forget");
  t.expect(jobs.attach("job-a", 0, 0, exit).status == BH_NOT_FOUND, "after forget it is there");
}

void listed(Try& t) {
  Box box(t);
  Jobs jobs(t, box);
  t.require(jobs.start("job-b", "sleep 30").ok(), "start");
  const Answer list = jobs.list();
  t.require(list.ok(), "list: " + list.text());
  t.expect(join(list.said.items).find("job-b") != std::string::npos,
           "a job that runs is not listed");
  t.expect(jobs.forget("job-b").status == BH_FAILED_PRECONDITION, "a job that runs is forgotten");
  t.expect(box.signal("job-b", 9).ok(), "signal to a job");
  bh_exit exit{};
  t.expect(jobs.attach("job-b", 0, BH_JOB_FOLLOW, exit).ok(), "attach after the signal");
  t.expect(exit.reason != BH_EXIT_UNKNOWN, "its end is not told");
}

void destroyed(Try& t) {
  Box box(t);
  Jobs jobs(t, box);
  const std::string token = new_token();
  t.require(jobs.start("job-c", "sleep 1000; : " + token).ok(), "start");
  t.require(appears(token, seconds(5)) > 0, "a job that was started is not to be seen");
  t.expect(box.destroy().ok() && all_gone(token, seconds(1)), "a job outlives its sandbox");
}

}  // namespace

void add_jobs(Suite& s) {
  s.add("jobs.run_on", "a job runs on, its output is kept and read from any byte", runs_on);
  s.add("jobs.list", "jobs are listed, signalled, and forgotten when they have ended", listed);
  s.add("jobs.destroyed", "no job outlives its sandbox", destroyed);
}

}  // namespace bulkhead::sdk::contract
