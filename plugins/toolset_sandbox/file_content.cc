#include "file_content.h"

#include <charconv>
#include <utility>

#include "encoding.h"
#include "lifecycle.h"

namespace toolset_sandbox {

namespace {

// An answer holds the content twice.
constexpr size_t kMostRead = 3u << 20;

struct Range {
  int64_t from = 0;  // from the end where it is negative
  std::optional<int64_t> size;
};

sdk::Failure bad_range(const std::string& header) {
  return wrong("range_header is \"" + header + "\"", "/range_header",
               "write one range: bytes=0-99, bytes=100- or bytes=-50 for the last 50");
}

std::optional<int64_t> number(std::string_view text) {
  int64_t out = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || text[0] == '-' || parsed.ec != std::errc() ||
      parsed.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return out;
}

sdk::Result<Range> range_of(const std::string& header) {
  constexpr std::string_view kUnit = "bytes=";
  std::string_view rest = header;
  if (rest.substr(0, kUnit.size()) != kUnit) return bad_range(header);
  rest.remove_prefix(kUnit.size());
  const size_t dash = rest.find('-');
  if (dash == std::string_view::npos) return bad_range(header);
  const std::string_view last_text = rest.substr(dash + 1);
  const auto last = number(last_text);
  if (!last && !last_text.empty()) return bad_range(header);
  Range out;
  if (dash == 0) {
    if (!last || *last == 0) return bad_range(header);
    out.from = -*last;
    return out;
  }
  const auto first = number(rest.substr(0, dash));
  if (!first || (last && *last < *first)) return bad_range(header);
  out.from = *first;
  if (last) out.size = *last - *first + 1;
  return out;
}

// The size of a file, before a part of it is asked for.
sdk::Result<int64_t> size_of(sdk::Call& call, const std::string& id, const std::string& path) {
  int64_t size = 0;
  auto done = sdk::Operation("sandbox.file_info")
                  .args(json::print(json::object{{"sandbox", id}, {"paths", json::array{path}}}))
                  .on_item([&](std::string_view item) -> sdk::Status {
                    auto one = json::parse_object(item);
                    if (!one) return std::move(one).failure();
                    size = json::integer(*one, "size");
                    return {};
                  })
                  .run(call);
  if (!done) return std::move(done).failure();
  return size;
}

sdk::Status add_range(Request& request, json::object& args) {
  if (!request.has("range_header")) return {};
  auto range = range_of(request.text("range_header"));
  if (!range) return std::move(range).failure();
  const std::string path = request.text("path");
  auto size = size_of(request.call, std::string(json::text(args, "sandbox")), path);
  if (!size) return std::move(size).failure();
  const int64_t from = range->from < 0 ? std::max<int64_t>(0, *size + range->from) : range->from;
  if (from >= *size) {
    return sdk::failure(BH_OUT_OF_RANGE,
                        path + " has " + std::to_string(*size) +
                            " bytes; the range begins behind its end",
                        "range", "/range_header");
  }
  args["offset"] = from;
  if (range->size) args["size"] = *range->size;
  return {};
}

}  // namespace

sdk::Result<std::string> read_bytes(sdk::Call& call, const json::object& args, size_t most,
                                    json::object& told) {
  std::string bytes;
  auto done = sdk::Operation("sandbox.read_file")
                  .args(json::print(args))
                  .on_output([&](int32_t, std::string_view data) -> sdk::Status {
                    if (bytes.size() + data.size() > most) {
                      return sdk::failure(BH_RESOURCE_EXHAUSTED,
                                          "there is more to read than the " +
                                              std::to_string(most) + " bytes that one answer holds",
                                          "too_large", "/path",
                                          "read it in parts, with range_header");
                    }
                    bytes += data;
                    return {};
                  })
                  .run(call);
  if (!done) return std::move(done).failure();
  auto parsed = json::parse_object(*done);
  if (!parsed) return std::move(parsed).failure();
  told = *std::move(parsed);
  return bytes;
}

sdk::Result<sdk::ToolResult> file_read(Request& request) {
  const bool bytes_too = request.shared.options.extras;
  const std::string encoding(json::text(request.args, "encoding", "utf-8"));
  if (auto fits = decoded("", encoding, bytes_too); !fits) return std::move(fits).failure();
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  json::object args{{"sandbox", *id}, {"path", request.text("path")}};
  if (auto st = add_range(request, args); !st) return std::move(st).failure();
  json::object told;
  auto bytes = read_bytes(request.call, args, kMostRead, told);
  if (!bytes) return std::move(bytes).failure();
  auto content = decoded(*std::move(bytes), encoding, bytes_too);
  if (!content) return std::move(content).failure();
  return answer(json::object{{"path", request.text("path")}, {"content", *content}});
}

sdk::Result<sdk::ToolResult> file_write(Request& request) {
  auto bytes = encoded(json::text(request.args, "content"),
                       json::text(request.args, "encoding", "utf-8"),
                       request.shared.options.extras);
  if (!bytes) return std::move(bytes).failure();
  auto mode = mode_bits(json::integer(request.args, "mode", 755), "/mode");
  if (!mode) return std::move(mode).failure();
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  json::object args{{"sandbox", *id}, {"path", request.text("path")}};
  if (*mode) args["mode"] = **mode;
  for (const char* key : {"owner", "group"}) {
    if (request.has(key)) args[key] = request.text(key);
  }
  auto written = sdk::Operation("sandbox.write_file")
                     .args(json::print(args))
                     .input(*std::move(bytes))
                     .run(request.call);
  if (!written) return std::move(written).failure();
  return answer_status("written");
}

sdk::Result<sdk::ToolResult> file_replace_contents(Request& request) {
  json::array edits;
  const json::array& entries = request.args.at("entries").get_array();
  for (size_t i = 0; i < entries.size(); ++i) {
    const json::object& entry = entries[i].get_object();
    if (json::text(entry, "old_content").empty()) {
      return wrong("old_content is empty: it is found nowhere and everywhere",
                   "/entries/" + std::to_string(i) + "/old_content");
    }
    edits.push_back(json::object{{"path", entry.at("path")},
                                 {"old", entry.at("old_content")},
                                 {"new", entry.at("new_content")}});
  }
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  json::array out;
  if (edits.empty()) return answer_list(out);
  auto done = operate(request.call, "sandbox.replace_in_files",
                      {{"sandbox", *id}, {"edits", std::move(edits)}});
  if (!done) return std::move(done).failure();
  const json::array none;
  const json::array* results = json::list(*done, "results");
  for (const json::value& one : results != nullptr ? *results : none) {
    const json::object& o = one.get_object();
    out.push_back(
        json::object{{"path", o.at("path")}, {"replaced_count", json::integer(o, "replaced")}});
  }
  return answer_list(out);
}

}  // namespace toolset_sandbox
