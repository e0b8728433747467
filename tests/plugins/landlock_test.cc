// The backend `landlock`: what a profile becomes where nothing can be mounted, and that its report
// says so.
#include <sys/stat.h>
#include <unistd.h>

#include "landlock_setting.h"

using namespace bh_test;

namespace {

std::string place(const std::string& source, const std::string& more = "") {
  return R"({"source":)" + quote(source) + more + "}";
}

}  // namespace

TEST_CASE("landlock: the report has a line for every key that was given and every guarantee") {
  BH_NEEDS_LANDLOCK;
  Folder folder;
  const std::string work = folder.make("work");
  Backend backend("landlock");
  const std::string profile =
      R"({"workspace":)" + place(work) + R"(,"root":{"view":"host"},"network":{"mode":"off"},
      "persona":"a","home":)" + place(folder.make("home")) + R"(,"tmp":)" +
      place(folder.make("tmp")) + R"(,"files":[{"path":"/usr/share","access":"hide"}],
      "mounts":[{"source":"/usr/bin","path":"/usr/bin"},{"source":"/usr/bin","path":"/mnt/x"}],
      "limits":{"cpu":1,"memory_bytes":1000000000,"pids":100,"disk_bytes":1000000000,
        "wall_ms":60000,"output_bytes":1000000,"open_files":256},
      "env":{"allow":["LANG"],"set":{"A":"b"}},"user":{"uid":1234,"gid":1234,"name":"someone"},
      "hide":["/opt"]})";
  const std::string report = backend.plan(profile);
  INFO(backend.message);
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"root.view", "partial"},
      {"workspace", "enforced"},
      {"home", "enforced"},
      {"tmp", "partial"},
      {"network.mode", "enforced"},
      {"files:/usr/share", "partial"},
      {"mounts:/usr/bin", "enforced"},
      {"mounts:/mnt/x", "partial"},
      {"limits.disk_bytes", "partial"},
      {"limits.wall_ms", "enforced"},
      {"limits.output_bytes", "enforced"},
      {"limits.open_files", "enforced"},
      {"env.allow", "enforced"},
      {"env.set", "enforced"},
      {"user.uid", "unsupported"},
      {"user.gid", "unsupported"},
      {"user.name", "unsupported"},
      {"persona", "partial"},
      {"isolation.pid", "enforced"},
      {"isolation.end", "enforced"},
      {"isolation.capabilities", "enforced"},
      {"isolation.seccomp", "enforced"},
      {"isolation.ipc", "enforced"},
      {"isolation.abstract_sockets", "enforced"},
      {"isolation.local_sockets", "enforced"},
      {"isolation.file_settings", "enforced"},
      {"isolation.kernel_uid", ::geteuid() == 0 ? "partial" : "enforced"},
      {"isolation.hides", "partial"},
      {"isolation.own_program", "enforced"},
      {"isolation.nested_users", "enforced"}};
  for (const auto& [rule, status] : lines) {
    CAPTURE(rule);
    CHECK(rule_status(report, rule) == status);
  }
  for (const std::string rule : {"limits.cpu", "limits.memory_bytes", "limits.pids"}) {
    CHECK_FALSE(rule_status(report, rule).empty());
  }
  CHECK(backend.list().empty());
  REQUIRE(backend.create("s1", profile) == BH_OK);
  CHECK(backend.report == report);
  CHECK(backend.sh("s1", "ulimit -n; ls /usr/share || echo denied; ls /usr/bin/env").out ==
        "256\ndenied\n/usr/bin/env\n");
  CHECK(backend.destroy("s1") == BH_OK);
}

TEST_CASE("landlock: what cannot be is refused by name") {
  BH_NEEDS_LANDLOCK;
  Folder folder;
  const std::string work = folder.make("work");
  ::symlink("/etc", (work + "/link").c_str());
  Backend backend("landlock");
  struct Case {
    std::string profile;
    bh_status code;
    std::string word;
  };
  const std::vector<Case> cases = {
      {R"({"network":{"mode":"limited"}})", BH_FAILED_PRECONDITION, "network.mode"},
      {R"({"network":{"mode":"allowed_hosts","allow":["a.example"]}})", BH_FAILED_PRECONDITION,
       "network.mode"},
      {R"({"root":{"image":"x"}})", BH_FAILED_PRECONDITION, "root.image"},
      {R"({"hide":["/opt"],"required":["isolation.hides"]})", BH_FAILED_PRECONDITION,
       "isolation.hides"},
      {R"({"required":["tmp"]})", BH_FAILED_PRECONDITION, "tmp"},
      {R"({"workspace":{"source":"/etc"}})", BH_PERMISSION_DENIED, "workspace"},
      {R"({"workspace":{"source":"/no/such/folder"}})", BH_FAILED_PRECONDITION, "workspace"},
      {R"({"mounts":[{"source":"/usr","path":"/x","access":"rw"}]})", BH_PERMISSION_DENIED,
       "mounts:/usr"},
      {R"({"workspace":)" + place(work) + R"(,"files":[{"path":)" + quote(work + "/link") +
           R"(,"access":"hide"}]})",
       BH_FAILED_PRECONDITION, "/link"}};
  for (const Case& one : cases) {
    CAPTURE(one.profile);
    CHECK(backend.create("s1", one.profile) == one.code);
    INFO(backend.message);
    CHECK(backend.details.find(one.word) != std::string::npos);
    CHECK(backend.destroy("s1") == BH_OK);
  }
  CHECK(backend.create("s1", R"({"required":["network.mode","isolation.file_settings"]})") ==
        BH_OK);
  CHECK(backend.destroy("s1") == BH_OK);
}

TEST_CASE("landlock: workspace, home and tmp are written through, at their own paths") {
  BH_NEEDS_LANDLOCK;
  Folder folder;
  const std::string work = folder.make("work"), home = folder.make("home");
  const std::string tmp = folder.make("tmp");
  Backend backend("landlock");
  REQUIRE(backend.create("s1", R"({"workspace":)" + place(work, R"(,"path":"/workspace")") +
                                   R"(,"home":)" + place(home, R"(,"path":"/home/agent")") +
                                   R"(,"tmp":)" + place(tmp) + "}") == BH_OK);
  CHECK(rule_status(backend.report, "workspace") == "partial");
  CHECK(rule_status(backend.report, "home") == "partial");
  const Ran ran = backend.sh(
      "s1",
      "pwd; echo $HOME; echo $TMPDIR; echo w > in_work; echo h > ~/in_home; "
      "echo t > $TMPDIR/in_tmp; mv in_work ~/moved; "
      "for f in / /etc /usr /home /var /opt /tmp /var/tmp /dev/shm; do "
      "touch $f/bulkhead-x 2>/dev/null && echo $f; done");
  CHECK(ran.out == work + "\n" + home + "\n" + tmp + "\n");
  CHECK(ran.err.empty());
  CHECK(read(home + "/moved") == "w\n");
  CHECK(read(tmp + "/in_tmp") == "t\n");
  // What every program may do where everything is open: the attempts above can succeed.
  Setting open("process");
  CHECK(open.backend.sh("s1", "touch /tmp/bulkhead-x && rm /tmp/bulkhead-x && echo done").out ==
        "done\n");
  CHECK(backend.destroy("s1") == BH_OK);
  CHECK(exists(home + "/in_home"));
}

TEST_CASE("landlock: the most specific rule about a path wins, and what it costs is told") {
  BH_NEEDS_LANDLOCK;
  Folder folder;
  const std::string work = folder.make("work");
  folder.write("work/ro/rw/hidden/seen", "1");
  folder.write("work/ro/file", "2");
  folder.write("work/secret/open/file", "3");
  folder.write("work/secret/closed", "5");
  folder.write("work/key", "4");
  folder.write("work/free/file", "6");
  Backend backend("landlock");
  auto rule = [&](const std::string& path, const std::string& access) {
    return R"({"path":)" + quote(work + path) + R"(,"access":")" + access + "\"}";
  };
  REQUIRE(backend.create("s1", R"({"workspace":)" + place(work) + R"(,"files":[)" +
                                   rule("/ro/rw", "rw") + "," + rule("/secret/open", "ro") + "," +
                                   rule("/ro", "ro") + "," + rule("/ro/rw/hidden", "hide") + "," +
                                   rule("/secret", "hide") + "," + rule("/key", "hide") + "]}") ==
          BH_OK);
  CHECK(rule_status(backend.report, "workspace") == "partial");
  CHECK(backend.report.find("nothing new can be made right in " + work + ", " + work + "/ro/rw") !=
        std::string::npos);
  CHECK(rule_status(backend.report, "files:" + work + "/ro") == "enforced");
  CHECK(rule_status(backend.report, "files:" + work + "/ro/rw") == "enforced");
  CHECK(rule_status(backend.report, "files:" + work + "/key") == "partial");
  const Ran ran = backend.sh(
      "s1",
      "t() { touch $1/x 2>/dev/null && echo \"$1 writable\"; }; t .; t ro; t ro/rw; t free; "
      "t secret; t secret/open; cat ro/file secret/open/file; echo; echo 7 >> free/file; "
      "for f in key secret/closed ro/rw/hidden/seen; do cat $f 2>/dev/null || echo no $f; done; "
      "for f in . secret ro/rw ro/rw/hidden; do ls $f >/dev/null 2>&1 || echo no list of $f; done; "
      "mv ro old 2>/dev/null || echo stays; mv key free/key 2>/dev/null || echo stays; "
      "ln key free/key 2>/dev/null || echo stays; rm -r secret 2>/dev/null || echo stays");
  CHECK(ran.out ==
        "free writable\n23\nno key\nno secret/closed\nno ro/rw/hidden/seen\n"
        "no list of .\nno list of secret\nno list of ro/rw\nno list of ro/rw/hidden\n"
        "stays\nstays\nstays\nstays\n");
  CHECK(read(work + "/free/file") == "67\n");
  CHECK(backend.destroy("s1") == BH_OK);
}

TEST_CASE("landlock: a read-only workspace, and a git folder whose hooks are kept") {
  BH_NEEDS_LANDLOCK;
  Folder folder;
  const std::string work = folder.make("work");
  folder.write("work/.git/hooks/pre-commit", "old");
  folder.make("work/src");
  Backend backend("landlock");
  REQUIRE(backend.create("s1", R"({"workspace":)" + place(work) + R"(,"files":[{"path":)" +
                                   quote(work + "/.git/hooks") + R"(,"access":"ro"}]})") == BH_OK);
  CHECK(backend.sh("s1", "mv .git .git2; echo evil > .git/hooks/pre-commit; echo x > src/f; ls")
            .out == "src\n");
  CHECK(read(work + "/.git/hooks/pre-commit") == "old");
  CHECK(read(work + "/src/f") == "x\n");
  CHECK(backend.destroy("s1") == BH_OK);

  REQUIRE(backend.create("s2", R"({"workspace":)" + place(work, R"(,"access":"ro")") + "}") ==
          BH_OK);
  CHECK(backend.sh("s2", "cat src/f; touch src/g || rm src/f || echo kept").out == "x\nkept\n");
  CHECK(backend.destroy("s2") == BH_OK);
}

TEST_CASE("landlock: ordinary work is not in the way") {
  BH_NEEDS_LANDLOCK;
  Setting s("landlock");
  struct Program {
    std::string name, script;
  };
  const std::vector<Program> programs = {
      {"sh", "for i in 1 2 3; do (echo $i | cat); done > list; wc -l < list > n; "
             "sort -r list -o list"},
      {"tar", "mkdir -p a/b; echo x > a/b/f; chmod 640 a/b/f; touch -d 2001-02-03 a/b/f; "
              "tar -czf a.tgz a; mkdir out; tar -xpzf a.tgz -C out; cmp a/b/f out/a/b/f; "
              "test \"$(stat -c '%a %Y' a/b/f)\" = \"$(stat -c '%a %Y' out/a/b/f)\""},
      {"cp", "cp -a a copy; install -m 700 a/b/f tool; mv copy moved; rm -r moved"},
      {"git", "git init -q r; cd r; git config user.email a@b; git config user.name a; echo x > f;"
              "git add f; git commit -qm x; git checkout -qb y; git gc -q; "
              "test $(git log | wc -l) -gt 3"},
      {"gcc", "printf 'int main(void){return 0;}' > m.c; gcc -o m m.c; ./m"},
      {"python3", "python3 -c 'import subprocess,tempfile,os,asyncio,threading\n"
                  "subprocess.run([\"true\"],check=True)\n"
                  "t=tempfile.NamedTemporaryFile()\n"
                  "os.chmod(t.name,0o640); os.utime(t.name,(1,1))\n"
                  "asyncio.run(asyncio.create_subprocess_exec(\"true\"))\n"
                  "x=threading.Thread(target=print); x.start(); x.join()'"},
      {"node", "node -e \"const fs=require('fs');fs.writeFileSync('n.js','process.send(1)');"
               "fs.watch('.',()=>{}).close();require('child_process').fork('./n.js')"
               ".on('exit',c=>process.exit(c))\""},
  };
  for (const Program& program : programs) {
    if (s.backend.sh("s1", "command -v " + program.name).exit.exit_code != 0) continue;
    CAPTURE(program.name);
    const Ran ran = s.backend.sh("s1", "set -e; " + program.script);
    CAPTURE(ran.err);
    CHECK(ran.exit.exit_code == 0);
  }
  CHECK(s.backend.sh("s1", "cat n").out == "3\n");
}

TEST_CASE("landlock: a sandbox is its maker's") {
  BH_NEEDS_LANDLOCK;
  Backend backend("landlock");
  REQUIRE(backend.create("s1", "{}") == BH_OK);
  CHECK(backend.sh("s1", "pwd; echo kept > ~/f; echo kept > $TMPDIR/f").exit.exit_code == 0);
  CHECK(backend.sh("s1", "cat ~/f $TMPDIR/f").out == "kept\nkept\n");
  backend.release("s1");
  Backend later("landlock", backend.state());
  REQUIRE(later.find("s1") == BH_OK);
  CHECK(later.sh("s1", "cat ~/f").out == "kept\n");
  CHECK(later.destroy("s1") == BH_OK);
  CHECK_FALSE(exists(backend.state() + "/s1"));
}
