// One question to the embedder: a tool of its own that is called, an approval, a judgement. The
// call that asks waits; the embedder answers from its queue, in its own time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/operation.h"
#include "core/queue.h"
#include "core/session.h"

namespace bh {

class Run;
class Call;
class Engine;

// What the embedder offered to answer (bh_serve). Owned by its handle and by the engine's list.
struct Server {
  std::string answers;       // "tool", "approval" or "policy.judge"
  std::string tool_name;     // of a tool
  json::object tool;         // abi/schemas/tool.json
  std::shared_ptr<const Schema> tool_accepts;
  std::shared_ptr<const Schema> tool_output;  // null: it promises none
  bool tool_coerces = false;
  bool takes_attachments = false;  // a tool's: asked for by the embedder, who must read them
  std::shared_ptr<EventQueue> queue;
  std::uint64_t tag = 0;
  std::string persona;
  bool for_all = false;      // an operator's: for every persona

  std::mutex mutex;          // guards the two below
  bool gone = false;
  std::vector<std::weak_ptr<Question>> open;
};

class Question : public std::enable_shared_from_this<Question> {
 public:
  Question(std::uint64_t id, Server& server, Call& asker);

  std::uint64_t id() const { return id_; }
  std::shared_ptr<Engine> engine() const;

  // --- the asker's side
  // Waits for the answer, passing on output and attachments as they come. [blocking]
  Result<std::string> wait(Call& asker);
  // Nobody waits any more: the embedder is told, unless it has answered. [any]
  void end();

  // --- the embedder's side; OUT_OF_RANGE (ask_ended) after the end. [any]
  Result<std::size_t> emit(int stream, std::string_view bytes);  // takes what fits
  // Whole or not at all: RESOURCE_EXHAUSTED (ask_full) until BH_EVENT_ROOM.
  Result<void> attach(Blob blob);
  Result<void> answer(std::string json);
  Result<void> refuse(Error error);
  // A session with the asker's rights; its runs end with the question.
  Result<std::shared_ptr<const Session>> lend_session();
  // The handle went unanswered, or the server was withdrawn.
  void give_up(const char* why);

  // Of the asker: what a run from a lent session may take.
  Result<std::int64_t> time_left();
  void add_child(const std::shared_ptr<Run>& run);

 private:
  struct Piece {
    int stream;
    std::string bytes;
    bool is_attachment;
    Blob blob;
    std::size_t cost;  // of the question's room
  };
  bool closed_locked() const { return answered_ || ended_; }

  const std::uint64_t id_;
  const std::uint64_t tag_;
  const std::shared_ptr<EventQueue> queue_;
  const std::shared_ptr<const Session> asker_session_;
  // The asker's run; its lock guards all below, so that one wait covers answers and reasons to stop.
  const std::shared_ptr<Run> run_;
  std::deque<Piece> pieces_;
  std::size_t held_ = 0;
  bool want_room_ = false;
  bool answered_ = false;
  bool ended_ = false;
  Result<std::string> answer_;
  std::vector<std::weak_ptr<Run>> children_;
};

}  // namespace bh
