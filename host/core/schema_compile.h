// Turns a parsed schema into nodes, and refuses what would not be enforced. One Compiler compiles
// one schema. The walk and the references are in schema_compile.cc, what each keyword says in
// schema_keywords.cc.
#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "core/schema_node.h"

namespace bh::schema {

inline constexpr std::size_t kMaxText = 1 << 20;       // bytes of a schema
inline constexpr std::size_t kMaxNesting = 128;        // levels of a schema
inline constexpr std::size_t kMaxNodes = 20'000;       // schemas within a schema
inline constexpr std::size_t kMaxPatterns = 1'000;     // regular expressions
inline constexpr std::size_t kMaxPatternText = 4'096;  // bytes of one
inline constexpr std::size_t kMaxChain = 64;           // $ref and allOf in each other, at one place
inline constexpr std::size_t kMaxCombined = 2'000;     // branches that apply to one place

class Compiler {
 public:
  Result<std::unique_ptr<Program>> run(const Value& parsed);

 private:
  using Object = boost::json::object;
  using Take = Result<void> (Compiler::*)(Node&, std::string_view keyword, const Value&);
  struct Keyword {
    std::string_view name;
    Take take;  // null: an annotation
  };
  struct Reference {
    Node* node;
    std::string target;
  };
  struct Weight {
    std::size_t chain = 0, combined = 0;
    bool open = false;  // being weighed: meeting it again is a cycle
  };

  // The walk.
  Result<Node*> walk(const Value& schema);
  Result<void> take_keywords(Node& node, const Object& object);
  Result<Node*> walk_under(std::string_view step, const Value& schema);
  Result<Node*> walk_under(std::string_view keyword, std::string_view step, const Value& schema);
  Result<void> resolve(const Reference& reference);
  Result<Weight> weigh(const Node& node, std::size_t depth);

  // Errors; `keyword` may be empty.
  Failure refuse(std::string_view reason, std::string_view keyword, std::string_view what,
                 std::string_view remedy) const;
  Failure wrong(std::string_view keyword, std::string_view what) const;

  // What keywords say.
  static const Keyword* find_keyword(std::string_view name);
  static std::string_view remedy_for(std::string_view unsupported);
  Result<void> check_beside_ref(const Object& object) const;
  Result<std::size_t> size(std::string_view keyword, const Value& v) const;
  Result<Value> number(std::string_view keyword, const Value& v) const;
  Result<const Pattern*> pattern(std::string_view keyword, const Value& v);
  Result<void> list(std::string_view keyword, const Value& v, std::vector<const Node*>& out);
  Result<void> take_dialect(Node&, std::string_view, const Value&);
  Result<void> take_id(Node&, std::string_view, const Value&);
  Result<void> take_ref(Node&, std::string_view, const Value&);
  Result<void> take_defs(Node&, std::string_view, const Value&);
  Result<void> take_type(Node&, std::string_view, const Value&);
  Result<void> take_enum(Node&, std::string_view, const Value&);
  Result<void> take_const(Node&, std::string_view, const Value&);
  Result<void> take_number_rule(Node&, std::string_view, const Value&);
  Result<void> take_size(Node&, std::string_view, const Value&);
  Result<void> take_pattern(Node&, std::string_view, const Value&);
  Result<void> take_items(Node&, std::string_view, const Value&);
  Result<void> take_unique_items(Node&, std::string_view, const Value&);
  Result<void> take_properties(Node&, std::string_view, const Value&);
  Result<void> take_required(Node&, std::string_view, const Value&);
  Result<void> take_pattern_properties(Node&, std::string_view, const Value&);
  Result<void> take_subschema(Node&, std::string_view, const Value&);
  Result<void> take_branches(Node&, std::string_view, const Value&);
  Result<void> take_condition(Node&, std::string_view, const Value&);

  std::unique_ptr<Program> program_;
  std::string pointer_;  // where the walk is
  std::size_t nesting_ = 0;
  std::vector<Reference> references_;
  std::unordered_map<std::string, Node*> places_;
  std::unordered_map<const Node*, Weight> weights_;
};

// Closes every object that lists properties and says nothing of others (Schema::Options::closed).
void close_objects(Program& program);

}  // namespace bh::schema
