#!/usr/bin/env python3
"""The contract suite knows the profile's keys that abi/schemas/isolation_profile.json lists, no others.

    keys.py SOURCE_FOLDER
"""
import json
import re
import sys


def main():
    root = sys.argv[1]
    with open(root + "/abi/schemas/isolation_profile.json", encoding="utf-8") as file:
        listed = set(json.load(file)["properties"])
    with open(root + "/sdk/contract/parts/description.cc", encoding="utf-8") as file:
        text = re.search(r"kKeys\[\] = \{(.*?)\};", file.read(), re.DOTALL).group(1)
    known = set(re.findall(r'"([a-z_]+)"', text))
    for name, more in (("the suite does not know", listed - known),
                       ("no profile has", known - listed)):
        if more:
            print(f"{name}: {', '.join(sorted(more))}")
    same = listed == known and len(known) > 10
    print(f"{int(same)} passed, {int(not same)} failed")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
