"""The part of the session with sandboxes that last, and with two personas beside each other."""
import os
import time


def created(screen, client):
    """OpenSandbox's own tools: a sandbox made, worked in, and ended by name."""
    screen.step("OpenSandbox's tools: a sandbox that is made, used and ended by its id")
    answer = client.call("sandbox_create", {"image": "host", "timeout_seconds": 300,
                                            "metadata": {"task": "quickstart"}})
    sandbox = answer.structured.get("sandbox_id", "")
    state = (answer.structured.get("info") or {}).get("status", {}).get("state", "?")
    screen.say(f"{sandbox or answer.text}, {state}")
    if not screen.check("sandbox_create made one", bool(sandbox), answer.text):
        return
    client.call("file_write", {"sandbox_id": sandbox, "path": "/tmp/numbers.txt",
                               "content": "3\n1\n2\n", "mode": 644})
    answer = client.call("command_run", {"sandbox_id": sandbox, "command": "sort /tmp/numbers.txt"})
    lines = [line["text"].strip() for line in answer.structured.get("logs", {}).get("stdout", [])]
    screen.check(f"command_run sorted what file_write wrote: {' '.join(lines)}",
                 lines == ["1", "2", "3"], answer.text)

    answer = client.call("command_run", {
        "sandbox_id": sandbox, "background": True,
        "command": "sleep 0.3; echo done later > /tmp/later.txt; sleep 600"})
    job = answer.structured.get("id")
    screen.check("a command goes on in the background", bool(job) and not answer.failed, answer.text)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        answer = client.call("file_read", {"sandbox_id": sandbox, "path": "/tmp/later.txt"})
        if not answer.failed:
            break
        time.sleep(0.1)
    screen.check("what it wrote is there while it still runs",
                 answer.structured.get("content") == "done later\n", answer.text)
    answer = client.call("command_interrupt", {"sandbox_id": sandbox, "execution_id": job})
    screen.check("command_interrupt ended it", not answer.failed, answer.text)
    answer = client.call("sandbox_kill", {"sandbox_id": sandbox})
    screen.check("sandbox_kill ended the sandbox", not answer.failed, answer.text)
    answer = client.call("sandbox_get_info", {"sandbox_id": sandbox})
    screen.check("and it is gone", answer.failed and "no sandbox" in answer.text, answer.text)


def two_personas(stage, screen):
    """Alice keeps a file; Bob, another persona of the same host, tries to read it."""
    screen.step("Two personas: Alice keeps a diary, Bob tries to read it")
    alice, bob = stage.start("alice"), stage.start("bob")
    secret = f"what Alice wrote {stage.mark}"
    alice.call("sandbox_files", {"operation": "write", "path": "/home/agent/diary.txt",
                                 "content": secret})
    answer = alice.call("sandbox_execute", {"language": "bash", "code": "cat ~/diary.txt"})
    screen.check("Alice finds her diary in her HOME", secret in answer.text, answer.text)
    path = stage.found("diary.txt")
    with open(path, encoding="utf-8") as diary:
        screen.check(f"outside it can be read: {os.path.relpath(path)}", secret in diary.read())

    answer = bob.call("sandbox_execute", {"language": "bash", "code": "ls ~/diary.txt"})
    screen.check("Bob's HOME is another one", answer.structured.get("exit_code") != 0, answer.text)
    screen.quote(f"cat {path}", "$")
    answer = bob.call("sandbox_execute", {"language": "bash", "code": f"cat {path}"})
    screen.quote(answer.text, "|", 4)
    denied = [denial.get("rule") for denial in answer.structured.get("denials", [])]
    screen.check("Bob's read fails, and nothing of it came out",
                 secret not in answer.text and answer.structured.get("exit_code") != 0, answer.text)
    screen.check("the answer says why: it names the rule that hides the path",
                 "isolation.hides" in denied, str(denied))

    answer = alice.call("sandbox_create", {"image": "host"})
    sandbox = answer.structured.get("sandbox_id", "")
    answer = bob.call("command_run", {"sandbox_id": sandbox, "command": "id",
                                      "connect_if_missing": True})
    screen.quote(answer.text, "|", 2)
    screen.check("Alice's sandbox is not there for Bob: as if its id had never been",
                 answer.failed and "no sandbox" in answer.text, answer.text)
    answer = bob.call("sandbox_list", {})
    screen.check("and Bob's list does not name it", bool(sandbox) and sandbox not in answer.text,
                 answer.text)
    alice.call("sandbox_kill", {"sandbox_id": sandbox})
    screen.check("both servers ended with exit code 0", (alice.close(), bob.close()) == (0, 0))
