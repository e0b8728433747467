// The built program with a home and a project of its own, as the end-to-end tests start it.
#pragma once

#include <signal.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "child.h"
#include "support/catch.h"
#include "temp_dir.h"
#include "text.h"

namespace bh_test {

// A home and a project of its own. Not in /tmp: that is another folder inside a sandbox.
struct Stage {
  TempDir dir{std::string(BH_BINARY_DIR) + "/tests"};
  std::string home = dir.make_dir("home");
  std::string project = dir.make_dir("project");
  std::vector<std::string> more_env;
  std::string cwd = project;
  int stdout_fd = -1;

  Stage() { ::signal(SIGPIPE, SIG_IGN); }

  ChildSetup setup(const std::vector<std::string>& arguments) {
    ChildSetup s;
    s.program = std::string(BH_BINARY_DIR) + "/bin/bulkhead";
    s.arguments = arguments;
    s.env = {"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
    s.env.insert(s.env.end(), more_env.begin(), more_env.end());
    s.cwd = cwd;
    s.stdout_fd = stdout_fd;
    return s;
  }

  struct Ran {
    int code;
    std::string out;
    std::string err;
  };
  Ran run(const std::vector<std::string>& arguments, std::string_view input = {}) {
    Child child(setup(arguments));
    REQUIRE(child.started());
    int code = child.finish(input);
    return {code, child.out, child.err};
  }
};

inline std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace bh_test
