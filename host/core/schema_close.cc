// Closing objects: unknown keys are refused where a schema lists keys and says nothing of others.
#include <unordered_set>
#include <utility>

#include "core/schema_compile.h"

namespace bh::schema {

namespace {

class Closer {
 public:
  explicit Closer(Program& program) : program_(program) {}

  void run() {
    for (const Node& node : program_.nodes) mark_branches(node);
    for (Node& node : program_.nodes) close(node);
  }

 private:
  struct Listing {
    KnownKeys known;
    bool lists = false;  // properties are listed
    bool says = false;   // and what is to become of others is said
    std::unordered_set<const Node*> seen;
  };

  void mark_branches(const Node& node) {
    for (const auto* list : {&node.all_of, &node.any_of, &node.one_of}) {
      for (const Node* branch : *list) mark_branch(branch);
    }
    for (const Node* branch : {node.then_, node.else_}) mark_branch(branch);
    // Closing what only decides (not, if, contains) would change the decision.
    mark_branch(node.if_);
    for (const Node* decides : {node.not_, node.if_, node.contains}) leave_open(decides);
  }

  // A branch describes a part of an object; the schema that holds the branches closes them all.
  void mark_branch(const Node* node) {
    for (; node != nullptr; node = node->ref) branches_.insert(node);
  }

  void leave_open(const Node* node) {
    if (node == nullptr || !left_open_.insert(node).second) return;
    for (const auto* list : {&node->all_of, &node->any_of, &node->one_of}) {
      for (const Node* below : *list) leave_open(below);
    }
    for (const Property& property : node->properties.list()) leave_open(property.node);
    for (const PatternProperty& property : node->pattern_properties) leave_open(property.node);
    for (const Node* below : {node->ref, node->not_, node->if_, node->then_, node->else_,
                              node->items, node->contains, node->additional}) {
      leave_open(below);
    }
  }

  void list(const Node& start, Listing& listing) {
    const Node& node = resolved(start);
    if (!listing.seen.insert(&node).second) return;
    listing.says = listing.says || node.additional != nullptr;
    listing.lists = listing.lists || node.lists_properties;
    for (const Property& property : node.properties.list()) {
      if (listing.known.names.find(property.name) == nullptr) {
        listing.known.names.add(property.name, property.node);
      }
    }
    for (const PatternProperty& property : node.pattern_properties) {
      listing.known.patterns.push_back(property.pattern);
    }
    for (const auto* branches : {&node.all_of, &node.any_of, &node.one_of}) {
      for (const Node* branch : *branches) list(*branch, listing);
    }
    for (const Node* branch : {node.if_, node.then_, node.else_}) {
      if (branch != nullptr) list(*branch, listing);
    }
  }

  void close(Node& node) {
    if (branches_.contains(&node) || left_open_.contains(&node)) return;
    if (node.ref != nullptr && !branches_.contains(&resolved(node)) &&
        !left_open_.contains(&resolved(node))) {
      return;  // what it refers to is closed itself
    }
    Listing listing;
    list(node, listing);
    if (!listing.lists || listing.says) return;
    program_.known_keys.push_back(std::move(listing.known));
    node.closed = &program_.known_keys.back();
    if (node.ref != nullptr) {
      // Its target stays open for others, so this place becomes an object of its own around it.
      node.all_of.push_back(std::exchange(node.ref, nullptr));
      node.has_branches = true;
    }
  }

  Program& program_;
  std::unordered_set<const Node*> branches_, left_open_;
};

}  // namespace

void close_objects(Program& program) { Closer(program).run(); }

}  // namespace bh::schema
