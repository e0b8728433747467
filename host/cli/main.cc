#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cli/verbs.h"

int main(int argc, char** argv) {
  // Where 0, 1 or 2 are closed the next file that is opened would take their place.
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) return 125;
  }
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) arguments.emplace_back(argv[i]);
  return bh::cli::program(arguments);
}
