# The documentation as pages: docs/site/build.py makes build/docs/ and docs_files.c, which the server compiles in.
#
# It is made in the build, not kept in the tree: any change of a guide would change what stands there. It
# needs markdown-it-py (Debian's python3-markdown-it, small and pure Python); a build without it has no
# documentation in it, and says so where one asks for it.

find_program(ISOSCOPE_DOCS_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH) # who has the distribution's modules
find_program(ISOSCOPE_DOCS_PYTHON python3)
mark_as_advanced(ISOSCOPE_DOCS_PYTHON)
set(ISOSCOPE_DOCS_FILES ${PROJECT_BINARY_DIR}/server/docs_files.c)
set(ISOSCOPE_DOCS_FOLDER "") # where the pages are; empty without them
if(ISOSCOPE_DOCS_PYTHON)
  execute_process(COMMAND ${ISOSCOPE_DOCS_PYTHON} -c "import markdown_it" RESULT_VARIABLE without ERROR_QUIET)
else()
  set(without TRUE)
endif()
if(without)
  message(STATUS "No python3-markdown-it: the service is built without its documentation")
  file(WRITE ${ISOSCOPE_DOCS_FILES} "#include \"http/page.h\"\n\n"
       "const struct page_file docs_files[] = { { NULL, NULL, NULL, NULL, 0 } };\n")
else()
  set(ISOSCOPE_DOCS_FOLDER ${PROJECT_BINARY_DIR}/docs)
  set(docs_script ${PROJECT_SOURCE_DIR}/docs/site/build.py)
  # pages.txt names what the pages are made of.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/site/pages.txt)
  file(STRINGS ${PROJECT_SOURCE_DIR}/docs/site/pages.txt rows REGEX "[|]")
  set(docs_sources)
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^[^|]*[|] *([^ |]+) *[|].*$" "\\1" source "${row}")
    list(APPEND docs_sources ${PROJECT_SOURCE_DIR}/${source})
  endforeach()
  add_custom_command(
    OUTPUT ${ISOSCOPE_DOCS_FILES}
    COMMAND ${ISOSCOPE_DOCS_PYTHON} -B ${docs_script} ${ISOSCOPE_DOCS_FOLDER} --c ${ISOSCOPE_DOCS_FILES}
    DEPENDS ${docs_script} ${docs_sources} ${PROJECT_SOURCE_DIR}/docs/site/pages.txt
            ${PROJECT_SOURCE_DIR}/docs/site/page.html ${PROJECT_SOURCE_DIR}/docs/site/site.css
    COMMENT "The documentation"
    VERBATIM)
endif()
