// Schemas: each keyword's good and bad values, each refusal by name (schema_cases.json), the
// sentences, and the bounds in time and stack.
#include "core/schema.h"

#include <pthread.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "support/catch.h"

namespace {

using bh::Schema;
using bh::json::value;

value read_cases() {
  std::ifstream file(BH_SOURCE_DIR "/tests/host/core/schema_cases.json");
  std::stringstream text;
  text << file.rdbuf();
  auto parsed = bh::json::parse(text.str());
  REQUIRE(parsed);
  return *parsed;
}

value parsed(std::string_view text) {
  auto result = bh::json::parse(text);
  REQUIRE(result);
  return *result;
}

bh::json::object details_of(const bh::Error& error) { return parsed(error.details).as_object(); }

std::shared_ptr<const Schema> compiled(std::string_view text, Schema::Options options = {}) {
  auto schema = Schema::compile(text, options);
  INFO((schema ? std::string() : schema.error().message));
  REQUIRE(schema);
  return *schema;
}

// Runs `fn` on a thread with a stack of 1 MiB, as a worker may have.
void on_small_stack(const std::function<void()>& fn) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, 1 << 20) == 0);
  pthread_t thread;
  const auto start = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, start, const_cast<std::function<void()>*>(&fn)) ==
          0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// `levels` arrays in each other.
value nested(std::size_t levels) {
  value v = nullptr;
  for (std::size_t i = 0; i < levels; ++i) {
    bh::json::array outer;
    outer.push_back(std::move(v));
    v = std::move(outer);
  }
  return v;
}

}  // namespace

TEST_CASE("every keyword takes what is right and names what is wrong") {
  const value cases = read_cases();
  for (const value& entry : cases.at("checked").as_array()) {
    const auto& test = entry.as_object();
    const bool closed = bh::json::get_bool(test, "closed");
    INFO(test.at("about"));
    auto schema = Schema::compile_parsed(test.at("schema"), {.closed = closed});
    if (!schema) FAIL(schema.error().message);
    if (const auto* good = bh::json::get_array(test, "good")) {
      for (const value& v : *good) {
        INFO("good: " << bh::json::print(v));
        auto result = (*schema)->check(v);
        CHECK((result ? "" : result.error().message) == "");
      }
    }
    const auto* bad = bh::json::get_array(test, "bad");
    if (bad == nullptr) continue;
    for (const value& one : *bad) {
      INFO("bad: " << bh::json::print(one.at("value")));
      auto result = (*schema)->check(one.at("value"));
      REQUIRE_FALSE(result);
      INFO(result.error().message);
      CHECK(result.error().code == BH_INVALID_ARGUMENT);
      const auto details = details_of(result.error());
      CHECK(details.at("reason") == "schema");
      CHECK(details.at("field") == one.at("field"));
      CHECK(details.at("keyword") == one.at("keyword"));
      CHECK(details.at("remedy").as_string().size() > 0);
      if (one.as_object().contains("message")) {
        CHECK(result.error().message == std::string(one.at("message").as_string()));
      }
    }
  }
}

TEST_CASE("what is not enforced is refused by name and place") {
  const value cases = read_cases();
  for (const value& entry : cases.at("refused").as_array()) {
    const auto& test = entry.as_object();
    INFO(bh::json::print(test.at("schema")));
    auto schema = Schema::compile_parsed(test.at("schema"), {});
    REQUIRE_FALSE(schema);
    INFO(schema.error().message);
    CHECK(schema.error().code == BH_INVALID_ARGUMENT);
    const auto details = details_of(schema.error());
    CHECK(details.at("reason") == test.at("reason"));
    if (test.contains("field")) CHECK(details.at("field") == test.at("field"));
    if (const auto* keyword = test.if_contains("keyword")) {
      CHECK(details.at("keyword") == *keyword);
      CHECK(schema.error().message.find(keyword->as_string().c_str()) != std::string::npos);
    }
  }
}

TEST_CASE("refusals say what would be right") {
  auto schema = Schema::compile(R"({"properties":{"a":{"prefixItems":[{}]}}})");
  REQUIRE_FALSE(schema);
  CHECK(schema.error().message ==
        "schema /properties/a: \"prefixItems\" is not enforced here; use \"items\" with one schema "
        "for all items");
  schema = Schema::compile(R"({"pattern":"(?<=a)b"})");
  REQUIRE_FALSE(schema);
  CHECK(schema.error().message.find("RE2") != std::string::npos);
  CHECK(schema.error().message.find("look-around") != std::string::npos);
}

TEST_CASE("the remedy says what is accepted") {
  const struct {
    const char *schema, *value, *remedy;
  } cases[] = {
      {R"({"minimum":2})", "1", "give at least 2"},
      {R"({"maximum":2})", "3", "give at most 2"},
      {R"({"exclusiveMinimum":0})", "0", "give more than 0"},
      {R"({"exclusiveMaximum":0})", "0", "give less than 0"},
      {R"({"multipleOf":4})", "3", "give a multiple of 4"},
      {R"({"minLength":1})", "\"\"", "give at least 1 character"},
      {R"({"maxLength":2})", "\"abc\"", "give at most 2 characters"},
      {R"({"pattern":"^a$"})", "\"b\"", "give text that matches \"^a$\""},
      {R"({"minItems":1})", "[]", "give at least 1 item"},
      {R"({"maxItems":1})", "[1,2]", "give at most 1 item"},
      {R"({"contains":{"type":"string"}})", "[1]", "add an item that is string"},
      {R"({"minProperties":1})", "{}", "give at least 1 key"},
      {R"({"maxProperties":0})", "{\"a\":1}", "give at most 0 keys"},
      {R"({"propertyNames":{"maxLength":1}})", "{\"ab\":1}",
       "rename the key \"ab\", or leave it out"},
      {R"({"not":{"type":"string"}})", "\"a\"", "leave it out, or give a value of another form"},
  };
  for (const auto& each : cases) {
    INFO(each.schema << " " << each.value);
    const auto schema = Schema::compile(each.schema);
    REQUIRE(schema);
    const auto result = (*schema)->check(*bh::json::parse(each.value));
    REQUIRE_FALSE(result);
    CHECK(details_of(result.error()).at("remedy") == each.remedy);
  }
}

TEST_CASE("a schema must be JSON, and of bounded size") {
  CHECK(details_of(Schema::compile("{").error()).at("reason") == "json_syntax");
  CHECK(details_of(Schema::compile(R"({"type":"null","type":"null"})").error()).at("reason") ==
        "json_duplicate_key");
  const std::string large = R"({"description":")" + std::string(1 << 20, 'x') + "\"}";
  CHECK(details_of(Schema::compile(large).error()).at("reason") == "schema_limit");
  CHECK(details_of(Schema::compile(R"({"pattern":")" + std::string(5000, 'x') + "\"}").error())
            .at("reason") == "schema_limit");
  std::string many = "{\"anyOf\":[{}";
  for (int i = 0; i < 3000; ++i) many += ",{}";
  CHECK(details_of(Schema::compile(many + "]}").error()).at("reason") == "schema_limit");
  std::string parts = "{\"properties\":{\"first\":{}";
  for (int i = 0; i < 20'000; ++i) parts += ",\"" + std::to_string(i) + "\":{}";
  CHECK(details_of(Schema::compile(parts + "}}").error()).at("reason") == "schema_limit");
}

TEST_CASE("combinations that double at each step are refused before they cost") {
  std::string text = R"({"$ref":"#/$defs/a0","$defs":{)";
  for (int i = 0; i < 40; ++i) {
    const std::string next = "{\"$ref\":\"#/$defs/a" + std::to_string(i + 1) + "\"}";
    text += "\"a" + std::to_string(i) + "\":{\"allOf\":[" + next + "," + next + "]},";
  }
  auto schema = Schema::compile(text + R"("a40":{}}})");
  REQUIRE_FALSE(schema);
  CHECK(details_of(schema.error()).at("reason") == "schema_limit");
}

TEST_CASE("a long chain of references is refused, a short one followed") {
  const auto chain = [](int links) {
    std::string text = R"({"$ref":"#/$defs/a0","$defs":{)";
    for (int i = 0; i < links; ++i) {
      text +=
          "\"a" + std::to_string(i) + "\":{\"$ref\":\"#/$defs/a" + std::to_string(i + 1) + "\"},";
    }
    return text + "\"a" + std::to_string(links) + R"(":{"type":"null"}}})";
  };
  auto schema = compiled(chain(30));
  CHECK(schema->check(nullptr));
  CHECK_FALSE(schema->check(1));
  std::string reason;
  on_small_stack([&] {
    auto refused = Schema::compile(chain(15'000));
    if (!refused) reason = refused.error().details;
  });
  CHECK(reason.find("schema_limit") != std::string::npos);
}

TEST_CASE("work that multiplies with every level ends") {
  // Each level is checked twice, by both branches: 2^60 steps without a bound.
  auto schema =
      compiled(R"({"type":"array","anyOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]})");
  auto result = schema->check(nested(60));
  REQUIRE_FALSE(result);
  CHECK(details_of(result.error()).at("keyword") == "limit");
  auto all = compiled(R"({"allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]})");
  result = all->check(nested(60));
  REQUIRE_FALSE(result);
  CHECK(details_of(result.error()).at("reason") == "schema_limit");
  CHECK(details_of(result.error()).at("keyword") == "limit");
  // A limit that is met under `not` is no success.
  auto negated = compiled(R"({"not":{"$ref":"#/$defs/a"},
      "$defs":{"a":{"allOf":[{"items":{"$ref":"#/$defs/a"}},{"items":{"$ref":"#/$defs/a"}}]}}})");
  result = negated->check(nested(60));
  REQUIRE_FALSE(result);
  CHECK(details_of(result.error()).at("keyword") == "limit");
}

TEST_CASE("deep values fit a small stack") {
  auto schema = compiled(R"({"anyOf":[{"type":"null"},{"type":"array","items":{"$ref":"#"}}]})");
  const value as_parsed = nested(127);
  const value deeper = nested(2'000);
  bool good = false;
  std::string details;
  on_small_stack([&] {
    good = schema->check(as_parsed).has_value();
    auto result = schema->check(deeper);
    if (!result) details = result.error().details;
  });
  CHECK(good);
  CHECK(details.find("\"limit\"") != std::string::npos);
}

TEST_CASE("a deeply nested schema compiles on a small stack, or is refused") {
  const auto levels = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "{\"items\":";
    return text + "{}" + std::string(static_cast<std::size_t>(count), '}');
  };
  bool good = false;
  std::string details;
  on_small_stack([&] {
    good = Schema::compile(levels(120)).has_value();
    auto refused = Schema::compile(levels(200));
    if (!refused) details = refused.error().details;
  });
  CHECK(good);
  CHECK(details.find("json_depth") != std::string::npos);
}

TEST_CASE("patterns need little stack, whatever the text") {
  auto schema = compiled(R"({"properties":{"a":{"pattern":"^(a|b|ab)*c?$"}},
      "patternProperties":{"^(x|y)+$":{"pattern":"(.*)(.*)(.*)z$"}},
      "propertyNames":{"pattern":"^(.|\\n)*$"}})");
  const std::string text(200'000, 'a');
  bh::json::object good;
  good["a"] = text;
  good[std::string(5'000, 'x')] = std::string(5'000, 'y') + "z";
  bh::json::object bad;
  bad["a"] = text + "!";
  bool taken = false;
  std::string details;
  on_small_stack([&] {
    taken = schema->check(good).has_value();
    auto result = schema->check(bad);
    if (!result) details = result.error().details;
  });
  CHECK(taken);
  CHECK(details.find("\"pattern\"") != std::string::npos);
}

TEST_CASE("a large value may take the time that it needs") {
  auto schema =
      compiled(R"({"items":{"anyOf":[{"type":"string"},{"type":"null"},{"minimum":0}]}})");
  bh::json::array items;
  for (int i = 0; i < 1'000'000; ++i) items.emplace_back(i);
  CHECK(schema->check(items));
}

TEST_CASE("many equal hashes and many items cost time within reason") {
  auto schema = compiled(R"({"uniqueItems":true})");
  bh::json::array items;
  for (int i = 0; i < 100'000; ++i) items.emplace_back(i);
  CHECK(schema->check(items));
  items.emplace_back(7.0);
  CHECK_FALSE(schema->check(items));
}

TEST_CASE("values in messages are cut at a character") {
  auto schema = compiled(R"({"enum":["a"]})");
  std::string text = "x";
  for (int i = 0; i < 100; ++i) text += "ä";
  auto result = schema->check(value(text));
  REQUIRE_FALSE(result);
  CHECK(result.error().message.size() < 140);
  CHECK(result.error().message.find("...") != std::string::npos);
  CHECK(result.error().message.find("\xEF\xBF\xBD") == std::string::npos);
}

TEST_CASE("the subject names what is checked") {
  auto schema = compiled(R"({"properties":{"path":{"type":"string"}},"required":["path"]})",
                         {.closed = true, .subject = "config"});
  CHECK(schema->check(parsed(R"({"path":1})")).error().message ==
        "config /path: expected string, got number");
  CHECK(schema->check(parsed(R"({"pth":1})")).error().message ==
        "config: unknown key \"pth\"; known: path (did you mean \"path\"?)");
  CHECK(schema->check(parsed("{}")).error().message == "config: missing key \"path\" (string)");
}

TEST_CASE("threads check side by side") {
  auto schema = compiled(R"({"properties":{"n":{"type":"integer","minimum":0},
      "s":{"pattern":"^[a-z]+[0-9]*$"},"next":{"$ref":"#"}},"additionalProperties":false})");
  const value good = parsed(R"({"n":1,"s":"abc9","next":{"n":2,"s":"z"}})");
  const value bad = parsed(R"({"n":1,"s":"abc9","next":{"n":2,"s":"9"}})");
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2'000; ++i) {
        if (schema->check(good)) ++right;
        auto result = schema->check(bad);
        if (!result && result.error().message.starts_with("arguments /next/s: ")) ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(right == 4 * 2'000 * 2);
}
