# The browser page as C source: clients/web -> web/page_files.c, which the server compiles in.
#
# ISOSCOPE_WEB_SOURCE is that file; it is not set where the page is not built.

find_program(ISOSCOPE_NODE node)
find_program(ISOSCOPE_NPM npm)
mark_as_advanced(ISOSCOPE_NODE ISOSCOPE_NPM)

set(web_missing "")
if(NOT ISOSCOPE_NODE OR NOT ISOSCOPE_NPM)
  set(web_missing "node and npm are not both there")
else()
  execute_process(COMMAND ${ISOSCOPE_NODE} --version OUTPUT_VARIABLE web_node
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REGEX REPLACE "^v" "" web_node "${web_node}")
  if(web_node VERSION_LESS 18)
    set(web_missing "node is ${web_node}, and 18 is needed")
  endif()
endif()

if(ISOSCOPE_WEB STREQUAL "AUTO" AND web_missing)
  message(STATUS "The browser page is left out: ${web_missing}. ./dev setup installs them.")
elseif(ISOSCOPE_WEB AND web_missing)
  message(FATAL_ERROR "-DISOSCOPE_WEB=ON: ${web_missing}. ./dev setup installs them; OFF builds without.")
elseif(ISOSCOPE_WEB) # AUTO is as true as ON
  set(web_folder ${PROJECT_SOURCE_DIR}/clients/web)
  set(web_out ${PROJECT_BINARY_DIR}/web)
  set(ISOSCOPE_WEB_SOURCE ${web_out}/page_files.c)
  file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${web_folder}/src/*)
  add_custom_command(
    OUTPUT ${ISOSCOPE_WEB_SOURCE}
    COMMAND ${ISOSCOPE_NODE} install.mjs ${ISOSCOPE_NPM}
    COMMAND ${ISOSCOPE_NODE} build.mjs ${web_out}
    DEPENDS ${web_sources} ${web_folder}/index.html ${web_folder}/build.mjs ${web_folder}/install.mjs
            ${web_folder}/package.json ${web_folder}/package-lock.json
            ${PROJECT_SOURCE_DIR}/schemas/generated/protocol.ts
    WORKING_DIRECTORY ${web_folder}
    COMMENT "The browser page"
    VERBATIM)
endif()
