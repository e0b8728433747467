// Who asks: one persona, or the operator.
#pragma once

#include <memory>
#include <string>

namespace bh {

class Question;

struct Session {
  std::string persona = "default";
  bool is_operator = false;
  // Set for a session that an asker lent (bh_ask_session): what it starts ends with the question.
  std::weak_ptr<Question> question;
  bool from_question = false;
};

}  // namespace bh
