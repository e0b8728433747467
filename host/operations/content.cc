#include "operations/content.h"

#include <bulkhead/plugin.h>

#include "base/base64.h"

namespace bh {

const char kContentSchema[] =
    R"({"description":"Text, or bytes as base64. Without it: the request's attachment, or else its input.","anyOf":[{"type":"string"},{"type":"object","required":["base64"],"properties":{"base64":{"type":"string"}},"additionalProperties":false}]})";
const char kContentInput[] = "the bytes, where neither `content` nor an attachment has them";

Result<void> take_content(Call& call, const Arguments& args, Content& out) {
  if (const json::value* given = args.values.if_contains("content")) {
    if (const json::object* encoded = given->if_object()) {
      auto decoded = base64::decode(json::get_string(*encoded, "base64"));
      if (!decoded) {
        return fail(decoded.error().code, "/content/base64: " + decoded.error().message, "base64",
                    {{"field", "/content/base64"}});
      }
      out.decoded = std::move(*decoded);
      out.data = out.decoded;
    } else {
      out.data = std::string_view(given->get_string());
    }
    return {};
  }
  if (!args.blobs.empty()) {
    if (args.blobs.size() > 1) {
      return fail(BH_INVALID_ARGUMENT,
                  "one file takes one attachment, and " + std::to_string(args.blobs.size()) +
                      " were given; call once for each",
                  "schema", {{"field", "/content"}});
    }
    out.data = args.blobs[0].data;
    out.media_type = args.blobs[0].media_type;
    return {};
  }
  if (call.input().announced()) {
    out.input = &call.input();
    return {};
  }
  return fail(BH_INVALID_ARGUMENT,
              "there is nothing to write: give \"content\", an attachment or input", "schema",
              {{"field", "/content"}, {"remedy", "for an empty file, give \"content\": \"\""}});
}

bh_status DataSink::emit(Call& from, int stream, std::string_view bytes) {
  if (stream != BH_STREAM_DATA) return BH_OK;
  {
    std::lock_guard lock(mutex_);
    sent_ += static_cast<std::int64_t>(bytes.size());
    if (collect_) kept_.append(bytes);
  }
  return collect_ ? from.stop_reason() : PassSink::emit(from, stream, bytes);
}

void DataSink::tell(json::object& result) {
  std::lock_guard lock(mutex_);
  result["sent"] = sent_;
  if (collect_) result["content"] = kept_.result();
}

}  // namespace bh
