#include "core/question.h"

#include <algorithm>
#include <utility>

#include "core/call.h"
#include "core/engine.h"
#include "core/run.h"

namespace bh {

namespace {
constexpr std::size_t kQuestionRoom = 256u << 10;
constexpr std::size_t kPieceCost = 64;  // so that attachments without bytes are bounded too

Failure too_late() {
  return fail(BH_OUT_OF_RANGE, "the question has ended; nobody waits for the answer any more",
              "ask_ended");
}
}  // namespace

Question::Question(std::uint64_t id, Server& server, Call& asker)
    : id_(id),
      tag_(server.tag),
      queue_(server.queue),
      asker_session_(asker.run().session_ptr()),
      run_(asker.run().shared_from_this()),
      answer_(fail(BH_UNAVAILABLE, "the embedder did not answer", "unanswered")) {}

std::shared_ptr<Engine> Question::engine() const { return run_->engine().shared_from_this(); }

Result<std::string> Question::wait(Call& asker) {
  for (;;) {
    Piece piece;
    bool room = false;
    {
      std::unique_lock lock(run_->mutex());
      auto ready = [&] { return answered_ || !pieces_.empty(); };
      if (bh_status stop = run_->wait_for(asker, lock, ready)) {
        lock.unlock();
        end();
        return tl::unexpected(stop_error(stop));
      }
      if (pieces_.empty()) {
        Result<std::string> out = std::move(answer_);
        lock.unlock();
        end();
        return out;
      }
      piece = std::move(pieces_.front());
      pieces_.pop_front();
      held_ -= piece.cost;
      room = want_room_ && held_ <= kQuestionRoom / 2;
      if (room) want_room_ = false;
    }
    if (room) {
      auto event = std::make_unique<Event>(BH_EVENT_ROOM, tag_);
      event->id = id_;
      queue_->push(std::move(event));
    }
    bh_status st = piece.is_attachment
                       ? asker.attach({piece.blob.name, piece.blob.media_type, piece.blob.data})
                       : asker.emit(piece.stream, piece.bytes);
    if (st != BH_OK) {
      end();
      return tl::unexpected(stop_error(st));
    }
  }
}

void Question::end() {
  std::vector<std::weak_ptr<Run>> children;
  bool unanswered = false;
  {
    std::lock_guard lock(run_->mutex());
    if (ended_) return;
    ended_ = true;
    unanswered = !answered_;
    children.swap(children_);
    pieces_.clear();
  }
  for (const auto& weak : children) {
    if (auto child = weak.lock()) child->cancel();
  }
  if (unanswered) {
    auto event = std::make_unique<Event>(BH_EVENT_ASK_ENDED, tag_);
    event->id = id_;
    queue_->push(std::move(event));
  }
}

Result<std::size_t> Question::emit(int stream, std::string_view bytes) {
  std::lock_guard lock(run_->mutex());
  if (closed_locked()) return too_late();
  std::size_t taken = std::min(bytes.size(), kQuestionRoom - std::min(kQuestionRoom, held_));
  if (taken < bytes.size()) want_room_ = true;
  if (taken > 0) {
    pieces_.push_back({stream, std::string(bytes.substr(0, taken)), false, {}, taken});
    held_ += taken;
    run_->notify_locked();
  }
  return taken;
}

Result<void> Question::attach(Blob blob) {
  std::lock_guard lock(run_->mutex());
  if (closed_locked()) return too_late();
  const std::size_t cost =
      kPieceCost + blob.name.size() + blob.media_type.size() + blob.data.size();
  // What is larger than the room passes alone.
  if (held_ > 0 && held_ + cost > kQuestionRoom) {
    want_room_ = true;
    return fail(BH_RESOURCE_EXHAUSTED,
                "the asker has not taken what was given before; attach it again after BH_EVENT_ROOM",
                "ask_full");
  }
  held_ += cost;
  pieces_.push_back({0, {}, true, std::move(blob), cost});
  run_->notify_locked();
  return {};
}

Result<void> Question::answer(std::string json) {
  std::lock_guard lock(run_->mutex());
  if (closed_locked()) return too_late();
  answered_ = true;
  answer_ = std::move(json);
  run_->notify_locked();
  return {};
}

Result<void> Question::refuse(Error error) {
  std::lock_guard lock(run_->mutex());
  if (closed_locked()) return too_late();
  answered_ = true;
  answer_ = tl::unexpected(std::move(error));
  run_->notify_locked();
  return {};
}

Result<std::shared_ptr<const Session>> Question::lend_session() {
  std::lock_guard lock(run_->mutex());
  if (ended_) return too_late();
  auto session = std::make_shared<Session>(*asker_session_);
  session->question = weak_from_this();
  session->from_question = true;
  return std::shared_ptr<const Session>(std::move(session));
}

void Question::give_up(const char* why) {
  (void)refuse(fail(BH_UNAVAILABLE, why, "unanswered").value());
}

Result<std::int64_t> Question::time_left() {
  {
    std::lock_guard lock(run_->mutex());
    if (ended_) return too_late();
  }
  return run_->time_left();
}

void Question::add_child(const std::shared_ptr<Run>& run) {
  bool late = false;
  {
    std::lock_guard lock(run_->mutex());
    late = ended_;
    children_.erase(std::remove_if(children_.begin(), children_.end(),
                                   [](const auto& c) { return c.expired(); }),
                    children_.end());
    if (!late) children_.push_back(run);
  }
  if (late) run->cancel();
}

}  // namespace bh
