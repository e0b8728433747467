"""`bulkhead mcp` beside a server of the TypeScript SDK, each under the same native client."""
import json
import os
import statistics
import subprocess

ROUNDS = 5
STARTS = 9
CALLS = 100_000
CALLS_ALONE = 10_000


class Server:
    def __init__(self, argv, env, folder, load):
        self.argv, self.env, self.folder, self.load = argv, env, folder, load
        self.seen = {}

    def measure(self, *what):
        """One run of the client; it ends the measuring where an answer is wrong."""
        done = subprocess.run([self.load, *map(str, what), *self.argv], cwd=self.folder,
                              env=self.env, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise SystemExit(f"bench: {' '.join(self.argv)} failed under bench_load {what[0]}")
        prefix = "_".join(map(str, what))
        for key, value in json.loads(done.stdout).items():
            self.seen.setdefault(f"{prefix}.{key}", []).append(value)

    def median(self, key):
        return statistics.median(self.seen[key])


def ours(build, place):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("BH_", "XDG_"))}
    folder = os.path.join(place, "mcp")
    os.makedirs(folder)
    env.update(HOME=os.path.join(place, "mcp_home"),
               BH_PLUGIN_PATH=os.path.join(build, "samples/plugins"))
    return [os.path.join(build, "bin/bulkhead"), "mcp"], env, folder


def compare(build, place, node, script):
    load = os.path.join(build, "tests/bench/bench_load")
    argv, env, folder = ours(build, place)
    both = {"ours": Server(argv, env, folder, load),
            "typescript": Server([node, script], env, folder, load)}
    plan = [(STARTS, "start"), (ROUNDS, "idle"), (ROUNDS, "calls", CALLS, 32),
            (ROUNDS, "calls", CALLS_ALONE, 1)]
    for server in both.values():
        server.measure("start")
        server.seen.clear()  # it found the disk cold
    for rounds, *what in plan:
        for _ in range(rounds):
            for server in both.values():
                server.measure(*what)
    names = {"calls_32_per_second": f"calls_{CALLS}_32.calls_per_second",
             "call_alone_us": f"calls_{CALLS_ALONE}_1.us_each", "idle_pss_kib": "idle.pss_kib",
             "start_initialize_ms": "start.initialize_ms", "start_call_ms": "start.call_ms"}
    told = {who: {name: round(server.median(key), 2) for name, key in names.items()}
            for who, server in both.items()}
    for name in names:
        told[f"{name}_per_typescript"] = round(told["ours"][name] / told["typescript"][name], 4)
    return told
