#include "core/schema_compile.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "core/schema_message.h"

namespace bh::schema {

namespace {

// Calls fn for every node that is checked at the same place of the value as `node`.
template <class Fn>
Result<void> for_each_branch(const Node& node, Fn fn) {
  const auto all = {&node.all_of, &node.any_of, &node.one_of};
  for (const auto* list : all) {
    for (const Node* branch : *list) BH_TRY(fn(*branch));
  }
  for (const Node* branch : {node.ref, node.not_, node.if_, node.then_, node.else_}) {
    if (branch != nullptr) BH_TRY(fn(*branch));
  }
  return {};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A URI's fragment with its %24 and the like undone.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

}  // namespace

Failure Compiler::refuse(std::string_view reason, std::string_view keyword, std::string_view what,
                         std::string_view remedy) const {
  std::string field = pointer_;
  if (!keyword.empty()) field += pointer_step(keyword);
  std::string message = "schema";
  if (!pointer_.empty()) message += " " + pointer_;
  message += ": ";
  if (!keyword.empty()) message += json::quote(keyword) + " ";
  message += what;
  if (!remedy.empty()) message += "; " + std::string(remedy);
  return fail(BH_INVALID_ARGUMENT, std::move(message), reason,
              {{"field", field}, {"keyword", keyword}, {"remedy", remedy}});
}

Failure Compiler::wrong(std::string_view keyword, std::string_view what) const {
  return refuse("schema_invalid", keyword, "must be " + std::string(what), "");
}

Result<std::unique_ptr<Program>> Compiler::run(const Value& parsed) {
  program_ = std::make_unique<Program>();
  auto root = walk(parsed);
  if (!root) return tl::unexpected(std::move(root).error());
  program_->root = *root;
  for (const Reference& reference : references_) BH_TRY(resolve(reference));
  for (const Node& node : program_->nodes) {
    auto weight = weigh(node, 0);
    if (!weight) return tl::unexpected(std::move(weight).error());
  }
  return std::move(program_);
}

Result<Node*> Compiler::walk(const Value& schema) {
  if (program_->nodes.size() >= kMaxNodes) {
    return refuse("schema_limit", "", "has more than " + std::to_string(kMaxNodes) + " parts",
                  "make it smaller");
  }
  if (nesting_ >= kMaxNesting) {
    return refuse("schema_limit", "", "is nested deeper than " + std::to_string(kMaxNesting),
                  "use $defs and $ref");
  }
  Node& node = program_->nodes.emplace_back();
  node.pointer = pointer_;
  places_.emplace(pointer_, &node);
  if (schema.is_bool()) {
    node.never = !schema.get_bool();
    return &node;
  }
  if (!schema.is_object()) {
    return refuse("schema_invalid", "", "a schema must be an object, true or false", "");
  }
  ++nesting_;
  auto taken = take_keywords(node, schema.get_object());
  --nesting_;
  if (!taken) return tl::unexpected(std::move(taken).error());
  return &node;
}

Result<void> Compiler::take_keywords(Node& node, const Object& object) {
  if (object.contains("$ref")) BH_TRY(check_beside_ref(object));
  for (const auto& member : object) {
    const std::string_view name = member.key();
    const Keyword* keyword = find_keyword(name);
    if (keyword == nullptr) {
      if (name.starts_with("x-")) continue;
      return refuse("schema_unsupported", name, "is not enforced here", remedy_for(name));
    }
    if (keyword->take != nullptr) BH_TRY((this->*keyword->take)(node, name, member.value()));
  }
  if ((node.then_ != nullptr || node.else_ != nullptr) && node.if_ == nullptr) {
    return refuse("schema_unsupported", node.then_ != nullptr ? "then" : "else",
                  "means nothing without \"if\"", "add \"if\" or leave it out");
  }
  return {};
}

Result<Node*> Compiler::walk_under(std::string_view step, const Value& schema) {
  const std::size_t before = pointer_.size();
  pointer_ += pointer_step(step);
  auto node = walk(schema);
  if (node) pointer_.resize(before);
  return node;
}

Result<Node*> Compiler::walk_under(std::string_view keyword, std::string_view step,
                                   const Value& schema) {
  const std::size_t before = pointer_.size();
  pointer_ += pointer_step(keyword);
  auto node = walk_under(step, schema);
  if (node) pointer_.resize(before);
  return node;
}

Result<void> Compiler::resolve(const Reference& reference) {
  pointer_ = reference.node->pointer;
  const std::string& target = reference.target;
  if (!target.starts_with('#')) {
    return refuse("schema_unsupported", "$ref",
                  "to " + json::quote(target) + " is outside this schema and is never fetched",
                  "copy what it names into $defs and write \"#/$defs/NAME\"");
  }
  const std::string place = percent_decoded(std::string_view(target).substr(1));
  if (!place.empty() && place[0] != '/') {
    return refuse("schema_unsupported", "$ref",
                  "to the anchor " + json::quote(target) + " is not followed",
                  "write the place: \"#/$defs/NAME\"");
  }
  const auto found = places_.find(place);
  if (found == places_.end()) {
    return refuse("schema_invalid", "$ref", "to " + json::quote(target) + " leads to no schema",
                  "name one under $defs: \"#/$defs/NAME\"");
  }
  reference.node->ref = found->second;
  return {};
}

// How long and how wide the schemas are that apply to one and the same value. A cycle among them
// would never end; a wide fan of them would take for ever.
Result<Compiler::Weight> Compiler::weigh(const Node& node, std::size_t depth) {
  Weight& known = weights_[&node];
  pointer_ = node.pointer;
  if (known.open) {
    return refuse("schema_unsupported", "$ref",
                  "leads back to itself without going down into the value", "");
  }
  if (known.combined == 0) {
    if (depth > kMaxChain) {
      return refuse("schema_limit", "",
                    "more than " + std::to_string(kMaxChain) +
                        " references and combinations follow each other at one place",
                    "");
    }
    known.open = true;
    Weight total{1, 1, false};
    BH_TRY(for_each_branch(node, [&](const Node& branch) -> Result<void> {
      auto weight = weigh(branch, depth + 1);
      if (!weight) return tl::unexpected(std::move(weight).error());
      total.chain = std::max(total.chain, weight->chain + 1);
      total.combined += weight->combined;
      pointer_ = node.pointer;
      if (total.combined > kMaxCombined) {
        return refuse("schema_limit", "",
                      "more than " + std::to_string(kMaxCombined) + " schemas apply to one place",
                      "make fewer combinations");
      }
      return {};
    }));
    weights_[&node] = total;
    return total;
  }
  if (depth + known.chain > kMaxChain + 1) {
    return refuse("schema_limit", "",
                  "more than " + std::to_string(kMaxChain) +
                      " references and combinations follow each other at one place",
                  "");
  }
  return known;
}

}  // namespace bh::schema
