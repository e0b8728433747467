#include "cli/image_build.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "cli/output.h"
#include "cli/text.h"

namespace bh::cli {
namespace {

constexpr std::size_t kKeptLines = 12;

// What an agent's session has: the tools that its commands expect, and nothing that runs by itself.
constexpr const char* kAgentSession[] = {
    "ca-certificates", "curl",    "git",         "jq",          "make",   "nodejs",
    "npm",             "openssh-client", "procps", "python3", "python3-pip", "python3-venv",
    "unzip",           "vim",     "wget"};

// ROOT SUITE MIRROR SOURCES PACKAGE...: everything in a mount namespace of its own, so that no mount
// outlives it. The machine's settings for fetching (a proxy) hold inside while it is built.
constexpr char kScript[] = R"sh(
set -eu
root=$1 suite=$2 mirror=$3 sources=$4
shift 4
echo "fetching the base system of $suite"
debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror"
printf '%s' "$sources" > "$root/etc/apt/sources.list"
apt-config dump | grep '^Acquire::\(http\|https\|ftp\|Retries\)' \
  > "$root/etc/apt/apt.conf.d/00bulkhead-build" || true
cp /etc/resolv.conf "$root/etc/resolv.conf"
printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
mount -t proc proc "$root/proc"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive "$@"; }
echo "reading the package lists"
inside apt-get -q update
echo "installing the packages"
inside apt-get -q -y --no-install-recommends upgrade
inside apt-get -q -y --no-install-recommends install "$@"
inside apt-get -q clean
umount "$root/proc"
rm -rf "$root/var/lib/apt/lists"/* "$root/var/cache/apt"/*.bin "$root/var/log"/*.log \
  "$root/var/log/apt"/* "$root/usr/sbin/policy-rc.d" "$root/etc/apt/apt.conf.d/00bulkhead-build" \
  "$root/etc/resolv.conf" "$root/etc/hostname"
: > "$root/etc/machine-id"
)sh";

std::string find_program(const std::string& name, const Surroundings& around) {
  const std::string* path = around.var("PATH");
  // Programs of root's are often not in a user's PATH.
  std::istringstream places((path != nullptr ? *path : std::string()) + ":/usr/sbin:/sbin:/usr/bin:/bin");
  for (std::string place; std::getline(places, place, ':');) {
    if (place.empty() || place[0] != '/') continue;
    std::string whole = place + "/" + name;
    if (::access(whole.c_str(), X_OK) == 0) return whole;
  }
  return {};
}

// A program whose output is read line by line until it ends, or a signal ends it.
class Child {
 public:
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (out_ >= 0) ::close(out_);
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }

  bool start(const std::string& program, std::vector<std::string> words) {
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) return false;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&how);
    ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, pipe[1], 1);
    ::posix_spawn_file_actions_adddup2(&files, pipe[1], 2);
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&how, &none);
    ::posix_spawnattr_setpgroup(&how, 0);
    ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const int error = ::posix_spawn(&pid_, program.c_str(), &files, &how, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&how);
    ::close(pipe[1]);
    out_ = pipe[0];
    if (error != 0) pid_ = -1;
    return error == 0;
  }

  // Its exit code, or -signal; of ours where one came.
  int finish(Signals* signals, Progress* progress) {
    std::string rest;
    while (out_ >= 0) {
      pollfd fds[2] = {{out_, POLLIN, 0}, {signals != nullptr ? signals->fd() : -1, POLLIN, 0}};
      (void)::poll(fds, 2, progress != nullptr ? progress->wait_ms() : -1);
      if (progress != nullptr) progress->tick();
      while (signals != nullptr && fds[1].revents != 0) {
        std::optional<int> number = signals->next();
        if (!number) break;
        if (*number != SIGCONT) return -*number;
      }
      if (fds[0].revents != 0) read_some(rest, progress);
    }
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  const std::deque<std::string>& lines() const { return lines_; }
  const std::string& all() const { return all_; }

 private:
  void read_some(std::string& rest, Progress* progress) {
    char buffer[65536];
    const ssize_t got = ::read(out_, buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
      ::close(out_);
      out_ = -1;
      return;
    }
    if (progress == nullptr) all_.append(buffer, static_cast<std::size_t>(got));
    rest.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string::npos;) {
      std::string line = rest.substr(0, end);
      rest.erase(0, end + 1);
      if (line.empty()) continue;
      if (progress != nullptr) progress->detail(line);
      lines_.push_back(std::move(line));
      if (lines_.size() > kKeptLines) lines_.pop_front();
    }
  }

  pid_t pid_ = -1;
  int out_ = -1;
  std::deque<std::string> lines_;
  std::string all_;  // of a short one
};

struct Sources {
  std::string suite;
  std::string mirror;
  std::string list;  // as sources.list has it
};

std::string own_release() {
  std::ifstream file("/etc/os-release");
  constexpr std::string_view kKey = "VERSION_CODENAME=";
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, kKey.size(), kKey) == 0) return line.substr(kKey.size());
  }
  return {};
}

// What this machine's apt reads, for the release that is wished.
Result<Sources> sources_of(const std::string& wished, const Surroundings& around) {
  Sources out;
  const std::string own = own_release();
  out.suite = wished.empty() ? own : wished;
  if (out.suite.empty() || out.suite.front() == '-' ||
      out.suite.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") != std::string::npos) {
    return problem("there is no release \"" + out.suite + "\"", "name one, as --suite bookworm");
  }
  Child apt;
  if (!apt.start(find_program("apt-get", around),
                 {"apt-get", "indextargets", "--format", "$(SITE) $(RELEASE) $(COMPONENT)",
                  "Created-By: Packages"}) ||
      apt.finish(nullptr, nullptr) != 0) {
    return problem("apt does not say where its packages come from",
                   "`apt-get indextargets` says why");
  }
  std::istringstream lines(apt.all());
  std::set<std::string> listed;
  std::string site, release, component, first;
  while (lines >> site >> release >> component) {
    if (release == own && component == "main" && first.empty()) first = site;
    for (const char* beside : {"", "-updates", "-security"}) {
      if (release != out.suite + beside || !listed.insert(site + release + component).second) continue;
      out.list += "deb " + site + " " + release + " " + component + "\n";
      if (*beside == '\0' && component == "main" && out.mirror.empty()) out.mirror = site;
    }
  }
  if (out.mirror.empty()) {
    // Another release than this machine's: from the same mirror.
    out.mirror = first;
    out.list = "deb " + first + " " + out.suite + " main\n" + out.list;
  }
  if (out.mirror.empty()) {
    return problem("apt has no source for " + out.suite, "add one to its sources");
  }
  return out;
}

// What it said last, line by line, where it failed by itself.
Problem failed(const std::deque<std::string>& lines, int code) {
  if (code < 0) {
    return Problem{"building the image was stopped by signal " + std::to_string(-code), {},
                   kExitSignal - code};
  }
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) complain("  " + printable(lines[i]) + "\n");
  return Problem{"building the image failed" + (lines.empty() ? "" : ": " + lines.back()), {}};
}

}  // namespace

Result<BuildFolder> BuildFolder::make(const std::string& data_root) {
  const std::string images = data_root + "/images";
  if (::mkdir(images.c_str(), 0700) != 0 && errno != EEXIST) {
    return problem("cannot make " + images + ": " + std::strerror(errno));
  }
  std::string path = images + "/new-build-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return problem("cannot make a folder in " + images + ": " + std::strerror(errno));
  }
  const int lock = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  BuildFolder made(path, lock);
  if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return problem("cannot lock " + path + ": " + std::strerror(errno));
  }
  return made;
}

BuildFolder::BuildFolder(BuildFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {
  other.path_.clear();
}

BuildFolder::~BuildFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

Result<void> check_build(const Surroundings& around) {
  if (::geteuid() != 0) {
    return problem("building an image takes root: its files belong to several users, and packages are "
                   "configured inside it",
                   "run it with sudo, or import one that was built elsewhere: bulkhead image import FILE");
  }
  for (const auto& [program, package] :
       {std::pair("debootstrap", "debootstrap"), std::pair("apt-get", "apt"),
        std::pair("unshare", "util-linux"), std::pair("setpriv", "util-linux")}) {
    if (!find_program(program, around).empty()) continue;
    return problem(std::string("building an image takes ") + program + ", which is not there",
                   std::string("apt-get install ") + package);
  }
  return {};
}

Result<void> build_root(const std::string& recipe, const std::string& suite,
                        const std::string& root, const Surroundings& around, Signals& signals,
                        Progress& progress) {
  if (recipe != "agent-session") {
    return problem("there is no recipe \"" + recipe + "\"", "there is agent-session");
  }
  Result<Sources> sources = sources_of(suite, around);
  if (!sources) return tl::unexpected<Problem>(std::move(sources.error()));
  // All of it dies with us: the first with this thread, the rest with their pid namespace.
  std::vector<std::string> words = {
      "setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private", "--pid",
      "--fork",  "--kill-child", "sh",  "-c",      kScript,   "bulkhead-image-build", root,
      sources->suite, sources->mirror, sources->list};
  for (const char* package : kAgentSession) words.emplace_back(package);
  Child child;
  if (!child.start(find_program("setpriv", around), std::move(words))) {
    return problem("the build cannot be started");
  }
  const int code = child.finish(&signals, &progress);
  progress.clear();
  if (code == 0) return {};
  return tl::unexpected<Problem>(failed(child.lines(), code));
}

}  // namespace bh::cli
