#include "cli/diagnosis.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "cli/json.h"

namespace bh::cli {
namespace {

namespace json = boost::json;

std::string count_text(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what;
}

}  // namespace

void check_config(Diagnosis& d) {
  const ConfigFile& file = d.setup.file;
  if (file.path.empty()) {
    d.checks.push_back({"config", "note", "no HOME and no XDG_CONFIG_HOME: built-in defaults",
                        "name a file with --config FILE"});
  } else if (file.found) {
    d.checks.push_back({"config", "ok", file.path, {}});
  } else {
    d.checks.push_back({"config", "ok", file.path + " is not there: built-in defaults", {}});
  }
}

void check_data_root(Diagnosis& d, const std::string& path) {
  struct stat st {};
  if (path.empty()) return;
  if (::stat(path.c_str(), &st) != 0) {
    bool absent = errno == ENOENT;
    d.checks.push_back({"data root", absent ? "ok" : "bad",
                        absent ? path + " is made on first use"
                               : "cannot look at " + path + ": " + std::strerror(errno),
                        absent ? "" : "name another with --data-root DIR"});
  } else if (!S_ISDIR(st.st_mode)) {
    d.checks.push_back(
        {"data root", "bad", path + " is not a folder", "name another with --data-root DIR"});
  } else if (::access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
    d.checks.push_back({"data root", "bad", path + " cannot be written",
                        "make it yours, or name another with --data-root DIR"});
  } else if ((st.st_mode & 077) != 0) {
    d.checks.push_back(
        {"data root", "note", path + " can be looked into by others", "chmod 700 " + path});
  } else {
    d.checks.push_back({"data root", "ok", path, {}});
  }
}

void check_workspace_setting(Diagnosis& d) {
  if (d.setup.workspace_problem) {
    const Problem& p = *d.setup.workspace_problem;
    d.checks.push_back({"workspace", "note", p.message, p.remedy});
  } else {
    d.checks.push_back({"workspace", "ok", d.setup.workspace.value, {}});
  }
}

void check_plugins(Diagnosis& d) {
  std::size_t usable = 0;
  std::size_t refused = 0;
  Check check{"plugins", "ok", {}, {}};
  for (const json::value& v : array_at(d.plugins, "plugins")) {
    if (!v.is_object()) continue;
    const json::object& p = v.get_object();
    std::string status = string_at(p, "status");
    if (status == "loaded" || status == "available") ++usable;
    if (status != "refused" && status != "failed") continue;
    if (refused++ == 0) {
      std::string id = string_at(p, "id");
      check.message = (id.empty() ? string_at(p, "path") : id) + ": " + string_at(p, "message");
      check.remedy = string_at(p, "hint");
    }
  }
  std::string counts = count_text(usable, "usable, ") + count_text(refused, "refused");
  if (refused > 0) check.status = "note";
  if (usable == 0 && refused == 0) {
    check.status = "bad";
    check.message = "none was found";
    check.remedy =
        "`bulkhead plugins` shows where they were looked for; --plugin-path DIR adds a place";
  } else if (usable == 0) {
    check.status = "bad";
  }
  check.message = check.message.empty() ? counts : counts + "; " + check.message;
  d.checks.push_back(std::move(check));
}

std::vector<Backend> backends_of(const json::object& plugins, const Named& named) {
  std::vector<Backend> all;
  for (const json::value& v : array_at(plugins, "plugins")) {
    if (!v.is_object()) continue;
    const json::object& p = v.get_object();
    std::string plugin_status = string_at(p, "status");
    if (plugin_status == "shadowed") continue;
    for (const json::value& w : array_at(p, "provides")) {
      if (!w.is_object()) continue;
      const json::object& provided = w.get_object();
      if (string_at(provided, "interface").rfind("bh.isolation/", 0) != 0) continue;
      const json::object& probe = object_at(provided, "probe");
      Backend b{string_at(provided, "id"), string_at(p, "id"), string_at(probe, "status"),
                in_cli_words(string_at(probe, "message"), named),
                in_cli_words(string_at(probe, "hint"), named)};
      if (b.status.empty()) {
        b.status = plugin_status;
        b.message = string_at(p, "message");
        b.remedy = string_at(p, "hint");
      }
      all.push_back(std::move(b));
    }
  }
  return all;
}

void check_isolation(Diagnosis& d) {
  std::string backend = string_at(d.plan, "backend");
  if (backend.empty()) return;  // why the plan failed is a check already
  Check check{"isolation", "ok", {}, {}};
  for (const Backend& b : backends_of(d.plugins, d.setup.named)) {
    if (b.id != backend || b.status == "ok" || b.status == "loaded" || b.status == "available") {
      continue;
    }
    check = {"isolation", "bad", backend + " does not work here: " + b.message, b.remedy};
  }
  std::size_t partial = 0;
  std::size_t unsupported = 0;
  std::size_t enforced = 0;
  for (const json::value& v : array_at(object_at(d.plan, "enforcement"), "rules")) {
    if (!v.is_object()) continue;
    std::string status = string_at(v.get_object(), "status");
    ++(status == "enforced" ? enforced : status == "partial" ? partial : unsupported);
  }
  if (backend == "process") {
    check = {"isolation", "bad", "the backend process isolates nothing",
             "choose another with --backend ID"};
  }
  if (check.status == "ok") {
    check.message = backend + ": " + count_text(enforced, "rules enforced, ") +
                    count_text(partial, "in part, ") + count_text(unsupported, "not");
    if (partial + unsupported > 0) check.status = "note";
  }
  d.checks.push_back(std::move(check));
}

void conclude(Diagnosis& d) {
  d.ready = !string_at(d.plan, "backend").empty();
  for (const Check& c : d.checks) {
    if (c.status != "bad") continue;
    d.ready = false;
    if (d.next_step.empty()) d.next_step = c.remedy.empty() ? c.message : c.remedy;
  }
  if (!d.ready && d.next_step.empty()) {
    d.next_step = "`bulkhead plugins` shows why no isolation backend can be used";
  }
}

}  // namespace bh::cli
