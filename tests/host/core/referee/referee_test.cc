// Random schemas and values of the part of JSON Schema that valijson does right: its verdict and
// ours are the same. Left out is what it is known to do otherwise: integral doubles, 64-bit bounds,
// $ref with siblings.
#include "referee.h"

#include <random>
#include <string>

#include "base/json.h"
#include "core/schema.h"
#include "support/catch.h"
#include "support/skip.h"

namespace {

using bh::json::array;
using bh::json::object;
using bh::json::value;

// Small alphabets, so that values and rules meet.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  value schema(int depth) {
    if (depth == 0 || chance(10)) return leaf_schema();
    object out;
    if (chance(50)) out["type"] = types();
    if (chance(30)) add_object_rules(out, depth);
    if (chance(30)) add_array_rules(out, depth);
    if (chance(30)) add_scalar_rules(out);
    if (chance(15)) out["allOf"] = schemas(depth);
    if (chance(15)) out["anyOf"] = schemas(depth);
    if (chance(15)) out["oneOf"] = schemas(depth);
    if (chance(10)) out["not"] = schema(depth - 1);
    if (chance(10)) {
      out["if"] = schema(depth - 1);
      out["then"] = schema(depth - 1);
      if (chance(50)) out["else"] = schema(depth - 1);
    }
    return out;
  }

  value instance(int depth) {
    switch (below(depth > 0 ? 7 : 5)) {
      case 0:
        return nullptr;
      case 1:
        return chance(50);
      case 2:
        return below(6) - 2;
      case 3:
        return (below(6) - 2) + 0.5;
      case 4:
        return value(text());
      case 5: {
        array out;
        for (int i = below(4); i > 0; --i) out.push_back(instance(depth - 1));
        return out;
      }
      default: {
        object out;
        for (int i = below(4); i > 0; --i) out[text()] = instance(depth - 1);
        return out;
      }
    }
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool chance(int percent) { return below(100) < percent; }
  std::string text() {
    static const char* const kTexts[] = {"a", "b", "ab", "xa", "é", "abc"};
    return kTexts[below(6)];
  }
  value type() {
    static const char* const kTypes[] = {"object", "array",   "string", "integer",
                                         "number", "boolean", "null"};
    return kTypes[below(7)];
  }
  value types() {
    if (chance(60)) return type();
    const value one = type();
    const value other = type();
    if (one == other) return one;
    return array{one, other};
  }
  array schemas(int depth) {
    array out;
    for (int i = 1 + below(3); i > 0; --i) out.push_back(schema(depth - 1));
    return out;
  }
  value leaf_schema() {
    if (chance(10)) return chance(70);
    object out;
    if (chance(70)) out["type"] = types();
    if (chance(40)) add_scalar_rules(out);
    return out;
  }
  void add_scalar_rules(object& out) {
    switch (below(9)) {
      case 0:
        out["minimum"] = below(4) - 1;
        break;
      case 1:
        out["maximum"] = below(4) - 1;
        break;
      case 2:
        out["exclusiveMinimum"] = below(4) - 1;
        break;
      case 3:
        out["exclusiveMaximum"] = below(4) - 1;
        break;
      case 4:
        out["minLength"] = below(3);
        break;
      case 5:
        out["maxLength"] = below(3);
        break;
      case 6:
        out["pattern"] = chance(50) ? "^a" : "b";
        break;
      case 7:
        out["const"] = instance(1);
        break;
      default:
        out["enum"] = array{instance(0), instance(1)};
    }
  }
  void add_array_rules(object& out, int depth) {
    if (chance(60)) out["items"] = schema(depth - 1);
    if (chance(30)) out["minItems"] = below(3);
    if (chance(30)) out["maxItems"] = below(3);
    if (chance(30)) out["uniqueItems"] = true;
    if (chance(20)) out["contains"] = schema(depth - 1);
  }
  void add_object_rules(object& out, int depth) {
    if (chance(70)) {
      object properties;
      for (int i = below(3); i > 0; --i) properties[text()] = schema(depth - 1);
      out["properties"] = properties;
    }
    if (chance(30)) out["required"] = array{value(text())};
    if (chance(40)) out["additionalProperties"] = chance(50) ? value(false) : schema(depth - 1);
    if (chance(20)) out["patternProperties"] = object{{chance(50) ? "^a" : "b", schema(depth - 1)}};
    if (chance(15)) out["propertyNames"] = object{{"maxLength", 1 + below(2)}};
    if (chance(20)) out["minProperties"] = below(3);
    if (chance(20)) out["maxProperties"] = below(3);
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("two engines, one verdict") {
#ifdef BH_WITH_VALIJSON
  Maker maker(20240501);
  int taken = 0;
  int refused = 0;
  for (int i = 0; i < 3'000; ++i) {
    const value schema = maker.schema(3);
    auto compiled = bh::Schema::compile_parsed(schema, {});
    INFO("schema: " << bh::json::print(schema));
    REQUIRE((compiled ? "" : compiled.error().message) == "");
    for (int k = 0; k < 6; ++k) {
      const value instance = maker.instance(2);
      INFO("value: " << bh::json::print(instance));
      const auto ours = (*compiled)->check(instance);
      INFO((ours ? "taken by us" : ours.error().message));
      CHECK(ours.has_value() == referee_accepts(schema, instance));
      ++(ours ? taken : refused);
    }
  }
  // The two must have had something to agree about.
  CHECK(taken > 3'000);
  CHECK(refused > 3'000);
#else
  BH_SKIP("valijson's headers are not installed");
#endif
}
