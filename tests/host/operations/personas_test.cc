// Every operation that takes an id, called with another persona's: found from the schemas, so that
// no new one is forgotten.
#include <set>

#include "boxes.h"
#include "core/operation.h"
#include "operations/catalogue.h"
#include "state/job_records.h"
#include "support/catch.h"

using namespace bh_test;
namespace json = bh::json;

namespace {

// The least that satisfies a schema.
json::value least(const json::object& schema) {
  if (const json::array* list = json::get_array(schema, "enum")) return list->front();
  if (const json::value* fixed = schema.if_contains("const")) return *fixed;
  for (const char* some : {"anyOf", "oneOf"}) {
    if (const json::array* list = json::get_array(schema, some)) return least(list->front().as_object());
  }
  std::string type(json::get_string(schema, "type"));
  if (const json::array* types = json::get_array(schema, "type")) type = types->front().as_string().c_str();
  if (type == "integer" || type == "number") return json::get_int(schema, "minimum", 1);
  if (type == "boolean") return true;
  if (type == "array") {
    json::array out;
    if (const json::object* items = json::get_object(schema, "items")) out.push_back(least(*items));
    return out;
  }
  if (type == "object") {
    json::object out;
    const json::object* properties = json::get_object(schema, "properties");
    if (const json::array* required = json::get_array(schema, "required")) {
      for (const json::value& key : *required) {
        out[key.as_string()] = least(*json::get_object(*properties, key.as_string().c_str()));
      }
    }
    return out;
  }
  return "x";
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("another persona's sandbox or job is not found, in the words for one that never was") {
  Place place;
  Embedder host(boxes_at(place.path + "/d", R"(,"files":{"store":"memory"})"));
  // What is copied into a sandbox is there, so that only the sandbox is not.
  REQUIRE(host.call("files.put", R"({"path":"x","content":"x"})").last == BH_EVENT_RESULT);
  bh_session* other = host.open_session(R"({"persona":"other"})");
  bh_session* boss = host.open_session(R"({"operator":true})");
  REQUIRE(other != nullptr);
  REQUIRE(boss != nullptr);
  std::map<std::string, std::pair<std::string, std::string>> ids;  // argument -> theirs, nobody's
  ids["sandbox"] = {member_of(host.call("sandbox.create", "{}", other).result, "sandbox"), "s-00000000000000000000"};
  ids["job"] = {"j-11111111111111111111", "j-00000000000000000000"};
  {
    auto root = bh::DataRoot::open(place.path + "/d").value();
    bh::Database db(root);
    bh::JobRecord job;
    job.id = ids["job"].first;
    job.sandbox = ids["sandbox"].first;
    job.persona = "other";
    job.argv = {"x"};
    job.state = "ended";
    REQUIRE(bh::JobRecords(db).put(job));
  }
  std::set<std::string> tried;
  for (const auto& [name, entry] : bh::catalogue().entries()) {
    const json::object schema = json::parse_object(entry.spec.args_schema).value();
    const json::object* properties = json::get_object(schema, "properties");
    if (properties == nullptr) continue;
    for (const auto& [argument, pair] : ids) {
      if (!properties->contains(argument)) continue;
      INFO(name << " with " << argument);
      json::object args = least(schema).as_object();
      std::string words[2];
      for (int absent : {0, 1}) {
        const std::string& id = absent ? pair.second : pair.first;
        args[argument] = id;
        Answer answer = host.call(name, json::print(args));
        CHECK(answer.fault.code == BH_NOT_FOUND);
        CHECK(answer.items.empty());
        words[absent] = answer.fault.message + answer.fault.details;
        replace_all(words[absent], id, "ID");
      }
      CHECK(words[0] == words[1]);
      CHECK(words[0].find(argument + "_not_found") != std::string::npos);
      tried.insert(name);
    }
  }
  for (const char* name : {"sandbox.exec", "sandbox.get", "sandbox.kill", "sandbox.renew", "sandbox.pause",
                           "sandbox.resume", "sandbox.signal", "sandbox.interrupt", "sandbox.endpoint",
                           "job.start", "job.list", "job.get", "job.attach", "job.forget"}) {
    CHECK(tried.count(name) == 1);
  }
  CHECK(host.call("sandbox.list", "{}").items.empty());
  // It is all there, for whom it belongs to and for the operator.
  CHECK(host.call("sandbox.get", named(ids["sandbox"].first), other).last == BH_EVENT_RESULT);
  CHECK(member_of(host.call("sandbox.get", named(ids["sandbox"].first), boss).result, "persona") == "other");
  bh_session_free(other);
  bh_session_free(boss);
}
