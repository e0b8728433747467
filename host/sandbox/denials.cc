#include "sandbox/denials.h"

#include <algorithm>
#include <string>

namespace bh {

namespace {

constexpr std::size_t kMost = 5;
constexpr std::string_view kGuess = " (guessed from the error message)";

bool has(std::string_view line, std::string_view words) { return line.find(words) != line.npos; }

json::string text(std::string_view words) { return json::string(words.data(), words.size()); }

// Where an error text ends a path: "cat: /a/b: No such file", "'/a/b'", "/a/b (os error 2)".
bool ends_path(char c) { return c == ':' || c == '\'' || c == '"' || c == ' ' || c == ','; }

// The path in `line` that starts at `at`.
std::string_view path_at(std::string_view line, std::size_t at) {
  std::size_t end = at;
  while (end < line.size() && !ends_path(line[end])) end++;
  return line.substr(at, end - at);
}

// The first path of `line` that is `root` or lies under it, or nothing.
std::string_view path_under(std::string_view line, std::string_view root) {
  for (std::size_t at = line.find(root); at != line.npos; at = line.find(root, at + 1)) {
    std::string_view path = path_at(line, at);
    const bool starts = at == 0 || ends_path(line[at - 1]);
    if (starts && (path.size() == root.size() || path[root.size()] == '/')) return path;
  }
  return {};
}

std::string_view first_path(std::string_view line) {
  for (std::size_t at = line.find('/'); at != line.npos; at = line.find('/', at + 1)) {
    if (at == 0 || ends_path(line[at - 1])) return path_at(line, at);
  }
  return {};
}

const json::value* value_of(const json::object& report, std::string_view rule) {
  const json::array* rules = json::get_array(report, "rules");
  if (rules == nullptr) return nullptr;
  for (const json::value& one : *rules) {
    if (one.is_object() && json::get_string(one.get_object(), "rule") == rule) {
      return one.get_object().if_contains("value");
    }
  }
  return nullptr;
}

class Guesses {
 public:
  void add(std::string_view rule, std::string_view resource, std::string message,
           std::string_view remedy = {}) {
    const auto same = [&](const json::value& v) {
      return json::get_string(v.get_object(), "rule") == rule &&
             json::get_string(v.get_object(), "resource") == resource;
    };
    if (found_.size() == kMost || std::any_of(found_.begin(), found_.end(), same)) return;
    json::object one;
    one["rule"] = text(rule);
    one["resource"] = text(resource);
    one["message"] = text(message.append(kGuess));
    if (!remedy.empty()) one["remedy"] = text(remedy);
    one["guess"] = true;
    found_.emplace_back(std::move(one));
  }

  json::array take() { return std::move(found_); }

 private:
  json::array found_;
};

void guess_hidden(std::string_view line, const json::value* hides, Guesses& guesses) {
  if (hides == nullptr || !hides->is_array()) return;
  if (!has(line, "No such file or directory") && !has(line, "Permission denied")) return;
  for (const json::value& one : hides->get_array()) {
    if (!one.is_string()) continue;
    std::string_view root(one.get_string().data(), one.get_string().size());
    std::string_view path = path_under(line, root);
    if (path.empty()) continue;
    guesses.add("isolation.hides", path, std::string(path) + " is hidden from every sandbox");
    return;
  }
}

void guess_read_only(std::string_view line, Guesses& guesses) {
  if (!has(line, "Read-only file system")) return;
  std::string_view path = first_path(line);
  guesses.add("root.view", path,
              (path.empty() ? "what it wrote to" : std::string(path)) +
                  " is outside of the workspace, where everything is read-only",
              "a profile that lists it as rw");
}

void guess_network(std::string_view line, const json::value* mode, Guesses& guesses) {
  if (mode == nullptr || !mode->is_string() || mode->get_string() != "off") return;
  for (std::string_view words :
       {"Connection refused", "Network is unreachable", "Temporary failure in name resolution",
        "Name or service not known", "Could not resolve host", "Cannot assign requested address"}) {
    if (!has(line, words)) continue;
    guesses.add("network.mode", "network", "the network is off in this sandbox",
                "network unrestricted");
    return;
  }
}

}  // namespace

json::array guess_denials(std::string_view printed, const json::object& report) {
  const json::value* hides = value_of(report, "isolation.hides");
  const json::value* mode = value_of(report, "network.mode");
  Guesses guesses;
  while (!printed.empty()) {
    const std::size_t end = std::min(printed.find('\n'), printed.size());
    std::string_view line = printed.substr(0, end);
    printed.remove_prefix(std::min(end + 1, printed.size()));
    guess_hidden(line, hides, guesses);
    guess_read_only(line, guesses);
    guess_network(line, mode, guesses);
  }
  return guesses.take();
}

}  // namespace bh
