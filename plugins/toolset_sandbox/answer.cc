#include "answer.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace toolset_sandbox {

namespace {

// As much of one result as the host takes, with room for what it puts around it.
constexpr size_t kMostBytes = (8u << 20) - 65536;

void print_number(std::string& out, double d) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, d).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  out += text;
  if (text.find_first_of(".en") == std::string_view::npos) out += ".0";
}

class Printer {
 public:
  explicit Printer(int indent) : indent_(indent) {}

  void value(const json::value& v, int depth) {
    if (const json::object* o = v.if_object()) return object(*o, depth);
    if (const json::array* a = v.if_array()) return array(*a, depth);
    if (v.is_string()) {
      out += sdk::json_quote(json::view(v.get_string()));
    } else if (v.is_double()) {
      print_number(out, v.get_double());
    } else {
      out += json::print(v);
    }
  }

  std::string out;

 private:
  void line(int depth) {
    if (indent_ == 0) return;
    out += '\n';
    out.append(static_cast<size_t>(depth * indent_), ' ');
  }
  void object(const json::object& o, int depth) {
    out += '{';
    bool first = true;
    for (const auto& member : o) {
      if (!first) out += ',';
      first = false;
      line(depth + 1);
      out += sdk::json_quote({member.key().data(), member.key().size()});
      out += indent_ == 0 ? ":" : ": ";
      value(member.value(), depth + 1);
    }
    if (!first) line(depth);
    out += '}';
  }
  void array(const json::array& a, int depth) {
    out += '[';
    bool first = true;
    for (const json::value& one : a) {
      if (!first) out += ',';
      first = false;
      line(depth + 1);
      value(one, depth + 1);
    }
    if (!first) line(depth);
    out += ']';
  }
  const int indent_;
};

sdk::Result<sdk::ToolResult> within_bounds(sdk::ToolResult result) {
  const size_t size = result.json().size();
  if (size <= kMostBytes) return result;
  return sdk::failure(BH_RESOURCE_EXHAUSTED,
                      "the answer would have " + std::to_string(size) +
                          " bytes, more than one answer may have",
                      "result_too_large", {}, "ask for a part of it");
}

}  // namespace

std::string print(const json::value& v, int indent) {
  Printer printer(indent);
  printer.value(v, 0);
  return std::move(printer.out);
}

sdk::Result<sdk::ToolResult> answer(const json::object& structured) {
  sdk::ToolResult result(print(structured, 2));
  result.structured(print(structured, 0));
  return within_bounds(std::move(result));
}

sdk::Result<sdk::ToolResult> answer_list(const json::array& list) {
  sdk::ToolResult result;
  for (const json::value& one : list) result.text(print(one, 2));
  result.structured(print(json::object{{"result", list}}, 0));
  return within_bounds(std::move(result));
}

sdk::Result<sdk::ToolResult> answer_status(const char* word) {
  return answer(json::object{{"status", word}});
}

std::string date_time(int64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm tm{};
  ::gmtime_r(&seconds, &tm);
  char buffer[64];
  size_t n = std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%S", &tm);
  std::string out(buffer, n);
  if (ms % 1000 != 0) {
    n = static_cast<size_t>(
        std::snprintf(buffer, sizeof buffer, ".%03d000", static_cast<int>(ms % 1000)));
    out.append(buffer, n);
  }
  return out + "Z";
}

json::value date_time_or_null(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains({key.data(), key.size()});
  if (v == nullptr || !v->is_number()) return nullptr;
  return json::value(date_time(json::integer(o, key)));
}

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace toolset_sandbox
