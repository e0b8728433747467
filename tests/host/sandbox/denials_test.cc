#include "sandbox/denials.h"

#include <string>

#include "support/catch.h"

namespace {

bh::json::object report(std::string_view network = "off") {
  std::string text = R"({"rules":[{"rule":"isolation.hides","status":"enforced","value":["/run",)"
                     R"("/home/me/.ssh"]},{"rule":"network.mode","value":")" +
                     std::string(network) + R"("}]})";
  return *bh::json::parse_object(text);
}

// "rule resource" of each guess, one a line.
std::string told(std::string_view printed, std::string_view network = "off") {
  std::string out;
  for (const auto& one : bh::guess_denials(printed, report(network))) {
    const auto& guess = one.get_object();
    CHECK(bh::json::get_bool(guess, "guess"));
    CHECK(!bh::json::get_string(guess, "message").empty());
    out += std::string(bh::json::get_string(guess, "rule")) + " " +
           std::string(bh::json::get_string(guess, "resource")) + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("a path under a hidden one is named, as programs print it") {
  CHECK(told("cat: /home/me/.ssh/id: No such file or directory\n") ==
        "isolation.hides /home/me/.ssh/id\n");
  CHECK(told("FileNotFoundError: [Errno 2] No such file or directory: '/home/me/.ssh'") ==
        "isolation.hides /home/me/.ssh\n");
  CHECK(told("ls: cannot open \"/run/user/1\": Permission denied") ==
        "isolation.hides /run/user/1\n");
}

TEST_CASE("what only looks like a hidden path is not taken for one") {
  CHECK(told("cat: /home/me/.sshd: No such file or directory").empty());
  CHECK(told("cat: /srv/run/x: No such file or directory").empty());
  CHECK(told("reading /home/me/.ssh/id").empty());
}

TEST_CASE("a write outside of the workspace names the path and what would help") {
  CHECK(told("touch: cannot touch '/etc/x': Read-only file system") == "root.view /etc/x\n");
  auto guesses = bh::guess_denials("touch: '/etc/x': Read-only file system", report());
  CHECK(!bh::json::get_string(guesses.at(0).get_object(), "remedy").empty());
}

TEST_CASE("a failed connection is the network rule's, where the network is off") {
  const char* line = "curl: (6) Could not resolve host: example.org\n";
  CHECK(told(line) == "network.mode network\n");
  CHECK(told(line, "unrestricted").empty());
}

TEST_CASE("each is told once, and at most five") {
  std::string text;
  for (int i = 0; i < 9; i++) {
    for (int twice = 0; twice < 2; twice++) {
      text += "cat: /run/" + std::to_string(i) + ": Permission denied\n";
    }
  }
  CHECK(bh::guess_denials(text, report()).size() == 5);
}

TEST_CASE("a report without rules and bytes without sense give nothing") {
  CHECK(bh::guess_denials("cat: /run/x: Permission denied", {}).empty());
  CHECK(bh::guess_denials(std::string_view("\0\n\n/\xff:", 6), report()).empty());
}
