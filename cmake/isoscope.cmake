# What every target of isoscope shares.

if(ISOSCOPE_SERVICE OR ISOSCOPE_TESTS) # the library alone needs libc only
  find_package(PkgConfig REQUIRED)
endif()
find_package(Threads REQUIRED)

# For ./dev package: the command then runs where a distribution has other versions of these libraries.
if(ISOSCOPE_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
endif()

add_library(isoscope_flags INTERFACE)
target_compile_definitions(isoscope_flags INTERFACE _GNU_SOURCE ISOSCOPE_VERSION="${PROJECT_VERSION}")
target_compile_options(isoscope_flags INTERFACE -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes)
if(ISOSCOPE_WERROR)
  target_compile_options(isoscope_flags INTERFACE -Werror)
endif()

# For everything but what is preloaded into other people's programs.
add_library(isoscope_checked INTERFACE)
target_link_libraries(isoscope_checked INTERFACE isoscope_flags)
if(ISOSCOPE_SANITIZE)
  target_compile_options(isoscope_checked INTERFACE -fsanitize=${ISOSCOPE_SANITIZE}
                                                    -fno-omit-frame-pointer)
  target_link_options(isoscope_checked INTERFACE -fsanitize=${ISOSCOPE_SANITIZE})
endif()

# isoscope_test_timeout(name seconds): without a sanitizer, which takes several times as long.
function(isoscope_test_timeout name seconds)
  if(ISOSCOPE_SANITIZE)
    math(EXPR seconds "5 * ${seconds}")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${seconds})
endfunction()

# isoscope_unit_test(ring_test SOURCES a.c LIBS x y): one cmocka program, one CTest entry.
function(isoscope_unit_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE isoscope_checked ${TEST_LIBS} cmocka)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  isoscope_test_timeout(${name} 120)
endfunction()
