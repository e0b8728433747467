// One command: what reaches it, and how its end is told.
#include <csignal>
#include <set>

#include "../core/box.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

void argv_exact(Try& t) {
  Box box(t);
  const std::vector<std::string> odd = {"",        " a  b ",    "new\nline", "\xff\xfe\x80",
                                        "--",      "-e",        "'\"`$x;",   "*?[a-z]~",
                                        "\t\\n%s", "$(id)|&<>", "\xc3\xa9"};
  std::vector<std::string> argv = {"/bin/sh", "-c", "printf '%s|' \"$@\"", "name"};
  std::string want;
  for (const auto& one : odd) {
    argv.push_back(one);
    want += one + "|";
  }
  const Ran ran = box.run(argv);
  t.require(ran.exited(0), ran.told());
  t.expect(ran.out == want, "the arguments arrived as " + ran.told());
}

void many_arguments(Try& t) {
  Box box(t);
  std::vector<std::string> argv = {"/bin/sh", "-c", "echo $# ${#1}", "name",
                                   std::string(100000, 'x')};
  for (int i = 0; i < 4000; ++i) argv.emplace_back("argument");
  const Ran ran = box.run(argv);
  t.expect(ran.exited(0) && ran.out == "4001 100000\n", ran.told());
}

void no_shell(Try& t) {
  Box box(t);
  const Ran ran = box.run({"echo $HOME; echo more"});
  t.expect(ran.not_run(), "a program's name went through a shell: " + ran.told());
}

void on_path(Try& t) {
  Box box(t);
  const Ran ran = box.run({"sh", "-c", "exit 7"});
  t.expect(ran.exited(7), "a program that is named without a folder: " + ran.told());
}

void codes(Try& t) {
  Box box(t);
  // All 256 would take a minute on a slow backend; these are all that any rule is about.
  for (const int code :
       {0, 1, 2, 3, 63, 64, 100, 124, 125, 126, 127, 128, 129, 137, 143, 200, 254, 255}) {
    const Ran ran = box.sh("exit " + std::to_string(code));
    t.expect(ran.exited(code) && ran.exit.signal == 0 && !ran.not_run(),
             "exit " + std::to_string(code) + " is told as " + ran.told());
  }
}

void signals(Try& t) {
  Box box(t);
  for (const int number : {SIGHUP, SIGTERM, SIGKILL, SIGSEGV, SIGUSR1}) {
    const Ran ran = box.sh("kill -" + std::to_string(number) + " $$; exit 0");
    t.expect(ran.ok() && ran.exit.reason == BH_EXIT_SIGNAL && ran.exit.signal == number &&
                 ran.exit.exit_code == -1,
             "signal " + std::to_string(number) + " is told as " + ran.told());
  }
}

void no_program(Try& t) {
  Box box(t);
  for (const char* name : {"contract-no-such-program", "/contract/no/such/program"}) {
    const Ran ran = box.run({name});
    t.expect(ran.not_run(), std::string(name) + " is told as " + ran.told());
  }
}

void no_right(Try& t) {
  Box box(t);
  if (box.workspace().empty()) Try::skip("no workspace to lay a file into");
  const std::string file = box.workspace() + "/plain";
  const Ran made = box.sh("printf 'no program' > plain && chmod 644 plain && pwd");
  t.require(made.exited(0), made.told());
  const Ran ran = box.run({file});
  t.expect(ran.not_run(), "a file without the right to run is told as " + ran.told());
}

void empty_argv(Try& t) {
  Box box(t);
  const Ran none = box.run(std::vector<std::string>{});
  t.expect(none.returned && none.status == BH_INVALID_ARGUMENT, "no argv: " + none.told());
  const Ran empty = box.run({""});
  t.expect(empty.not_run(), "an empty program's name: " + empty.told());
}

void cwd_default(Try& t) {
  Box box(t);
  if (box.workspace().empty()) Try::skip("no workspace in its profile");
  const Ran ran = box.sh("pwd -P");
  t.equal("the working folder", ran.out, box.workspace() + "\n");
}

void cwd(Try& t) {
  if (!t.backend.plugin().exec.lists("cwd")) Try::skip("exec_schema does not list cwd");
  Box box(t);
  const Ran root = box.sh("pwd -P", {{"cwd", "/"}});
  t.expect(root.exited(0) && root.out == "/\n", "cwd / gives " + root.told());
  const Ran ran = box.sh("true", {{"cwd", "/contract/no/such/folder"}});
  t.expect(ran.returned && ran.status != BH_OK, "a cwd that is not there: " + ran.told());
}

void env_set(Try& t) {
  if (!t.backend.plugin().exec.lists("env")) Try::skip("exec_schema does not list env");
  Box box(t);
  const std::string odd = "a  b\n$HOME '\"\\ \xc3\xa9=";
  const Ran ran = box.sh("printf '%s|%s|' \"$ODD\" \"${EMPTY-unset}\"",
                         {{"env", json::object({{"ODD", odd}, {"EMPTY", ""}})}});
  t.expect(ran.out == odd + "||", "the environment arrived as " + ran.told());
  const Ran next = box.sh("printf '%s' \"${ODD-unset}\"");
  t.equal("the variable in the next command", next.out, "unset");
}

void env_clean(Try& t) {
  Box box(t);
  const Ran ran = box.run({"/usr/bin/env"});
  if (ran.not_run()) Try::skip("no /usr/bin/env inside");
  t.expect(ran.out.find("BULKHEAD_CONTRACT_") == std::string::npos,
           "the host's environment passed, which no rule allowed: " + ran.told());
  t.expect(ran.out.find("PATH=") != std::string::npos, "there is no PATH: " + ran.told());
}

void signal_state(Try& t) {
  Box box(t);
  const Ran ran = box.sh("grep -E '^Sig(Blk|Ign)' /proc/self/status");
  if (ran.out.empty()) Try::skip("no /proc inside: " + ran.told());
  t.expect(ran.out.find("SigBlk:\t0000000000000000") != std::string::npos,
           "the host thread's mask passed to the command: " + ran.out);
  const size_t at = ran.out.find("SigIgn:");
  const auto ignored =
      at == std::string::npos ? 0 : std::strtoull(ran.out.c_str() + at + 7, nullptr, 16);
  // 32 and 33 are the C library's own, whose posix_spawn leaves them ignored.
  t.expect((ignored & ~0x180000000ull) == 0,
           "the command ignores signals from the start: " + ran.out);
}

void descriptors_closed(Try& t) {
  Box box(t);
  // dash keeps descriptor 10 for itself, ls has the folder open: 3 and above of anything else is
  // ours.
  const Ran ran =
      box.sh("ls -l /proc/self/fd 2>/dev/null | grep -v '/proc/' | grep -- '->' | wc -l");
  if (!ran.exited(0)) Try::skip("no /proc inside: " + ran.told());
  t.expect(std::atoi(ran.out.c_str()) <= 3,
           "descriptors of the host's passed: " + box.sh("ls -l /proc/self/fd").out);
}

void concurrent(Try& t) {
  Box box(t);
  std::vector<Running> all;
  for (int i = 0; i < 16; ++i) {
    all.push_back(
        box.start(Command{{"/bin/sh", "-c", "echo here; read line; echo got $line"}, {}, true}));
  }
  // None has its input yet: all of them run at once, or some would never say that they do.
  bool all_run = true;
  for (Running& one : all) all_run = all_run && one.says("here");
  t.expect(all_run, "a command waits for another to end");
  for (int i = 15; i >= 0; --i) {
    all[static_cast<size_t>(i)].call().feed(std::to_string(i) + "\n");
    all[static_cast<size_t>(i)].call().end_of_input();
  }
  for (int i = 0; i < 16; ++i) {
    const Ran ran = all[static_cast<size_t>(i)].wait(seconds(20));
    t.expect(ran.exited(0) && ran.out == "here\ngot " + std::to_string(i) + "\n", ran.told());
  }
}

void same_id(Try& t) {
  Box box(t);
  Command command{{"/bin/sh", "-c", "echo first; read line"}, {}, true};
  command.id = "the-same";
  Running first = box.start(command);
  t.require(first.says("first"), "the first does not start");
  Command second{{"/bin/sh", "-c", "echo second"}};
  second.id = "the-same";
  const Ran ran = box.run(second);
  t.expect(ran.returned && ran.status != BH_OK,
           "two commands of one id run beside each other: " + ran.told());
  first.call().end_of_input();
  t.expect(first.wait().ok(), "the first was disturbed");
}

void unknown_flag(Try& t) {
  Box box(t);
  auto argument = std::make_shared<std::string>("/bin/sh");
  auto view_of = std::make_shared<bh_str>(str(*argument));
  auto exit = std::make_shared<bh_exit>();
  exit->struct_size = sizeof *exit;
  const Answer answer = t.backend.call(
      [argument, view_of, exit, exec = t.backend.table().exec, box = box.handle()](bh_call* c) {
        bh_exec what{};
        what.struct_size = sizeof what;
        what.flags = 1u << 30;
        what.id = str("flagged");
        what.argv = view_of.get();
        what.argc = 1;
        what.options = str("{}");
        return exec(box, c, &what, exit.get());
      });
  t.expect(answer.not_offered(), "a flag that nobody knows: " + answer.text());
}

void exit_short(Try& t) {
  Box box(t);
  // A host of an older header: its bh_exit ends after exit_code.
  struct Guarded {
    bh_exit exit{};
  };
  auto guarded = std::make_shared<Guarded>();
  std::memset(&guarded->exit, 0x5a, sizeof guarded->exit);
  guarded->exit.struct_size = offsetof(bh_exit, signal);
  auto views = std::make_shared<std::vector<bh_str>>(
      std::vector<bh_str>{str("/bin/sh"), str("-c"), str("exit 9")});
  const Answer answer = t.backend.call(
      [guarded, views, exec = t.backend.table().exec, box = box.handle()](bh_call* c) {
        bh_exec what{};
        what.struct_size = sizeof what;
        what.id = str("short");
        what.argv = views->data();
        what.argc = views->size();
        what.options = str("{}");
        return exec(box, c, &what, &guarded->exit);
      });
  t.expect(answer.ok() && guarded->exit.exit_code == 9, "a short bh_exit: " + answer.text());
  t.expect(guarded->exit.peak_bytes == 0x5a5a5a5a5a5a5a5a && guarded->exit.signal == 0x5a5a5a5a,
           "it wrote behind the end of the caller's bh_exit");
}

void after_destroy(Try& t) {
  Box box(t);
  t.require(t.backend.destroy(box.id()).ok(), "destroy");
  const Ran ran = box.sh("echo alive");
  t.expect(ran.returned && ran.status != BH_OK && ran.out.empty(),
           "a command in a sandbox that was destroyed: " + ran.told());
}

}  // namespace

void add_exec(Suite& s) {
  s.add("exec.argv", "arguments arrive byte for byte", argv_exact);
  s.add("exec.many_arguments", "long arguments and many of them arrive", many_arguments);
  s.add("exec.no_shell", "no shell reads the command", no_shell);
  s.add("exec.path", "a name without a folder is looked up inside", on_path);
  s.add("exec.codes", "exit codes are told as they are, 126, 127 and 137 too", codes);
  s.add("exec.signals", "death by a signal is told as that signal", signals);
  s.add("exec.no_program", "a program that is not there did not run", no_program);
  s.add("exec.no_right", "a file that may not be run did not run", no_right);
  s.add("exec.empty", "a command without a program is refused", empty_argv);
  s.add("exec.cwd_default", "a command starts in the workspace", cwd_default);
  s.add("exec.cwd", "cwd is where it says, or an error", cwd);
  s.add("exec.env", "variables arrive byte for byte, and for this command alone", env_set);
  s.add("exec.env_clean", "nothing of the host's environment passes unasked", env_clean);
  s.add("exec.signal_state", "a command blocks and ignores no signal", signal_state);
  s.add("exec.descriptors", "a command has three descriptors", descriptors_closed);
  s.add("exec.concurrent", "sixteen commands run beside each other", concurrent);
  s.add("exec.same_id", "an id that runs is not given again", same_id);
  s.add("exec.unknown_flag", "flags that are not listed are refused", unknown_flag);
  s.add("exec.short_exit", "nothing is written behind an older host's bh_exit", exit_short);
  s.add("exec.after_destroy", "no command runs in a sandbox that was destroyed", after_destroy);
}

}  // namespace bulkhead::sdk::contract
