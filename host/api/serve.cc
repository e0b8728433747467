// bh_serve and bh_ask_*: the embedder answers.
#include "api/handles.h"
#include "base/utf8.h"
#include "operations/toolsets.h"

#include <utility>

namespace {

using bh::api::absent;
using bh::api::guarded;
using bh::api::missing;
using bh::api::view;

bh::Result<std::shared_ptr<bh::Server>> read_offer(std::string_view text) {
  auto what = bh::json::parse_object(text);
  if (!what) return tl::unexpected(what.error().within("what is served"));
  auto server = std::make_shared<bh::Server>();
  const auto* attachments = what->if_contains("attachments");
  const std::size_t keys = attachments != nullptr && attachments->is_bool() ? 2 : 1;
  if (const auto* tool = bh::json::get_object(*what, "tool");
      tool != nullptr && what->size() == keys) {
    auto compiled = bh::compile_tool(*tool);
    if (!compiled) return tl::unexpected(std::move(compiled).error());
    server->answers = "tool";
    server->tool_name = (*compiled)->name;
    server->tool = *tool;
    server->tool_accepts = (*compiled)->accepts;
    server->tool_coerces = (*compiled)->coerces;
    server->tool_output = (*compiled)->output;
    server->takes_attachments = bh::json::get_bool(*what, "attachments");
    return server;
  }
  server->answers = bh::json::get_string(*what, "answers");
  if (what->size() == 1 && (server->answers == "approval" || server->answers == "policy.judge")) {
    return server;
  }
  return bh::fail(BH_INVALID_ARGUMENT,
                  "bh_serve takes {\"tool\":{...}} (beside it \"attachments\": true or false), "
                  "{\"answers\":\"approval\"} or {\"answers\":\"policy.judge\"}",
                  "serve", {{"field", "what"}});
}

// What an answer is given with, once the handle and its process are known to be good.
template <class Body>
bh_status on_ask(bh_ask* a, bh_fault** f, Body body) noexcept {
  if (a == nullptr) return missing(f, "a");
  return guarded(f, [&]() -> bh::Result<void> {
    auto engine = a->question->engine();
    if (engine->forked()) return engine->usable();
    return body(*a->question);
  });
}

}  // namespace

extern "C" {

bh_status bh_serve(bh_session* s, const char* what, size_t what_len, bh_queue* q, uint64_t tag,
                   bh_server** out, bh_fault** f) noexcept {
  if (s == nullptr) return missing(f, "s");
  if (q == nullptr) return missing(f, "q");
  if (out == nullptr) return missing(f, "out");
  *out = nullptr;
  if (absent(what, what_len)) return missing(f, "what");
  return guarded(f, [&]() -> bh::Result<void> {
    BH_TRY(s->engine->usable());
    BH_TRY(bh::api::same_runtime(*s, *q));
    if (s->session->from_question) {
      return bh::fail(BH_PERMISSION_DENIED, "a lent session may not answer for others", "lent_session");
    }
    auto offer = read_offer(view(what, what_len));
    if (!offer) return tl::unexpected(std::move(offer).error());
    (*offer)->queue = q->queue;
    (*offer)->tag = tag;
    (*offer)->persona = s->session->persona;
    (*offer)->for_all = s->session->is_operator;
    auto made = std::make_unique<bh_server>();
    made->engine = s->engine;
    made->server = *offer;
    s->engine->add_server(*offer);
    *out = made.release();
    return {};
  });
}

void bh_server_free(bh_server* v) noexcept {
  if (v == nullptr) return;
  std::unique_ptr<bh_server> gone(v);
  if (gone->engine->forked()) {
    (void)gone.release();
    return;
  }
  gone->engine->remove_server(gone->server);
}

uint64_t bh_ask_id(const bh_ask* a) noexcept { return a != nullptr ? a->question->id() : 0; }

bh_status bh_ask_emit(bh_ask* a, int32_t stream, const void* data, size_t size, size_t* taken,
                      bh_fault** f) noexcept {
  if (taken != nullptr) *taken = 0;
  if (taken == nullptr) return missing(f, "taken");
  if (absent(data, size)) return missing(f, "data");
  return on_ask(a, f, [&](bh::Question& question) -> bh::Result<void> {
    if (stream >= BH_STREAM_ATTACHED) {
      return bh::fail(BH_INVALID_ARGUMENT,
                      "streams of BH_STREAM_ATTACHED and above belong to attachments; take a lower "
                      "one",
                      "stream", {{"field", "stream"}});
    }
    auto took = question.emit(stream, view(data, size));
    if (!took) return tl::unexpected(std::move(took).error());
    *taken = *took;
    return {};
  });
}

bh_status bh_ask_attach(bh_ask* a, const char* name, size_t name_len, const char* type,
                        size_t type_len, const void* data, size_t size, bh_fault** f) noexcept {
  if (absent(name, name_len)) return missing(f, "name");
  if (absent(type, type_len)) return missing(f, "type");
  if (absent(data, size)) return missing(f, "data");
  return on_ask(a, f, [&](bh::Question& question) -> bh::Result<void> {
    if (size > bh::kMaxAttachment) {
      return bh::fail(BH_RESOURCE_EXHAUSTED,
                      "an attachment above 64 MiB was given; stream it with bh_ask_emit()",
                      "attachment_too_large", {{"field", "data"}});
    }
    if (!bh::utf8::valid(view(name, name_len)) || !bh::utf8::valid(view(type, type_len))) {
      return bh::fail(BH_INVALID_ARGUMENT, "the attachment's name or type is not UTF-8", "utf8",
                      {{"field", "name"}});
    }
    return question.attach({std::string(view(name, name_len)), std::string(view(type, type_len)),
                            std::string(view(data, size))});
  });
}

bh_status bh_ask_result(bh_ask* a, const char* json, size_t json_len, bh_fault** f) noexcept {
  if (absent(json, json_len)) return missing(f, "json");
  return on_ask(a, f, [&](bh::Question& question) -> bh::Result<void> {
    auto parsed = bh::json::parse(view(json, json_len));
    if (!parsed) return tl::unexpected(parsed.error().within("the answer"));
    return question.answer(std::string(view(json, json_len)));
  });
}

bh_status bh_ask_fail(bh_ask* a, bh_status code, const char* msg, size_t msg_len,
                      const char* details, size_t details_len, bh_fault** f) noexcept {
  if (absent(msg, msg_len)) return missing(f, "msg");
  if (absent(details, details_len)) return missing(f, "details");
  return on_ask(a, f, [&](bh::Question& question) -> bh::Result<void> {
    bool known = code >= BH_CANCELLED && code <= BH_UNAUTHENTICATED;
    bh::Error error{known ? code : BH_UNKNOWN, bh::utf8::repair(view(msg, msg_len)), {}};
    if (bh::json::parse_object(view(details, details_len))) {
      error.details = std::string(view(details, details_len));
    }
    return question.refuse(std::move(error));
  });
}

bh_status bh_ask_session(bh_ask* a, bh_session** out, bh_fault** f) noexcept {
  if (out == nullptr) return missing(f, "out");
  *out = nullptr;
  return on_ask(a, f, [&](bh::Question& question) -> bh::Result<void> {
    auto lent = question.lend_session();
    if (!lent) return tl::unexpected(std::move(lent).error());
    auto made = std::make_unique<bh_session>();
    made->engine = question.engine();
    made->session = std::move(*lent);
    *out = made.release();
    return {};
  });
}

void bh_ask_free(bh_ask* a) noexcept {
  if (a == nullptr || a->question->engine()->forked()) return;
  std::unique_ptr<bh_ask> gone(a);
  try {
    gone->question->give_up("the embedder let the question go unanswered");
  } catch (const std::exception&) {
    // Out of memory for the sentence: the asker is stopped by its deadline or its run.
  }
}

}  // extern "C"
