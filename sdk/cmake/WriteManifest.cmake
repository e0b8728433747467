# Writes plugin.json beside a plugin's library: the template with platform, file name, version
# and hash filled in.
file(SHA256 "${LIBRARY}" sha256)
get_filename_component(folder "${LIBRARY}" DIRECTORY)
get_filename_component(file "${LIBRARY}" NAME)
configure_file("${TEMPLATE}" "${folder}/plugin.json.tmp" @ONLY)
# Written for the final hash, so a reader sees the old manifest or the new one.
file(RENAME "${folder}/plugin.json.tmp" "${folder}/plugin.json")
file(CHMOD "${LIBRARY}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                    WORLD_READ WORLD_EXECUTE)
file(CHMOD "${folder}/plugin.json" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
