# What `cmake --install` puts where, and `cmake --build --target uninstall` takes away.
#
# Components: library (what programs load), development (what they are built with), command, and
# client (the Python commands, and what node runs). README.md beside this file says which file goes where.

include(CMakePackageConfigHelpers)

set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/isoscope)
set(made ${PROJECT_BINARY_DIR}/install)

# ---- the library ----
install(TARGETS isoscope EXPORT isoscope
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
        NAMELINK_COMPONENT development
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS isoscope_itt isoscope_nvtx isoscope_alloc isoscope_lock LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)

# ---- for programs that use it ----
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sampler/include/isoscope
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

# As pkg-config wants the three: from its file, so that the install may be moved; but the compiler's
# own folders by their names, which pkg-config then leaves out.
function(pc_folders)
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  foreach(folder IN ITEMS pc_prefix pc_libdir pc_includedir)
    if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
      file(RELATIVE_PATH way ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${${folder}})
      string(REGEX REPLACE "/$" "" ${folder} "\${pcfiledir}/${way}")
    endif()
    set(${folder} ${${folder}} PARENT_SCOPE)
  endforeach()
endfunction()

pc_folders()
configure_file(${CMAKE_CURRENT_LIST_DIR}/isoscope.pc.in ${made}/isoscope.pc @ONLY)
install(FILES ${made}/isoscope.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/isoscopeConfig.cmake.in
                              ${made}/isoscopeConfig.cmake INSTALL_DESTINATION ${cmake_folder})
write_basic_package_version_file(${made}/isoscopeConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${made}/isoscopeConfig.cmake ${made}/isoscopeConfigVersion.cmake
        DESTINATION ${cmake_folder} COMPONENT development)
install(EXPORT isoscope NAMESPACE isoscope:: FILE isoscopeTargets.cmake DESTINATION ${cmake_folder}
        COMPONENT development)

# ---- the command ----
if(ISOSCOPE_SERVICE)
  # Debian's zsh looks into another folder for what packages bring than for what people install.
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
    set(zsh_folder zsh/vendor-completions)
  else()
    set(zsh_folder zsh/site-functions)
  endif()
  set(completions ${CMAKE_CURRENT_LIST_DIR}/completions)

  install(TARGETS isoscope_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  install(FILES ${PROJECT_SOURCE_DIR}/server/isoscope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
          COMPONENT command)
  # systemd looks for these in the prefix's lib, whatever the libraries' folder is called.
  foreach(kind socket service)
    configure_file(${PROJECT_SOURCE_DIR}/server/host/units/isoscope.${kind}.in
                   ${made}/system/isoscope.${kind} @ONLY)
    configure_file(${PROJECT_SOURCE_DIR}/server/host/units/isoscope.user.${kind}.in
                   ${made}/user/isoscope.${kind} @ONLY)
  endforeach()
  install(DIRECTORY ${made}/system ${made}/user DESTINATION lib/systemd COMPONENT command)
  install(FILES ${completions}/isoscope
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT client)
  install(FILES ${completions}/_isoscope
          DESTINATION ${CMAKE_INSTALL_DATADIR}/${zsh_folder} COMPONENT client)
  install(FILES ${completions}/isoscope.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT client)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/clients/python/src/isoscope
          DESTINATION ${CMAKE_INSTALL_DATADIR}/isoscope/python COMPONENT client
          FILES_MATCHING PATTERN "*.py" PATTERN "py.typed"
                         PATTERN "__pycache__" EXCLUDE)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/clients/editor/generated/
          DESTINATION ${CMAKE_INSTALL_DATADIR}/isoscope/editor COMPONENT client FILES_MATCHING PATTERN "*.mjs")
endif()

if(NOT TARGET uninstall) # a project that holds this one has its own
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -D BUILD=${PROJECT_BINARY_DIR}
                    -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake VERBATIM)
endif()
