# The browser page as C source: clients/web/generated -> page_files.c, which the server compiles in.
#
# No node is needed: what ./dev web makes of clients/web/src stands in the tree, and tests/web compares.

find_program(ISOSCOPE_GZIP gzip)
mark_as_advanced(ISOSCOPE_GZIP)
if(NOT ISOSCOPE_GZIP)
  message(FATAL_ERROR "The browser page is packed by gzip, which is not here.")
endif()
set(web_folder ${PROJECT_SOURCE_DIR}/clients/web)
set(web_script ${PROJECT_SOURCE_DIR}/cmake/page_files.cmake)
set(ISOSCOPE_PAGE_FILES ${PROJECT_BINARY_DIR}/server/page_files.c)
add_custom_command(
  OUTPUT ${ISOSCOPE_PAGE_FILES}
  COMMAND ${CMAKE_COMMAND} -D GZIP=${ISOSCOPE_GZIP} -D FOLDER=${web_folder} -D OUT=${ISOSCOPE_PAGE_FILES}
          -P ${web_script}
  DEPENDS ${web_script} ${web_folder}/index.html ${web_folder}/generated/app.css ${web_folder}/generated/app.js
          ${web_folder}/generated/chunk.js ${web_folder}/generated/later.js
          ${web_folder}/generated/one_page.html
  COMMENT "The browser page"
  VERBATIM)
