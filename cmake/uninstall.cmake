# Takes away what the last installs from this build folder have put down; $DESTDIR as for them.
#
# cmake -D BUILD=folder -P uninstall.cmake

file(GLOB manifests "${BUILD}/install_manifest*.txt")
if(NOT manifests)
  message(FATAL_ERROR "Nothing was installed from ${BUILD}: it has no install_manifest.txt.")
endif()

# The folder and those around it, while they are empty and within one called isoscope: all others
# are everybody's.
function(remove_own_folders folder)
  while(folder MATCHES "/isoscope(/|$)")
    file(GLOB left "${folder}/*" "${folder}/.*")
    if(left)
      return()
    endif()
    file(REMOVE_RECURSE "${folder}")
    get_filename_component(folder "${folder}" DIRECTORY)
  endwhile()
endfunction()

# What Python has made of a module that ran.
function(remove_compiled module folder)
  get_filename_component(name "${module}" NAME_WE)
  file(GLOB compiled "${folder}/__pycache__/${name}.*.pyc")
  if(compiled)
    file(REMOVE ${compiled})
    remove_own_folders("${folder}/__pycache__")
  endif()
endfunction()

function(remove_installed file)
  get_filename_component(folder "${file}" DIRECTORY)
  if(file MATCHES "\\.py$")
    remove_compiled("${file}" "${folder}")
  endif()
  if(EXISTS "${file}" OR IS_SYMLINK "${file}")
    message(STATUS "Removing: ${file}")
    file(REMOVE "${file}")
    if(EXISTS "${file}" OR IS_SYMLINK "${file}")
      message(FATAL_ERROR "${file} is still there: uninstall as the user who installed it.")
    endif()
  endif()
  if(IS_DIRECTORY "${folder}")
    remove_own_folders("${folder}")
  endif()
endfunction()

foreach(manifest IN LISTS manifests)
  file(STRINGS "${manifest}" files)
  foreach(file IN LISTS files)
    remove_installed("$ENV{DESTDIR}${file}")
  endforeach()
  file(REMOVE "${manifest}")
endforeach()
