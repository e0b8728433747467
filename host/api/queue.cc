// bh_queue_* and bh_event_*: what the embedder pulls.
#include "api/handles.h"

#include <utility>

namespace {

using bh::api::guarded;
using bh::api::missing;

const char* text_of(const std::string* text, size_t* len) noexcept {
  if (len != nullptr) *len = text != nullptr ? text->size() : 0;
  return text != nullptr ? text->c_str() : "";
}

}  // namespace

extern "C" {

bh_status bh_queue_new(bh_runtime* rt, bh_queue** out, bh_fault** f) noexcept {
  if (rt == nullptr) return missing(f, "rt");
  if (out == nullptr) return missing(f, "out");
  *out = nullptr;
  return guarded(f, [&]() -> bh::Result<void> {
    BH_TRY(rt->engine->usable());
    auto made = std::make_unique<bh_queue>();
    made->engine = rt->engine;
    made->queue = std::make_shared<bh::EventQueue>();
    BH_TRY(rt->engine->add_queue(made->queue.get()));
    *out = made.release();
    return {};
  });
}

bh_status bh_queue_next(bh_queue* q, int32_t timeout_ms, bh_event** out, bh_fault** f) noexcept {
  if (q == nullptr) return missing(f, "q");
  if (out == nullptr) return missing(f, "out");
  *out = nullptr;
  return guarded(f, [&]() -> bh::Result<void> {
    if (q->engine->forked()) return q->engine->usable();
    // Before anything is taken off the queue: what fails here must not cost an event.
    auto made = std::make_unique<bh_event>();
    made->event = q->queue->next(timeout_ms);
    if (!made->event) {
      if (q->queue->over()) return q->engine->usable();
      return {};
    }
    if (made->event->kind == BH_EVENT_FAULT) made->fault.error = std::move(made->event->fault);
    *out = made.release();
    return {};
  });
}

bh_fd bh_queue_fd(bh_queue* q) noexcept {
  if (q == nullptr || q->engine->forked()) return -1;
  return q->queue->fd();
}

void bh_queue_wake(bh_queue* q) noexcept {
  if (q != nullptr && !q->engine->forked()) q->queue->wake();
}

void bh_queue_free(bh_queue* q) noexcept {
  if (q == nullptr) return;
  std::unique_ptr<bh_queue> gone(q);
  if (gone->engine->forked()) {
    (void)gone.release();
    return;
  }
  gone->queue->close();
  gone->engine->remove_queue(gone->queue.get());
  gone->engine->cancel_reporting_to(gone->queue.get());
}

int32_t bh_event_kind(const bh_event* e) noexcept { return e != nullptr ? e->event->kind : 0; }
uint64_t bh_event_tag(const bh_event* e) noexcept { return e != nullptr ? e->event->tag : 0; }
uint64_t bh_event_id(const bh_event* e) noexcept { return e != nullptr ? e->event->id : 0; }
int64_t bh_event_time_ns(const bh_event* e) noexcept {
  return e != nullptr ? e->event->time_ns : 0;
}
int32_t bh_event_stream(const bh_event* e) noexcept { return e != nullptr ? e->event->stream : 0; }

const char* bh_event_name(const bh_event* e, size_t* len) noexcept {
  return text_of(e != nullptr ? &e->event->name : nullptr, len);
}

const char* bh_event_type(const bh_event* e, size_t* len) noexcept {
  return text_of(e != nullptr ? &e->event->type : nullptr, len);
}

const void* bh_event_data(const bh_event* e, size_t* size) noexcept {
  return text_of(e != nullptr ? &e->event->data : nullptr, size);
}

const bh_fault* bh_event_fault(const bh_event* e) noexcept {
  return e != nullptr && e->event->kind == BH_EVENT_FAULT ? &e->fault : nullptr;
}

bh_ask* bh_event_ask(bh_event* e) noexcept {
  if (e == nullptr || !e->event->question) return nullptr;
  try {
    auto made = std::make_unique<bh_ask>();
    made->question = std::move(e->event->question);
    e->event->question.reset();
    return made.release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

void bh_event_free(bh_event* e) noexcept {
  if (e == nullptr) return;
  // In the child of a fork the locks behind it may be held for ever.
  const bh::Event& event = *e->event;
  if (event.run && event.run->engine().forked()) return;
  if (event.question && event.question->engine()->forked()) return;
  std::unique_ptr<bh_event> gone(e);
}

}  // extern "C"
