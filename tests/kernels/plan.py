"""What runs on which machine. A machine under emulation is ten to twenty times as slow as this one, so a
short run takes what kernels differ in: groups and limits, Landlock, namespaces, the overlay."""
from machine import Item

# Kernel, and whether overlay and nf_tables are there. The short run has the first two.
MACHINES = (("6.1", False), ("6.12", True), ("6.1", True), ("6.12", False))
SHORT_MACHINES = 2
BASIC = ("virtio_pci", "virtio_blk", "ext4")
OPTIONAL = ("overlay", "nf_tables", "nft_ct", "nft_nat")

SHORT_SECONDS = 280  # for a machine, its start included
ALL_SECONDS = 5400

BACKENDS = ("ns", "bwrap", "landlock", "process")
# Rows of the escape table, in groups so that each group's results are sent as it ends.
ROWS = {"F": "F*", "P": "P*", "N": "N*", "A": "A*"}
SHORT_ROWS = ("A1 *", "A11 *", "A19 *", "F16 *", "F17 *", "F21 *", "N14 *", "P1 *", "P26 *")
# Of plugins_test: what depends on the kernel's groups, on Landlock's version and on the overlay.
IMAGES = ("image: *",)
SHORT_IMAGES = ("image: package*", "image: an ordinary*")
SHORT_PARTS = ("memory and process limits*", "a paused sandbox*", "what each version*", "a domain*",
               "ns: no command has*", "ns: on a host whose mounts*")
# 1 GiB through pipes and a time of its own are no matter of kernels.
PARTS = ("~walls: 1 GiB*",)
SHORT_CHECKS = ("limits.*", "isolation.*")
SHORT_BACKENDS = ("ns",)


def _catch(build, name, starter, program, patterns, limit):
    spec = ",".join(patterns)
    command = (f"BH_ESCAPE_RECORD=$OUT/record exec {build}/tests/{program} -r xml -o $OUT/xml -d yes "
               f"'{spec}'")
    return Item(f"{name}_{starter}", starter, command, limit)


def items_of(build, contract, full, every_machine):
    """For one machine. `full`: all of it, of which the machines beside the first two take what the
    modules matter to."""
    found = []
    for starter in ("root", "user"):
        images = IMAGES if full else SHORT_IMAGES
        found.append(_catch(build, "images", starter, "plugins_test", images, 300 if full else 60))
        if not every_machine:
            continue
        if full:
            for group, pattern in ROWS.items():
                found.append(_catch(build, f"rows_{group}", starter, "escape_test", [pattern], 1500))
            found.append(_catch(build, "parts", starter, "plugins_test", PARTS, 1500))
        else:
            found.append(_catch(build, "rows", starter, "escape_test", SHORT_ROWS, 240))
            found.append(_catch(build, "parts", starter, "plugins_test", SHORT_PARTS, 120))
        for backend in BACKENDS if full else SHORT_BACKENDS:
            only = "" if full else "".join(f" --only '{check}'" for check in SHORT_CHECKS)
            command = (f"exec {contract}/bulkhead-contract --scratch {build}/tests/scratch{only} "
                       f"{build}/plugins/isolation_{backend} {backend}")
            found.append(Item(f"contract_{backend}_{starter}", starter, command, 900))
    return found
