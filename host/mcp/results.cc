#include "mcp/results.h"

#include <bulkhead/base64.hpp>
#include <bulkhead/code_name.hpp>

#include "mcp/json_writer.h"
#include "mcp/utf8.h"

namespace bh::mcp {
namespace {

bool is_utf8(std::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    size_t n = utf8_length(bytes, at);
    if (n == 0) return false;
    at += n;
  }
  return true;
}

bool textual(std::string_view media_type) {
  std::string_view bare = media_type.substr(0, media_type.find(';'));
  return bare.starts_with("text/") || bare == "application/json" || bare.ends_with("+json") ||
         bare.ends_with("+xml") || bare == "application/xml" || bare == "application/javascript";
}

// An address for bytes that have none: the name, with what may not stand in an address escaped.
std::string uri_of_name(std::string_view name) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view plain = "-._~/";
  std::string out = "attachment:///";
  for (char c : name) {
    auto b = static_cast<unsigned char>(c);
    bool keep = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                plain.find(c) != std::string_view::npos;
    if (keep) {
      out += c;
    } else {
      out += '%';
      out += digits[b >> 4];
      out += digits[b & 15];
    }
  }
  return out;
}

class ContentWriter {
 public:
  ContentWriter(std::string& out, const Attachments& attachments, const Features& known)
      : out_(out), attachments_(attachments), known_(known) {
    out_ += '[';
  }
  void close() { out_ += ']'; }
  bool has_text() const { return has_text_; }

  void item(JsonView part) {
    auto [kind, t, annotations] = part.members<3>({"type", "text", "annotations"});
    if (kind.says("text")) {
      said(t, annotations);
      return;
    }
    std::string type = kind.text();
    if (type == "link") {
      link(part);
    } else if (type == "resource" && !part.member("attachment")) {
      embedded_text(part, t.text());
    } else if (type == "attachment" || type == "resource") {
      attachment(part, type == "resource");
    } else {
      text("[a part of the unknown type \"" + type + "\" was left out]", {});
    }
  }

  // A text of the tool goes through as it was written, unread.
  void said(JsonView t, JsonView annotations) {
    begin();
    ObjectWriter w(out_);
    w.value("type") += R"("text")";
    if (t.is(JsonKind::string))
      w.raw("text", t);
    else
      w.text("text", "");
    w.raw("annotations", annotations, JsonKind::object);
    w.close();
    has_text_ = true;
  }

  void text(std::string_view t, JsonView annotations) {
    begin();
    ObjectWriter w(out_);
    w.text("type", "text").text("text", t).raw("annotations", annotations, JsonKind::object);
    w.close();
    has_text_ = true;
  }

 private:
  void begin() {
    if (!first_) out_ += ',';
    first_ = false;
  }

  void link(JsonView part) {
    std::string uri = part.member("uri").text();
    std::string name = part.member("name").text();
    if (name.empty()) name = uri;
    if (!known_.resource_links) {
      text(name == uri ? uri : name + ": " + uri, part.member("annotations"));
      return;
    }
    begin();
    ObjectWriter w(out_);
    w.text("type", "resource_link").text("uri", uri).text("name", name);
    w.raw("title", part.member("title"), JsonKind::string);
    w.raw("description", part.member("description"), JsonKind::string);
    w.raw("mimeType", part.member("media_type"), JsonKind::string);
    w.raw("size", part.member("size"), JsonKind::number);
    w.raw("annotations", part.member("annotations"), JsonKind::object);
    w.close();
  }

  void embedded_text(JsonView part, std::string_view t) {
    begin();
    ObjectWriter w(out_);
    w.text("type", "resource");
    ObjectWriter r(w.value("resource"));
    r.raw("uri", part.member("uri")).raw("mimeType", part.member("media_type"), JsonKind::string);
    r.text("text", t);
    r.close();
    w.raw("annotations", part.member("annotations"), JsonKind::object);
    w.close();
  }

  void attachment(JsonView part, bool as_resource) {
    std::string name = part.member("attachment").text();
    const Attachments::Item* found = attachments_.find(name);
    if (found == nullptr) {
      text("[the attachment \"" + name + "\" is missing: the tool named it and did not send it]",
           {});
      return;
    }
    if (found->dropped != 0) {
      text("[the attachment \"" + name + "\" of " + std::to_string(found->dropped) +
               " bytes was left out: it is larger than one answer may be]",
           {});
      return;
    }
    std::string type = part.member("media_type").text();
    if (type.empty()) type = found->media_type;
    if (type.empty()) type = "application/octet-stream";
    bool image = type.starts_with("image/");
    bool audio = type.starts_with("audio/") && known_.audio;
    if (!as_resource && (image || audio)) {
      media(image ? "image" : "audio", type, found->bytes, part.member("annotations"));
      return;
    }
    std::string uri = part.member("uri").text();
    if (uri.empty()) uri = uri_of_name(name);
    blob(uri, type, found->bytes, part.member("annotations"));
  }

  void media(std::string_view kind, std::string_view type, std::string_view bytes,
             JsonView annotations) {
    begin();
    ObjectWriter w(out_);
    w.text("type", kind);
    std::string& data = w.value("data");
    data += '"';
    bulkhead::base64::append(data, bytes);
    data += '"';
    w.text("mimeType", type).raw("annotations", annotations, JsonKind::object);
    w.close();
  }

  void blob(std::string_view uri, std::string_view type, std::string_view bytes,
            JsonView annotations) {
    begin();
    ObjectWriter w(out_);
    w.text("type", "resource");
    ObjectWriter r(w.value("resource"));
    r.text("uri", uri).text("mimeType", type);
    if (textual(type) && is_utf8(bytes)) {
      r.text("text", bytes);
    } else {
      std::string& data = r.value("blob");
      data += '"';
      bulkhead::base64::append(data, bytes);
      data += '"';
    }
    r.close();
    w.raw("annotations", annotations, JsonKind::object);
    w.close();
  }

  std::string& out_;
  const Attachments& attachments_;
  const Features& known_;
  bool first_ = true;
  bool has_text_ = false;
};

std::string detail_word(const Fault& fault, std::string_view key) {
  if (fault.details().empty() || check_json(fault.details())) return {};
  return JsonView(fault.details()).member(key).text();
}

}  // namespace

size_t Attachments::add(std::string_view name, std::string_view media_type, std::string_view bytes,
                        size_t room) {
  Item& item = items_[std::string(name)];
  size_t before = item.bytes.size();
  item = Item{std::string(media_type), {}, 0};
  room += before;  // a second one of the same name takes the place of the first
  if (bytes.size() > room) {
    item.dropped = bytes.size();
  } else {
    item.bytes = bytes;
  }
  size_ += item.bytes.size() - before;
  return item.bytes.size() > before ? item.bytes.size() - before : 0;
}

void Attachments::begin_dropped(int32_t stream, std::string_view name,
                                std::string_view media_type) {
  streams_[stream] = name;
  add(name, media_type, {}, 0);
}

void Attachments::drop(int32_t stream, size_t bytes) {
  auto at = streams_.find(stream);
  if (at != streams_.end()) items_[at->second].dropped += bytes;
}

const Attachments::Item* Attachments::find(const std::string& name) const {
  auto it = items_.find(name);
  return it == items_.end() ? nullptr : &it->second;
}

bool append_call_result(std::string& out, std::string_view tool_result,
                        const Attachments& attachments, const Features& known) {
  auto flaw = check_json(tool_result);
  if (flaw && !flaw->readable()) return false;
  auto [parts, structured, is_error, meta] =
      JsonView(tool_result).members<4>({"content", "structured", "is_error", "meta"});
  if (!parts.is(JsonKind::array)) return false;
  ObjectWriter w(out);
  ContentWriter content(w.value("content"), attachments, known);
  parts.each_element([&](JsonView part) { content.item(part); });
  // Whoever does not know structured results reads the same as text. A list that was found empty is
  // said by no text at all, for its items would be texts of their own.
  if (structured && !content.has_text()) {
    std::string flat;
    append_raw(flat, structured);
    bool empty_list = known.structured && flat == R"({"result":[]})";
    if (!empty_list) content.text(flat, {});
  }
  content.close();
  if (known.structured) w.raw("structuredContent", structured, JsonKind::object);
  w.flag("isError", is_error.is_true());
  w.raw("_meta", meta, JsonKind::object);
  w.close();
  return true;
}

std::string fault_text(const Fault& fault) {
  std::string out;
  ObjectWriter w(out);
  w.text("code", bulkhead::code_name(fault.code())).text("message", fault.message());
  if (!fault.details().empty() && !check_json(fault.details())) {
    w.raw("details", JsonView(fault.details()), JsonKind::object);
  }
  w.close();
  return out;
}

std::string fault_reason(const Fault& fault) { return detail_word(fault, "reason"); }

std::string fault_result_text(const Fault& fault, std::string_view tool) {
  std::string said = fault.message();
  if (said.empty()) said = "The call failed: " + std::string(bulkhead::code_name(fault.code())) + ".";
  // The model has only the text: where the field or the remedy is not in it yet, they are added.
  std::string field = detail_word(fault, "field");
  if (!field.empty() && said.find(field) == std::string::npos)
    said = "Argument " + field + ": " + said;
  std::string remedy = detail_word(fault, "remedy");
  if (!remedy.empty() && said.find(remedy) == std::string::npos)
    said += (said.ends_with('.') ? " " : "; ") + remedy;

  said = "Error executing tool " + std::string(tool) + ": " + said;
  std::string out = R"({"content":[{"type":"text","text":)";
  append_quoted(out, said);
  out += R"(}],"isError":true,"_meta":{"bulkhead/fault":)";
  out += fault_text(fault);
  out += "}}";
  return out;
}

}  // namespace bh::mcp
