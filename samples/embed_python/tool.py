import bulkhead

with bulkhead.Runtime() as runtime:
    session = runtime.session("default")

    @session.tool
    def area(width: float, height: float) -> float:
        "The area of a rectangle."
        return width * height

    bulkhead.mcp.serve(session)  # on stdin and stdout, until the client is gone
