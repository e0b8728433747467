// The profile's file rules and hides, tried from the inside by every way that comes to mind.
#include <sys/stat.h>
#include <unistd.h>

#include "../core/box.h"
#include "../core/rules.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

json::object with_rules(const std::string& work,
                        std::initializer_list<std::pair<std::string, const char*>> rules) {
  json::object profile = base_profile(work);
  json::array list;
  for (const auto& [path, access] : rules) {
    list.push_back(json::object({{"path", path}, {"access", access}}));
  }
  profile["files"] = list;
  return profile;
}

constexpr const char* kChanges[] = {"echo changed > guarded/file",
                                    "echo x > guarded/new",
                                    "rm guarded/file",
                                    "mv guarded/file away",
                                    "mv guarded away && ! test -d guarded && mkdir guarded",
                                    "ln guarded/file hard && echo changed > hard",
                                    "echo changed > link/file",
                                    "chmod 777 guarded/file",
                                    "mkdir guarded/deeper",
                                    "rm -r guarded"};

void read_only(Try& t) {
  needs_key(t, "files.access", "ro");
  needs_key(t, "workspace");
  Folder folder(t.backend.scratch());
  const std::string work = folder.make("work");
  (void)folder.write("work/guarded/file", "text\n");
  (void)folder.write("work/beside/file", "");
  (void)::symlink("guarded", (work + "/link").c_str());
  {
    Box free(t, base_profile(work));
    control(
        t,
        free.sh("echo changed > guarded/file && echo x > guarded/new && rm guarded/new").exited(0),
        "without the rule it cannot be changed either");
    (void)free.sh("printf 'text\\n' > guarded/file");
  }
  Box box(t, with_rules(work, {{work + "/guarded", "ro"}}));
  if (!promised(t, box.report(), "files:" + work + "/guarded")) return;
  for (const char* attempt : kChanges) (void)box.sh(attempt);
  t.equal("the guarded file", read_file(work + "/guarded/file"), "text\n");
  t.equal("what lies in the guarded folder", join(tree(work + "/guarded")), work + "/guarded/file");
  t.equal("the file, read inside", box.sh("cat guarded/file").out, "text\n");
  t.expect(box.sh("echo x > beside/file").exited(0),
           "beside the guarded folder nothing can be written");
  // Who can allow only what is there says so of the workspace.
  if (box.report().enforced("workspace")) {
    t.expect(box.sh("echo x > new").exited(0), "beside the guarded folder nothing can be made");
  }
}

void hidden(Try& t) {
  needs_key(t, "files.access", "hide");
  needs_key(t, "workspace");
  Folder folder(t.backend.scratch());
  const std::string work = folder.make("work");
  (void)folder.write("work/secret/file", "secret text\n");
  (void)folder.write("work/key", "secret key\n");
  (void)::symlink("key", (work + "/link").c_str());
  const std::string read_all =
      "cat key link secret/file; ls -A secret; cat < key; cp key copy && cat copy; "
      "ln key hard && cat hard; mv key moved && cat moved; mv secret shown && cat shown/file";
  {
    Box free(t, base_profile(work));
    control(t, free.sh("cat key secret/file").out == "secret key\nsecret text\n",
            "without the rule it is not there either");
  }
  Box box(t, with_rules(work, {{work + "/secret", "hide"}, {work + "/key", "hide"}}));
  const bool folder_promised = promised(t, box.report(), "files:" + work + "/secret");
  const bool file_promised = promised(t, box.report(), "files:" + work + "/key");
  const Ran ran = box.sh(read_all);
  const std::string proc =
      box.sh("cat /proc/self/root" + work + "/key /proc/self/cwd/secret/file").out;
  const std::string all = ran.out + proc;
  t.expect(!folder_promised || all.find("secret text") == std::string::npos,
           "the hidden folder's file was read: " + ran.told());
  t.expect(!file_promised || all.find("secret key") == std::string::npos,
           "the hidden file was read: " + ran.told());
  if (file_promised)
    t.equal("the hidden file on the host", read_file(work + "/key"), "secret key\n");
}

void most_specific(Try& t) {
  needs_key(t, "files.access", "ro");
  needs_key(t, "files.access", "rw");
  needs_key(t, "workspace");
  Folder folder(t.backend.scratch());
  const std::string work = folder.make("work");
  (void)folder.make("work/guarded/open/shut");
  (void)folder.write("work/guarded/open/file", "");
  const std::string guarded = work + "/guarded";
  Box box(t,
          with_rules(work,
                     {{guarded + "/open", "rw"}, {guarded, "ro"}, {guarded + "/open/shut", "ro"}}));
  bool all = true;
  for (const auto& path : {guarded, guarded + "/open", guarded + "/open/shut"}) {
    all = promised(t, box.report(), "files:" + path) && all;
  }
  if (!all) return;
  t.expect(!box.sh("echo x > guarded/a").exited(0), "the outer rule does not hold");
  t.expect(box.sh("echo x > guarded/open/file").exited(0), "the rule within does not win");
  t.expect(!box.sh("echo x > guarded/open/shut/a").exited(0), "the innermost rule does not win");
}

void outside_workspace(Try& t) {
  needs_key(t, "files.access", "hide");
  Folder folder(t.backend.scratch());
  const std::string secret = folder.write("secrets/file", "secret text\n");
  ::chmod((folder.path() + "/secrets").c_str(), 0755);
  ::chmod(folder.path().c_str(), 0755);
  json::object profile;
  profile["files"] =
      json::array({json::object({{"path", folder.path() + "/secrets"}, {"access", "hide"}})});
  {
    Box free(t);
    if (free.sh("cat '" + secret + "'").out != "secret text\n") {
      Try::skip("the host's files are not shown in the first place");
    }
  }
  Box box(t, profile);
  if (!promised(t, box.report(), "files:" + folder.path() + "/secrets")) return;
  t.expect(box.sh("cat '" + secret + "'").out.empty(), "a hidden file of the host was read");
}

void hides_hold(Try& t) {
  needs_key(t, "hide");
  needs_key(t, "workspace");
  Folder folder(t.backend.scratch());
  const std::string work = folder.make("work");
  (void)folder.write("work/data/file", "secret text\n");
  const std::string data = work + "/data";
  {
    Box free(t, base_profile(work));
    control(t, free.sh("cat data/file").out == "secret text\n",
            "without the hide it is not there either");
  }
  json::object profile = base_profile(work);
  profile["hide"] = json::array({data});
  Box box(t, profile);
  if (!guaranteed(t, box.report(), "isolation.hides")) return;
  t.expect(box.sh("cat data/file; cat data/../data/file").out.empty(),
           "a hidden path of the host was read");
  // No rule shows it again: refused, or without effect.
  if (t.backend.plugin().profile.allows("files.access", "rw")) {
    json::object ruled = with_rules(work, {{data, "rw"}});
    ruled["hide"] = json::array({data});
    if (try_create(t, ruled).answer.ok()) {
      Box again(t, ruled);
      t.expect(again.sh("cat data/file").out.empty(), "a file rule shows what the host hides");
    }
  }
  if (t.backend.plugin().profile.lists("mounts")) {
    json::object mounted = base_profile(work);
    (void)folder.make("work/shown");
    mounted["hide"] = json::array({data});
    mounted["mounts"] = json::array({json::object({{"source", data}, {"path", work + "/shown"}})});
    if (try_create(t, mounted).answer.ok()) {
      Box again(t, mounted);
      t.expect(again.sh("cat shown/file").out.empty(), "a mount shows what the host hides");
    }
  }
}

}  // namespace

void add_file_rules(Suite& s) {
  s.add("files_rules.ro", "what is read-only cannot be changed, moved, linked or replaced",
        read_only);
  s.add("files_rules.hide", "what is hidden cannot be read by any name", hidden);
  s.add("files_rules.specific", "the most specific rule wins", most_specific);
  s.add("files_rules.outside", "files of the host outside the workspace can be hidden",
        outside_workspace);
  s.add("files_rules.hides", "no rule and no mount shows what the host hides", hides_hold);
}

}  // namespace bulkhead::sdk::contract
