"""200 calls at once: each is answered, with what was asked for or with RESOURCE_EXHAUSTED and the next
step; afterwards the host is as before."""
import json
import threading

import expect
from ways import Cli, Fault, Library, Mcp

COUNT = 200


def cases(place):
    yield "load, 200 calls: library", lambda: library(place)
    yield "load, 200 calls: mcp", lambda: mcp(place)
    yield "load, 20 processes at once: cli", lambda: cli(place)


def order(number):
    return {"language": "bash", "code": f"echo number-{number}; sleep 0.05"}


def count(answers):
    """answers: [(number, text or Fault)]"""
    worked = 0
    for number, answer in answers:
        if isinstance(answer, Fault):
            if answer.code != "RESOURCE_EXHAUSTED" or not answer.remedy:
                raise AssertionError(f"call {number}: {answer} {answer.details}")
            continue
        if f"number-{number}" not in answer:
            raise AssertionError(f"call {number} got {answer[:300]}")
        worked += 1
    if worked < len(answers) // 2:
        raise AssertionError(f"only {worked} of {len(answers)} worked")


def library(place):
    way = Library(place)
    answers = way.many([{"operation": "tool.call", "args": json.dumps(
        {"name": "sandbox_execute", "arguments": order(i)})} for i in range(COUNT)])
    expect.equal("how many answers there are", len(answers), COUNT)
    told = []
    for number, answer in enumerate(answers):
        fault = answer.get("fault")
        told.append((number, Fault("library", fault["code"], fault["message"], fault["details"])
                     if fault else json.dumps(answer)))
    count(told)


def mcp(place):
    with Mcp(place) as client:
        for number in range(COUNT):
            client.send({"jsonrpc": "2.0", "id": f"c{number}", "method": "tools/call", "params": {
                "name": "sandbox_execute", "arguments": order(number)}})
        told, seen = [], set()
        while len(seen) < COUNT:
            message = client.receive()
            name = message.get("id")
            if not isinstance(name, str) or "method" in message:
                continue
            if name in seen:
                raise AssertionError(f"{name} was answered twice")
            seen.add(name)
            try:
                told.append((int(name[1:]), json.dumps(client.result(message))))
            except Fault as fault:
                told.append((int(name[1:]), fault))
        count(told)
        client.request("ping", {})
        expect.equal("the exit code at the end", client.close(), 0)


def cli(place):
    told, lock = [], threading.Lock()

    def one(number):
        try:
            answer = json.dumps(Cli(place).call("sandbox_execute", order(number)))
        except Fault as fault:
            answer = fault
        with lock:
            told.append((number, answer))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect.equal("how many answers there are", len(told), 20)
    count(told)
