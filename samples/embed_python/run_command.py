import os

import bulkhead

with bulkhead.Runtime() as runtime:
    session = runtime.session("default")
    with session.sandbox.create(workspace=os.getcwd()) as box:
        done = box.exec(["id"])
        print(done.exit, done.stdout.text)

        with box.start(["sh", "-c", "for i in 1 2 3; do echo $i; sleep 0.1; done"]) as run:
            for event in run:  # as it happens
                if isinstance(event, bulkhead.Output):
                    print(event.data)
