// files_get: text in pieces that a model can take, pictures and other bytes whole.
#include <algorithm>
#include <bulkhead/sdk/text.hpp>

#include "tools.h"

namespace toolset_files {

namespace {

constexpr int64_t kPiece = 64 * 1024;
constexpr int64_t kLargest = 1024 * 1024;          // that max_bytes may say
constexpr int64_t kWholeBytes = 8 * 1024 * 1024;   // of what is no text: half a picture is none

constexpr char kGetInput[] = R"({
  "type":"object",
  "additionalProperties":false,
  "required":["path"],
  "properties":{
    "path":{"type":"string","minLength":1,"description":"As files_list names it."},
    "offset":{"type":"integer","minimum":0,"default":0,"description":"The byte to begin with: next_offset of the answer before."},
    "max_bytes":{"type":"integer","minimum":1,"maximum":1048576,"default":65536,"description":"How much of a large file to give at once."}
  }
})";

constexpr char kOutput[] = R"({
  "type":"object",
  "required":["path","size","etag","offset","sent","next_offset"],
  "properties":{
    "path":{"type":"string"},
    "size":{"type":"integer","description":"Of the whole file."},
    "etag":{"type":["string","null"]},
    "media_type":{"type":["string","null"]},
    "modified_ms":{"type":"integer"},
    "offset":{"type":"integer"},
    "sent":{"type":"integer","description":"How many bytes of it this answer has."},
    "next_offset":{"type":["integer","null"],"description":"Where to go on; null: this was the end."},
    "text":{"type":["string","null"],"description":"null: it is no text; the bytes are an attachment."}
  }
})";

struct Piece {
  std::string bytes;
  json::object about;
};

sdk::Result<Piece> read(sdk::Call& call, const json::object& args, int64_t offset, int64_t size) {
  Piece out;
  json::object asked{{"offset", offset}, {"size", size}};
  pass(args, {"path"}, asked);
  sdk::Operation operation("files.get");
  operation.on_output([&](int32_t, std::string_view data) -> sdk::Status {
    out.bytes += data;
    return {};
  });
  auto about = run(call, std::move(operation), asked);
  if (!about) return std::move(about).failure();
  out.about = std::move(*about);
  return out;
}

// How much of the piece is whole characters: what a cut left of the last one is read again with the
// next piece. Nothing where it is no text at all.
size_t whole_text(std::string_view bytes, bool at_end) {
  for (size_t back = 0; back <= 3 && back <= bytes.size(); ++back) {
    const std::string_view text = bytes.substr(0, bytes.size() - back);
    if (sdk::is_utf8(text) && text.find('\0') == std::string_view::npos) {
      return text.empty() && !bytes.empty() ? 0 : text.size();
    }
    if (at_end) return 0;
  }
  return 0;
}

bool says_bytes(std::string_view media_type) {
  for (std::string_view kind : {"image/", "audio/", "video/", "font/"}) {
    if (media_type.substr(0, kind.size()) == kind) {
      return media_type != "image/svg+xml";
    }
  }
  return media_type == "application/octet-stream" || media_type == "application/pdf" ||
         media_type == "application/zip" || media_type == "application/gzip";
}

sdk::Result<sdk::ToolResult> give_text(Piece piece, int64_t offset, int64_t size) {
  const auto sent = static_cast<int64_t>(piece.bytes.size());
  const int64_t next = offset + sent;
  std::string shown = piece.bytes;
  if (next < size) {
    shown += "\n[... " + std::to_string(size - next) + " more bytes of " + std::to_string(size) +
             "; go on with offset " + std::to_string(next) + "]";
  } else if (shown.empty()) {
    shown = size == 0 ? "(an empty file)" : "(the file ends before that offset)";
  }
  json::object about;
  pass(piece.about, {"path", "size", "media_type", "modified_ms", "offset"}, about);
  about["etag"] = piece.about["etag"];
  about["sent"] = sent;
  about["next_offset"] = next < size ? json::value(next) : json::value(nullptr);
  about["text"] = piece.bytes;
  return sdk::ToolResult(shown).structured(json::print(about));
}

sdk::Result<sdk::ToolResult> give_bytes(sdk::Call& call, const Piece& piece, int64_t offset,
                                        int64_t size) {
  const std::string path(json::text(piece.about, "path"));
  const std::string type(json::text(piece.about, "media_type", "application/octet-stream"));
  const auto sent = static_cast<int64_t>(piece.bytes.size());
  const int64_t next = offset + sent;
  json::object about;
  pass(piece.about, {"path", "size", "media_type", "modified_ms", "offset"}, about);
  const json::value* etag = piece.about.if_contains("etag");
  about["etag"] = etag != nullptr ? *etag : json::value(nullptr);
  about["sent"] = sent;
  about["next_offset"] = next < size ? json::value(next) : json::value(nullptr);
  about["text"] = nullptr;
  std::string line = path + " is no text: " + amount(size) + " of " + type;
  if (sent < size) {
    line += "; bytes " + std::to_string(offset) + " to " + std::to_string(next) + " are attached";
    if (next < size) line += ", go on with offset " + std::to_string(next);
    line += ". For the whole, copy it with files_copy_to_sandbox";
  }
  const std::string name = path.substr(path.rfind('/') + 1);
  if (auto st = call.attach(name, type, piece.bytes); !st) return std::move(st).failure();
  return sdk::ToolResult(line).attachment(name).structured(json::print(about));
}

}  // namespace

sdk::Tool get_tool() {
  return sdk::Tool("files_get")
      .title("Read a stored file")
      .description(
          "Reads a stored file. Text comes 64 KiB at a time, and says how to go on; pictures and "
          "other bytes come whole up to 8 MiB. For work on a large file copy it with "
          "files_copy_to_sandbox.")
      .input_schema(kGetInput)
      .output_schema(kOutput)
      .read_only(true)
      .idempotent(true)
      .open_world(false)
      .needs("files.get/1");
}

sdk::Result<sdk::ToolResult> get(sdk::Call& call, std::string_view text) {
  auto args = json::parse_object(text);
  if (!args) return std::move(args).failure();
  const int64_t offset = json::integer(*args, "offset");
  const int64_t most = std::min(json::integer(*args, "max_bytes", kPiece), kLargest);
  auto piece = read(call, *args, offset, most);
  if (!piece) return std::move(piece).failure();
  const int64_t size = json::integer(piece->about, "size");
  const bool at_end = offset + static_cast<int64_t>(piece->bytes.size()) >= size;
  const size_t whole = whole_text(piece->bytes, at_end);
  const bool is_text = !says_bytes(json::text(piece->about, "media_type")) &&
                       (whole > 0 || piece->bytes.empty());
  if (is_text) {
    piece->bytes.resize(whole);
    return give_text(std::move(*piece), offset, size);
  }
  const bool wants_piece = offset != 0 || args->contains("max_bytes");
  if (!at_end && !wants_piece && size <= kWholeBytes) {
    piece = read(call, *args, 0, kWholeBytes);
    if (!piece) return std::move(piece).failure();
  }
  return give_bytes(call, *piece, offset, json::integer(piece->about, "size"));
}

}  // namespace toolset_files
