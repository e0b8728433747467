#include "cli/words.h"

#include <array>
#include <utility>

#include "cli/json.h"

namespace bh::cli {
namespace {

struct Verb {
  std::string_view operation;
  std::string_view words;
};

constexpr std::array<Verb, 11> kVerbs = {{{"plugin.list", "`bulkhead plugins`"},
                                         {"tool.list", "`bulkhead tools`"},
                                         {"tool.call", "`bulkhead call`"},
                                         {"host.inspect", "`bulkhead doctor`"},
                                         {"operation.list", "`bulkhead --help`"},
                                         {"sandbox.plan", "`bulkhead doctor`"},
                                         {"sandbox.exec", "`bulkhead run`"},
                                         {"sandbox.list", "`bulkhead call sandbox_list`"},
                                         {"files.list", "`bulkhead call files_list`"},
                                         {"job.list", "the tool that started it"},
                                         {"sandbox.kill", "`bulkhead call sandbox_kill`"}}};

bool starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

// A letter of a name, or a quote: what somebody else said is repeated as he said it.
bool joins(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '"' || c == '`' || c == '/';
}

void replace_word(std::string& text, std::string_view word, std::string_view by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const std::size_t end = at + word.size();
    // A full stop may end the sentence as well as go on with a name.
    const bool goes_on =
        end < text.size() && joins(text[end]) && !(text[end] == '.' && end + 1 == text.size());
    if ((at > 0 && joins(text[at - 1])) || goes_on) {
      at = end;
      continue;
    }
    text.replace(at, word.size(), by);
    at += by.size();
  }
}

// "/a/b" lies in "/a" and in "", not in "/a/bc".
bool lies_in(std::string_view pointer, std::string_view place) {
  return starts(pointer, place) && (pointer.size() == place.size() || pointer[place.size()] == '/');
}

// The operation that the library puts before what it says of arguments.
std::string_view without_operation(std::string_view message) {
  for (const Verb& verb : kVerbs) {
    if (starts(message, verb.operation) && starts(message.substr(verb.operation.size()), ": ")) {
      return message.substr(verb.operation.size() + 2);
    }
  }
  return message;
}

// Takes the pointer off the front of a message: the field's, or that of what it lies in.
std::string take_pointer(std::string_view& message, std::string_view field) {
  for (std::string_view at = field; !at.empty(); at = at.substr(0, at.rfind('/'))) {
    if (!starts(message, at)) continue;
    std::string_view rest = message.substr(at.size());
    if (!starts(rest, ": ") && !starts(rest, " ")) continue;
    message = rest.substr(rest[0] == ':' ? 2 : 1);
    return std::string(at);
  }
  return {};
}

}  // namespace

std::string in_cli_words(std::string_view text, const Named& named) {
  std::string out(text);
  for (const Verb& verb : kVerbs) replace_word(out, verb.operation, verb.words);
  if (named.config_file.empty()) return out;
  for (std::string_view group : {"/isolation/", "/toolsets/"}) {
    const std::string theirs = "config " + std::string(group);
    const std::string ours = "the config file " + named.config_file + " at " + std::string(group);
    for (std::size_t at = out.find(theirs); at != std::string::npos;
         at = out.find(theirs, at + ours.size())) {
      out.replace(at, theirs.size(), ours);
    }
  }
  return out;
}

std::string message_in_cli_words(std::string_view message, const boost::json::object& details,
                                 const Named& named) {
  std::string_view rest = without_operation(message);
  const std::string field = string_at(details, "field");
  for (const Origin& origin : named.origins) {
    if (field.empty() || !lies_in(field, origin.place)) continue;
    bool about_whole = false;
    for (std::string_view subject : {"arguments", "config"}) {
      if (!starts(rest, subject)) continue;
      std::string_view after = rest.substr(subject.size());
      about_whole = starts(after, ": ");
      if (about_whole) rest = after.substr(2);
      if (starts(after, " /")) rest = after.substr(1);
    }
    std::string pointer = take_pointer(rest, field);
    // Of a key that is missing or not known the sentence names the place around it, and the key.
    if (pointer.empty() && !about_whole) pointer = field;
    if (!lies_in(pointer, origin.cut)) pointer = origin.cut;
    pointer.erase(0, origin.cut.size());
    return origin.what + (pointer.empty() ? "" : " at " + pointer) + ": " +
           in_cli_words(rest, named);
  }
  return in_cli_words(rest, named);
}

}  // namespace bh::cli
