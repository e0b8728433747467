#include "cli/surroundings.h"

#include <pwd.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <vector>

namespace bh::cli {

Surroundings Surroundings::now() {
  Surroundings s;
  for (char** e = ::environ; e != nullptr && *e != nullptr; ++e) {
    const char* equals = std::strchr(*e, '=');
    if (equals != nullptr)
      s.env.emplace(std::string(static_cast<const char*>(*e), equals), equals + 1);
  }
  std::error_code ec;
  s.cwd = std::filesystem::current_path(ec).string();
  if (const std::string* home = s.var("HOME")) {
    s.home = *home;
  } else {
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
        found != nullptr && found->pw_dir != nullptr) {
      s.home = found->pw_dir;
    }
  }
  return s;
}

const std::string* Surroundings::var(const std::string& name) const {
  auto it = env.find(name);
  return it == env.end() || it->second.empty() ? nullptr : &it->second;
}

std::string Surroundings::absolute(const std::string& path) const {
  if (!path.empty() && path.front() == '/') return path;
  std::string joined = (cwd.empty() ? std::string("/") : cwd) + "/" + path;
  std::string normal = std::filesystem::path(joined).lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

}  // namespace bh::cli
