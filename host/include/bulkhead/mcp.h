/* bulkhead/mcp.h - the MCP server that `bulkhead mcp` is, for embedders that have tools of their
 * own: the library bulkhead_mcp, beside libbulkhead and over bulkhead/host.h alone. */
#ifndef BH_MCP_H
#define BH_MCP_H

#include <bulkhead/host.h>

BH_BEGIN_DECLS

/* Serves one MCP client, a message a line, until it closes its end, reads no more, or `stop` is
 * readable (-1: none); then cancels what runs and waits for it, 10 s at most. The fds stay the
 * caller's. Where they are 0 and 1 these are replaced for the time after: 0 is empty, 1 goes
 * where 2 goes, so that nothing comes between the messages.
 * session: as for bh_session_new. f: set where the session is refused; the codes beside that say
 * all there is: BH_INVALID_ARGUMENT (rt or an fd), BH_RESOURCE_EXHAUSTED (no file descriptor is
 * left), BH_DEADLINE_EXCEEDED (something did not end in time and was left behind), BH_INTERNAL.
 * Several clients may be served at once. [any]
 * [blocking] */
BH_API bh_status bh_mcp_serve(bh_runtime *rt, const char *session, size_t session_len, bh_fd in,
                              bh_fd out, bh_fd stop, bh_fault **f) BH_NOEXCEPT;

BH_END_DECLS
#endif /* BH_MCP_H */
