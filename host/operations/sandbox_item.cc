#include "operations/sandbox_item.h"

namespace bh {
namespace {

json::value or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

}  // namespace

const char kSandboxItemProperties[] =
    R"("sandbox":{"type":"string"},"backend":{"type":"string"},"state":{"enum":["pending","running","pausing","paused","resuming","stopping","failed"]},"reason":{"type":["string","null"],"description":"Of stopping and failed."},"message":{"type":["string","null"]},"created_ms":{"type":"integer","description":"Unix time."},"changed_ms":{"type":"integer","description":"Of the state."},"expires_ms":{"type":["integer","null"]},"image":{"type":["string","null"]},"metadata":{"type":"object"},"default":{"type":"boolean"},"owner":{"type":["object","null"],"description":"The process that runs commands or jobs in it.","properties":{"pid":{"type":"integer"},"here":{"type":"boolean"}}},"persona":{"type":"string","description":"For the operator alone."})";

json::object sandbox_item(const Session& session, const SandboxRecord& record) {
  json::object out;
  out["sandbox"] = record.id;
  out["backend"] = record.backend;
  out["state"] = record.state == "making" ? "pending" : record.state;
  out["reason"] = or_null(record.reason);
  out["message"] = or_null(record.message);
  out["created_ms"] = record.created_ms;
  out["changed_ms"] = record.changed_ms;
  out["expires_ms"] = record.expires_ms ? json::value(*record.expires_ms) : json::value(nullptr);
  out["image"] = or_null(record.image);
  out["metadata"] = record.metadata;
  out["default"] = !record.default_key.empty();
  if (record.busy > 0 && record.owner.alive()) {
    out["owner"] = {{"pid", record.owner.pid}, {"here", record.owner.here()}};
  } else {
    out["owner"] = nullptr;
  }
  if (session.is_operator) out["persona"] = record.persona;
  return out;
}

}  // namespace bh
