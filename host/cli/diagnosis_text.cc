#include <unistd.h>

#include "cli/diagnosis.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/text.h"

namespace bh::cli {
namespace {

namespace json = boost::json;

json::object setting_json(const Setting& s) {
  json::object o{{"value", nullptr}, {"source", s.source}};
  if (!s.value.empty()) o["value"] = s.value;
  return o;
}

const json::object& limits_of(const Diagnosis& d) {
  return object_at(object_at(d.host, "defaults"), "limits");
}

std::string enforcement_text(const Diagnosis& d, const Palette& palette, std::size_t width) {
  const json::array& rules = array_at(object_at(d.plan, "enforcement"), "rules");
  if (rules.empty()) return {};
  Table table({"RULE", "STATUS", "BY", "WHY"});
  for (const json::value& v : rules) {
    if (!v.is_object()) continue;
    const json::object& r = v.get_object();
    std::string status = string_at(r, "status");
    table.row({string_at(r, "rule"), status, string_at(r, "by"), string_at(r, "reason")},
              paint_of(status), 1);
  }
  return "\n" +
         palette(Paint::kBold, "What " + printable(string_at(d.plan, "backend")) +
                                   " enforces for a command with the defaults") +
         "\n" + table.text(palette, width, "  ");
}

std::string defaults_text(const Diagnosis& d, const Palette& palette) {
  const Setup& s = d.setup;
  const json::object& limits = limits_of(d);
  Table table({"", "", ""});
  auto add = [&](const char* name, const std::string& value, const std::string& source) {
    table.row({name, value, source == "default" ? "" : "from " + source});
  };
  add("persona", s.persona.value, s.persona.source);
  add("workspace", s.workspace_problem ? "none here" : s.workspace.value, s.workspace.source);
  add("backend", s.backend.value.empty() ? string_at(d.plan, "backend") : s.backend.value,
      s.backend.source);
  add("network", s.network.value, s.network.source);
  if (!limits.empty()) {
    add("time", duration_text(int_at(limits, "wall_ms")), "default");
    add("memory", bytes_text(int_at(limits, "memory_bytes")), "default");
    add("processes", std::to_string(int_at(limits, "pids")), "default");
  }
  return "\n" + palette(Paint::kBold, "Defaults") + "\n" + table.text(palette, 0, "  ");
}

std::string checks_text(const Diagnosis& d, const Palette& palette) {
  std::string text;
  for (const Check& c : d.checks) {
    Paint paint = c.status == "ok" ? Paint::kGood : c.status == "note" ? Paint::kWarn : Paint::kBad;
    std::string status = c.status + std::string(6 - c.status.size(), ' ');
    std::string name = c.name + std::string(11 - std::min<std::size_t>(10, c.name.size()), ' ');
    text += palette(paint, status) + name + printable(c.message) + "\n";
    if (!c.remedy.empty()) text += std::string(17, ' ') + "→ " + printable(c.remedy) + "\n";
  }
  return text;
}

}  // namespace

std::string to_text(const Diagnosis& d) {
  Palette palette = Palette::for_fd(STDOUT_FILENO);
  std::size_t width = columns_of(STDOUT_FILENO);
  std::string text = palette(Paint::kBold, "bulkhead " + d.version) + " (plugin ABI " + d.abi + ")";
  std::string library = string_at(d.host, "library");
  if (!library.empty()) text += " " + printable(library);
  text += "\n\n" + checks_text(d, palette) + defaults_text(d, palette);

  Table backends({"BACKEND", "STATUS", "PLUGIN", "WHY"});
  for (const Backend& b : backends_of(d.plugins, d.setup.named)) {
    std::string why = b.message;
    if (!b.remedy.empty()) why += (why.empty() ? "" : "; ") + b.remedy;
    backends.row({b.id, b.status, b.plugin, why}, paint_of(b.status), 1);
  }
  if (!backends.empty()) {
    text += "\n" + palette(Paint::kBold, "Backends") + "\n" + backends.text(palette, width, "  ");
  }
  text += enforcement_text(d, palette, width);

  Table kernel({"", "", ""});
  for (const KernelFact& f : d.kernel) kernel.row({f.name, f.value, f.note});
  text += "\n" + palette(Paint::kBold, "Kernel") + "\n" + kernel.text(palette, width, "  ");

  text += "\n";
  if (d.ready) {
    text += palette(Paint::kGood, "Commands can run in isolation") + ": bulkhead run -- CMD\n";
  } else {
    text += palette(Paint::kBad, "Commands cannot run in isolation yet") +
            ". Next step: " + printable(d.next_step) + "\n";
  }
  return text;
}

json::object to_json(const Diagnosis& d) {
  const Setup& s = d.setup;
  json::object out{
      {"ready", d.ready}, {"next_step", nullptr}, {"version", d.version}, {"abi", d.abi}};
  if (!d.next_step.empty()) out["next_step"] = d.next_step;
  out["config"] =
      json::object{{"path", s.file.path}, {"source", s.file.source}, {"found", s.file.found}};
  json::object defaults;
  defaults["persona"] = setting_json(s.persona);
  defaults["workspace"] = setting_json(s.workspace);
  defaults["backend"] = setting_json(s.backend);
  defaults["network"] = setting_json(s.network);
  defaults["limits"] = limits_of(d);
  out["defaults"] = std::move(defaults);
  json::array checks;
  for (const Check& c : d.checks) {
    checks.push_back(json::object{
        {"name", c.name}, {"status", c.status}, {"message", c.message}, {"remedy", c.remedy}});
  }
  out["checks"] = std::move(checks);
  json::object kernel;
  for (const KernelFact& f : d.kernel) {
    kernel[f.name] = json::object{{"value", f.value}, {"note", f.note}};
  }
  out["kernel"] = std::move(kernel);
  out["host"] = d.host;
  out["plugins"] = d.plugins;
  out["plan"] = d.plan;
  return out;
}

}  // namespace bh::cli
