// Workspace, home, tmp, mounts and the root: where they are, and that nothing else can be written.
#include <sys/stat.h>
#include <unistd.h>

#include "../core/box.h"
#include "../core/rules.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

std::string quoted(const std::string& path) { return "'" + path + "'"; }

// Whether the sandbox can make a file in that folder.
bool can_write(Box& box, const std::string& folder) {
  return box.sh("echo x > " + quoted(folder + "/written-inside")).exited(0);
}
// The same on the host, as a control.
bool can_write_outside(const std::string& folder) {
  const Outside out =
      run_outside({"/bin/sh", "-c", "echo x > " + quoted(folder + "/written-outside")});
  ::unlink((folder + "/written-outside").c_str());
  return out.code == 0;
}

void workspace(Try& t) {
  needs_key(t, "workspace");
  Folder folder(t.backend.scratch());
  const std::string work = folder.make("work");
  (void)folder.write("work/from-outside", "outside\n");
  Box box(t, base_profile(work));
  const Ran ran = box.sh("cat from-outside; echo inside > from-inside; chmod 600 from-inside");
  t.expect(ran.out == "outside\n", "a file of the workspace inside: " + ran.told());
  if (json::text(t.backend.plugin().capabilities, "workspace") == "copy") {
    t.note("the workspace is a copy");
  } else {
    t.equal("what was written inside, on the host", read_file(work + "/from-inside"), "inside\n");
    struct stat st {};
    t.expect(
        ::stat((work + "/from-inside").c_str(), &st) == 0 && st.st_uid == ::geteuid(),
        "the file's owner on the host is " + std::to_string(st.st_uid) + ", not the workspace's");
  }
  (void)promised(t, box.report(), "workspace");
}

void workspace_path(Try& t) {
  needs_key(t, "workspace.path");
  Folder folder(t.backend.scratch());
  const std::string work = folder.make("work");
  (void)folder.write("work/here", "");
  json::object profile;
  profile["workspace"] = json::object({{"source", work}, {"path", "/contract-workspace"}});
  Box box(t, profile);
  if (!promised(t, box.report(), "workspace")) return;
  t.equal("the working folder", box.sh("pwd -P; ls").out, "/contract-workspace\nhere\n");
}

void workspace_ro(Try& t) {
  needs_key(t, "workspace.access", "ro");
  Folder folder(t.backend.scratch());
  const std::string work = folder.make("work");
  (void)folder.write("work/file", "text\n");
  Box writable(t, base_profile(work));
  control(t, can_write(writable, work), "a workspace that may be written cannot");
  json::object profile;
  profile["workspace"] = json::object({{"source", work}, {"access", "ro"}});
  Box box(t, profile);
  if (!promised(t, box.report(), "workspace")) return;
  t.equal("a file in it", box.sh("cat file").out, "text\n");
  for (const char* attempt :
       {"echo x > new", "echo x > file", "rm file", "mv file other", "mkdir d", "ln -s a b",
        "ln file c", "chmod 777 file", "touch file"}) {
    const Ran ran = box.sh(attempt);
    t.expect(!ran.exited(0), std::string("the workspace is read-only and this works: ") + attempt);
  }
  t.equal("the file on the host", read_file(work + "/file"), "text\n");
}

void elsewhere(Try& t) {
  needs_key(t, "workspace");
  Folder folder(t.backend.scratch());
  const std::string outside = folder.make("outside");
  ::chmod(outside.c_str(), 0777);
  Box box(t, base_profile(folder.make("work")));
  if (!promised(t, box.report(), "workspace")) return;
  control(t, can_write_outside(outside), "the folder cannot be written on the host either");
  t.expect(!can_write(box, outside) || !is_there(outside + "/written-inside"),
           "a folder beside the workspace can be written on the host");
  // By a link that lies in the workspace.
  (void)::symlink(outside.c_str(), (folder.path() + "/work/link").c_str());
  (void)box.sh("echo x > link/through-link");
  t.expect(!is_there(outside + "/through-link"), "it can be written through a link");
}

void root_view(Try& t) {
  needs_key(t, "root.view", "host");
  Folder folder(t.backend.scratch());
  const std::string outside = folder.make("outside");
  ::chmod(outside.c_str(), 0777);
  json::object profile;
  profile["root"] = json::object({{"view", "host"}});
  Box box(t, profile);
  if (!promised(t, box.report(), "root.view")) return;
  control(t, can_write_outside(outside), "the folder cannot be written on the host either");
  (void)can_write(box, outside);
  t.expect(!is_there(outside + "/written-inside"), "the host's files can be written");
  const Ran shows = box.sh("test -x /bin/sh && test -d /usr && echo there");
  t.equal("the host's files inside", shows.out, "there\n");
}

void home(Try& t) {
  needs_key(t, "home");
  Folder folder(t.backend.scratch());
  json::object profile;
  profile["home"] = json::object({{"source", folder.make("home")}});
  Box box(t, profile);
  const Ran ran = box.sh("echo first > \"$HOME/kept\" && cat \"$HOME/kept\"");
  t.expect(ran.out == "first\n", "HOME cannot be written: " + ran.told());
  t.equal("the file in the next command", box.sh("cat \"$HOME/kept\"").out, "first\n");
  if (!promised(t, box.report(), "home")) return;
  t.equal("the file in its source", read_file(folder.path() + "/home/kept"), "first\n");
}

void tmp(Try& t) {
  needs_key(t, "tmp");
  Folder folder(t.backend.scratch());
  json::object profile;
  profile["tmp"] = json::object({{"source", folder.make("tmp")}});
  Box box(t, profile);
  const std::string name = new_token();
  const bool is_promised = promised(t, box.report(), "tmp");
  if (!is_promised) return;
  const Ran ran = box.sh("echo first > /tmp/" + name);
  t.expect(ran.exited(0), "/tmp cannot be written: " + ran.told());
  t.equal("the file in the next command", box.sh("cat /tmp/" + name).out, "first\n");
  t.expect(!is_there("/tmp/" + name), "what is written to /tmp lands in the host's");
  t.equal("the file in its source", read_file(folder.path() + "/tmp/" + name), "first\n");
}

void tmp_of_its_own(Try& t) {
  needs_key(t, "tmp");
  Folder folder(t.backend.scratch());
  json::object first, second;
  first["tmp"] = json::object({{"source", folder.make("first")}});
  second["tmp"] = json::object({{"source", folder.make("second")}});
  Box one(t, first), two(t, second);
  if (!promised(t, one.report(), "tmp")) return;
  const std::string name = new_token();
  t.require(one.sh("echo secret > /tmp/" + name).exited(0), "/tmp cannot be written");
  control(t, one.sh("cat /tmp/" + name).out == "secret\n", "the file is not in its own /tmp");
  t.expect(two.sh("cat /tmp/" + name).out.empty(), "one sandbox's /tmp shows in another");
  t.expect(!is_there("/tmp/" + name), "what is written to /tmp lands in the host's");
}

void mounts(Try& t) {
  needs_key(t, "mounts");
  needs_key(t, "workspace");
  Folder folder(t.backend.scratch());
  const std::string work = folder.make("work"), more = folder.make("more");
  const std::string rw = work + "/writable", ro = work + "/readable";
  (void)folder.make("work/writable");
  (void)folder.make("work/readable");
  (void)folder.write("more/file", "text\n");
  ::chmod(more.c_str(), 0777);
  json::object profile = base_profile(work);
  const bool can_rw = t.backend.plugin().profile.allows("mounts.access", "rw");
  json::array list({json::object({{"source", more}, {"path", ro}})});
  if (can_rw) list.push_back(json::object({{"source", more}, {"path", rw}, {"access", "rw"}}));
  profile["mounts"] = list;
  Box box(t, profile);
  if (promised(t, box.report(), "mounts:" + ro)) {
    t.equal("a file of the mount", box.sh("cat " + quoted(ro + "/file")).out, "text\n");
    t.expect(!can_write(box, ro), "a mount without access can be written");
  }
  if (can_rw && promised(t, box.report(), "mounts:" + rw)) {
    t.expect(can_write(box, rw), "a mount with rw cannot be written");
    t.equal("what was written, in its source", read_file(more + "/written-inside"), "x\n");
  }
}

}  // namespace

void add_places(Suite& s) {
  s.add("places.workspace", "the workspace is the host's folder, both ways", workspace);
  s.add("places.workspace_path", "it is seen where the profile says", workspace_path);
  s.add("places.workspace_ro", "a read-only workspace cannot be changed in any way", workspace_ro);
  s.add("places.elsewhere", "beside the workspace nothing of the host's can be written", elsewhere);
  s.add("places.root_view", "the host's files are shown and cannot be written", root_view);
  s.add("places.home", "HOME is writable and kept", home);
  s.add("places.tmp", "/tmp is the profile's folder, not the host's", tmp);
  s.add("places.tmp_apart", "each sandbox has a /tmp of its own", tmp_of_its_own);
  s.add("places.mounts", "mounts are where and how the profile says", mounts);
}

}  // namespace bulkhead::sdk::contract
