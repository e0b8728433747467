// Sandboxes that start from images: who resolves the name, what the backend gets, and what stays as
// long as it is used.
#include <fstream>

#include "../images/archives.h"
#include "boxes.h"
#include "support/catch.h"

using namespace bh_test;
namespace json = bh::json;

namespace {

constexpr const char kAll[] =
    R"({\"rules\":[{\"rule\":\"network.mode\",\"status\":\"enforced\"},{\"rule\":\"root\",\"status\":\"enforced\"}]})";

// "rooted" starts from images, "boxes" does not.
std::string rooted_at(const std::string& data_root, const std::string& more = {}) {
  return config_at(data_root, R"(,"isolation":{"backend":"rooted","config":{"rooted":{"report":")" +
                                  std::string(kAll) + R"("},"boxes":{"report":")" + kEnforced +
                                  R"("}}})" + more);
}

struct Images {
  Place place;
  Embedder host;
  bh_session* by_operator;

  explicit Images(const std::string& more = {})
      : host(rooted_at(place.path + "/d", more)), by_operator(host.open_session(R"({"operator":true})")) {
    LayoutMaker maker;
    maker.layer(tar_of({file("bin/sh", "x", 0755)}));
    const std::string path = place.path + "/image.tar";
    std::ofstream(path) << LayoutMaker::as_tar(maker.oci());
    Answer answer = host.call("image.import", R"({"path":")" + path + R"(","name":"app"})", by_operator);
    INFO(answer.fault.message);
    REQUIRE(answer.last == BH_EVENT_RESULT);
    digest = member_of(answer.result, "digest");
    root = place.path + "/d/images/sha256-" + digest.substr(7) + "/rootfs";
  }
  ~Images() { bh_session_free(by_operator); }

  // What the backend was last given.
  json::object given() const {
    const std::string log = boxes_log(place.path + "/d", "rooted");
    const std::size_t at = log.rfind("profile ");
    return json::parse_object(log.substr(at + 8, log.find('\n', at) - at - 8)).value();
  }

  std::string digest, root;
};

}  // namespace

TEST_CASE("a backend that starts from images gets the folder, and the image's environment") {
  Images at;
  for (const char* args : {R"({"image":"app"})", R"({"profile":{"root":{"image":"app"}}})"}) {
    INFO(args);
    Answer answer = at.host.call("sandbox.create", args);
    INFO(answer.fault.message);
    REQUIRE(answer.last == BH_EVENT_RESULT);
    CHECK(json::print(at.given().at("root")) == R"({"image":")" + at.root + "\"}");
    CHECK(json::print(at.given().at("env").at("set")) == R"({"PATH":"/bin","A":"b"})");
    // It is what it says: no line that the host stands in for it.
    CHECK(answer.result.find("stands in") == std::string::npos);
    CHECK(member_of(answer.result, "image") == "app");
  }
  Answer answer = at.host.call(
      "sandbox.create", R"({"image":"app","profile":{"env":{"set":{"A":"mine","HOME":"/h"}}}})");
  CHECK(json::print(at.given().at("env").at("set")) == R"({"A":"mine","HOME":"/h","PATH":"/bin"})");
  // By digest, too; and a default sandbox of that shape.
  CHECK(at.host.call("sandbox.create", R"({"image":")" + at.digest + "\"}").last == BH_EVENT_RESULT);
  CHECK(at.host.call("sandbox.exec", R"({"argv":["x"],"profile":{"root":{"image":"app"}}})").last ==
        BH_EVENT_RESULT);
  CHECK(json::print(at.given().at("root")) == R"({"image":")" + at.root + "\"}");
}

TEST_CASE("what cannot start from it, or is none, is refused by name") {
  Images at;
  struct Row {
    const char* args;
    bh_status code;
    const char* details;
  };
  const Row rows[] = {
      {R"({"image":"app","backend":"boxes"})", BH_UNIMPLEMENTED, R"("reason":"image_unsupported","backend":"boxes")"},
      {R"({"profile":{"root":{"image":"app"},"required":[]},"backend":"boxes"})", BH_UNIMPLEMENTED, "image_unsupported"},
      {R"({"image":"none"})", BH_NOT_FOUND, R"("known":"app, host, )"},
      {R"({"profile":{"root":{"image":"none"}}})", BH_NOT_FOUND, R"("field":"/profile/root/image")"},
      {R"({"profile":{"root":{"image":""}}})", BH_NOT_FOUND, "image_unknown"},
      {R"({"profile":{"root":{"image":"/etc"}}})", BH_NOT_FOUND, "image_unknown"},
      {R"({"profile":{"root":{"image":"app","view":"host"}}})", BH_INVALID_ARGUMENT, "contradiction"},
      {R"({"image":"app","profile":{"root":{"image":"app"}}})", BH_INVALID_ARGUMENT, "contradiction"},
  };
  for (const Row& row : rows) {
    INFO(row.args);
    Answer answer = at.host.call("sandbox.create", row.args);
    CHECK(answer.fault.code == row.code);
    CHECK(answer.fault.has(row.details));
    CHECK(at.host.call("sandbox.list", "{}").items.empty());
  }
  // The host's own view never takes an image's place, and needs none.
  CHECK(at.host.call("sandbox.create", R"({"image":"host","backend":"boxes"})").last == BH_EVENT_RESULT);
}

TEST_CASE("an image in use stays until its sandboxes are gone") {
  Images at;
  bh_session* alice = at.host.open_session(R"({"persona":"alice"})");
  const std::string mine = member_of(at.host.call("sandbox.create", R"({"image":"app"})").result, "sandbox");
  const std::string hers =
      member_of(at.host.call("sandbox.create", R"({"image":"app"})", alice).result, "sandbox");
  const std::string remove = R"({"image":"app"})";
  Answer answer = at.host.call("image.remove", remove, at.by_operator);
  CHECK(answer.fault.code == BH_FAILED_PRECONDITION);
  CHECK(answer.fault.has(R"("reason":"image_in_use")"));
  CHECK(answer.fault.has(mine));
  CHECK(answer.fault.has(hers));
  CHECK(at.host.call("image.inspect", remove).last == BH_EVENT_RESULT);
  CHECK(std::ifstream(at.root + "/bin/sh").good());

  // A name that moves leaves it to them, under its digest; it goes when they have gone.
  const std::string path = at.place.path + "/next.tar";
  std::ofstream(path) << tar_of({file("next", "1")});
  CHECK(at.host.call("image.import", R"({"path":")" + path + R"(","name":"app","replace":true})",
                     at.by_operator).last == BH_EVENT_RESULT);
  CHECK(std::ifstream(at.root + "/bin/sh").good());
  CHECK(at.host.call("sandbox.kill", named(mine)).last == BH_EVENT_RESULT);
  const std::string old = R"({"image":")" + at.digest + "\"}";
  CHECK(at.host.call("image.remove", old, at.by_operator).fault.has(hers));
  CHECK(at.host.call("sandbox.kill", named(hers), alice).last == BH_EVENT_RESULT);
  CHECK(at.host.call("image.remove", old, at.by_operator).last == BH_EVENT_RESULT);
  CHECK_FALSE(std::ifstream(at.root + "/bin/sh").good());
  bh_session_free(alice);
}

TEST_CASE("of a persona's image, names of others' sandboxes stay unsaid") {
  Images at;
  bh_session* alice = at.host.open_session(R"({"persona":"alice"})");
  bh_session* bob = at.host.open_session(R"({"persona":"bob"})");
  const std::string tar = tar_of({file("f", "1")});
  CHECK(at.host.call("image.import", R"({"name":"mine"})", alice, tar).last == BH_EVENT_RESULT);
  CHECK(at.host.call("image.import", R"({"name":"mine"})", bob, tar).last == BH_EVENT_RESULT);
  const std::string hers =
      member_of(at.host.call("sandbox.create", R"({"image":"mine"})", alice).result, "sandbox");
  CHECK(at.host.call("image.remove", R"({"image":"mine"})", alice).last == BH_EVENT_RESULT);
  Answer answer = at.host.call("image.remove", R"({"image":"mine"})", bob);
  CHECK(answer.fault.has("image_in_use"));
  CHECK(answer.fault.message.find(hers) == std::string::npos);
  bh_session_free(alice);
  bh_session_free(bob);
}

TEST_CASE("the configuration's names: the host's view, or an image of the store") {
  Images at(R"(,"images":{"max_bytes":100000000,"plain":{"root":"host"},"work":{"image":"app"},"lost":{"image":"gone"}})");
  Answer answer = at.host.call("sandbox.create", R"({"image":"plain"})");
  CHECK(answer.result.find("stands in for the image plain") != std::string::npos);
  CHECK(json::print(at.given().at("root")) == R"({"view":"host"})");
  answer = at.host.call("sandbox.create", R"({"image":"work"})");
  CHECK(json::print(at.given().at("root")) == R"({"image":")" + at.root + "\"}");
  CHECK(member_of(answer.result, "image") == "work");
  CHECK(at.host.call("sandbox.create", R"({"image":"lost"})").fault.has("image_unknown"));
  // Named ones stand in place of the usual.
  CHECK(at.host.call("sandbox.create", R"({"image":"host"})").fault.has("image_unknown"));
  Images limited(R"(,"images":{"max_bytes":100000000})");
  CHECK(limited.host.call("sandbox.create", R"({"image":"host"})").last == BH_EVENT_RESULT);
  for (const char* bad : {R"({"x":{}})", R"({"x":{"root":"host","image":"a"}})", R"({"x":{"image":""}})",
                          R"({"max_bytes":0})", R"({"max_bytes":{"root":"host"}})"}) {
    INFO(bad);
    Embedder none(config_at(at.place.path + "/e", R"(,"images":)" + std::string(bad)));
    CHECK(none.session == nullptr);
    CHECK(none.fault.message.find("images") != std::string::npos);
  }
}

TEST_CASE("a sandbox of an image is found again by the next host, as it was") {
  Images at;
  const std::string id = member_of(at.host.call("sandbox.create", R"({"image":"app"})").result, "sandbox");
  Embedder next(rooted_at(at.place.path + "/d"));
  Answer answer = next.call("sandbox.connect", named(id));
  CHECK(answer.last == BH_EVENT_RESULT);
  CHECK(member_of(answer.result, "image") == "app");
  CHECK(answer.result.find("stands in") == std::string::npos);
  bh_session* by = next.open_session(R"({"operator":true})");
  CHECK(next.call("image.remove", R"({"image":"app"})", by).fault.has(id));
  bh_session_free(by);
}
