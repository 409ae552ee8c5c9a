# Writes OUT: the page's files of FOLDER (clients/web) as C, each as gzip, for server/http/page.h.
#
#   cmake -D GZIP=gzip -D FOLDER=clients/web -D OUT=page_files.c -P page_files.cmake

set(arrays "")
set(rows "")
foreach(file index.html:text/html generated/app.css:text/css generated/app.js:text/javascript
             generated/chunk.js:text/javascript generated/later.js:text/javascript
             generated/one_page.html:text/html)
  string(REGEX MATCH "^(.*):(.*)$" unused "${file}")
  set(path ${FOLDER}/${CMAKE_MATCH_1})
  set(type ${CMAKE_MATCH_2})
  get_filename_component(name ${path} NAME)
  string(MAKE_C_IDENTIFIER ${name} array)
  # -n: no time in it, the same bytes each time.
  execute_process(COMMAND ${GZIP} -9nc ${path} OUTPUT_FILE ${OUT}.gz RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${path}: gzip ended with ${failed}")
  endif()
  file(READ ${OUT}.gz bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(....................................................................................................)" "\\1\n" bytes "${bytes}")
  file(SHA256 ${path} etag)
  string(SUBSTRING ${etag} 0 16 etag)
  string(APPEND arrays "static const unsigned char ${array}[] = {\n${bytes}\n};\n\n")
  string(APPEND rows "    { \"${name}\", \"${type}; charset=utf-8\", \"\\\"${etag}\\\"\", ${array}, sizeof(${array}) },\n")
endforeach()
file(REMOVE ${OUT}.gz)
file(WRITE ${OUT} "/* Made by cmake/page_files.cmake. */\n#include \"http/page.h\"\n\n${arrays}"
                  "const struct page_file page_files[] = {\n${rows}    { NULL, NULL, NULL, NULL, 0 },\n};\n")
