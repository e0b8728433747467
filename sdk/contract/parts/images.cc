// bh.isolation.images/1 and bh.isolation.snapshots/1: what can be held of them without an archive.
#include <bulkhead/isolation_images.h>

#include "../core/box.h"
#include "../core/extension.h"
#include "../core/rules.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

void images(Try& t) {
  const auto table = extension<bh_isolation_images>(t, BH_ISOLATION_IMAGES);
  auto list = [&] {
    return offered(t.backend.call([f = given(table.list, "list"),
                                   self = t.backend.self()](bh_call* c) { return f(self, c); }),
                   "images");
  };
  const Answer before = list();
  t.require(before.ok(), "list: " + before.text());
  const std::string state = join(tree(t.backend.state()), "\n");
  auto flight = t.backend.fly();
  flight->call.feed("this is no archive");
  flight->call.end_of_input();
  Backend::start(flight, [f = given(table.add, "add"), self = t.backend.self()](bh_call* c) {
    return f(self, c, "contract-no-image", 17, "{}", 2);
  });
  const Answer added = t.backend.land(flight);
  t.expect(added.returned && !added.ok(), "bytes that are no archive become an image");
  t.expect(list().said.items == before.said.items, "something half made is listed");
  t.equal("the state folder after that", join(tree(t.backend.state()), "\n"), state);
  const Answer removed =
      t.backend.call([f = given(table.remove, "remove"), self = t.backend.self()](bh_call* c) {
        return f(self, c, "contract-no-image", 17);
      });
  t.expect(removed.returned && (removed.ok() || removed.status == BH_NOT_FOUND),
           "removing what is not there: " + removed.text());
}

void unknown_image(Try& t) {
  needs_key(t, "root.image");
  json::object profile;
  profile["root"] = json::object({{"image", "contract-no-image"}});
  const Made made = try_create(t, profile);
  t.expect(made.answer.returned && !made.answer.ok(), "a sandbox of an image that is not there");
}

void snapshots(Try& t) {
  const auto table = extension<bh_isolation_snapshots>(t, BH_ISOLATION_SNAPSHOTS);
  needs_key(t, "root.snapshot");
  const std::string id = "contract-snapshot";
  Box box(t);
  t.require(box.sh("echo kept > \"$HOME/kept\"").exited(0), "HOME cannot be written");
  const Answer taken = offered(
      t.backend.call([=, f = given(table.take, "take"), sandbox = box.handle()](bh_call* c) {
        return f(sandbox, c, id.data(), id.size(), "{}", 2);
      }),
      "take");
  t.require(taken.ok(), "take: " + taken.text());
  auto result = json::parse_object(taken.said.result);
  t.expect(result && result->if_contains("size") != nullptr, "take answers " + taken.said.result);
  auto list = [&] {
    return t.backend.call([f = given(table.list, "list"), self = t.backend.self()](bh_call* c) {
      return f(self, c);
    });
  };
  t.expect(join(list().said.items).find(id) != std::string::npos, "it is not listed");
  (void)box.sh("echo later > \"$HOME/kept\"");
  {
    json::object profile;
    profile["root"] = json::object({{"snapshot", id}});
    Box again(t, profile);
    t.equal("the file of the snapshot", again.sh("cat \"$HOME/kept\"").out, "kept\n");
  }
  const Answer removed =
      t.backend.call([=, f = given(table.remove, "remove"), self = t.backend.self()](bh_call* c) {
        return f(self, c, id.data(), id.size());
      });
  t.expect(removed.ok(), "remove: " + removed.text());
  t.expect(join(list().said.items).find(id) == std::string::npos, "it is listed after its removal");
}

}  // namespace

void add_images(Suite& s) {
  s.add("images.no_archive", "what is no archive becomes no image, and leaves nothing", images);
  s.add("images.unknown", "an image that is not there gives no sandbox", unknown_image);
  s.add("images.snapshots", "a snapshot holds what was, and outlives changes", snapshots);
}

}  // namespace bulkhead::sdk::contract
