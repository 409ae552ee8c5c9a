#include "table_fields.h"

#include "otlp_fields.h"
#include "pprof_fields.h"

const struct table_fields pprof_table_fields = {
    .mapping = PROFILE_MAPPING,
    .location = PROFILE_LOCATION,
    .function = PROFILE_FUNCTION,
    .mapping_id = MAPPING_ID,
    .mapping_start = MAPPING_MEMORY_START,
    .mapping_limit = MAPPING_MEMORY_LIMIT,
    .mapping_offset = MAPPING_FILE_OFFSET,
    .mapping_filename = MAPPING_FILENAME,
    .mapping_build_id = MAPPING_BUILD_ID,
    .mapping_has_first = MAPPING_HAS_FUNCTIONS,
    .mapping_has_last = MAPPING_HAS_INLINE_FRAMES,
    .location_id = LOCATION_ID,
    .location_mapping = LOCATION_MAPPING_ID,
    .location_address = LOCATION_ADDRESS,
    .location_line = LOCATION_LINE,
    .function_id = FUNCTION_ID,
    .function_name = FUNCTION_NAME,
    .function_system_name = FUNCTION_SYSTEM_NAME,
    .function_filename = FUNCTION_FILENAME,
    .function_line = FUNCTION_START_LINE,
};

const struct table_fields otlp_table_fields = {
    .mapping = OTLP_DICTIONARY_MAPPING_TABLE,
    .location = OTLP_DICTIONARY_LOCATION_TABLE,
    .function = OTLP_DICTIONARY_FUNCTION_TABLE,
    .mapping_start = OTLP_MAPPING_MEMORY_START,
    .mapping_limit = OTLP_MAPPING_MEMORY_LIMIT,
    .mapping_offset = OTLP_MAPPING_FILE_OFFSET,
    .mapping_filename = OTLP_MAPPING_FILENAME,
    .mapping_attributes = OTLP_MAPPING_ATTRIBUTE_INDICES,
    .location_mapping = OTLP_LOCATION_MAPPING_INDEX,
    .location_address = OTLP_LOCATION_ADDRESS,
    .location_line = OTLP_LOCATION_LINES,
    .location_attributes = OTLP_LOCATION_ATTRIBUTE_INDICES,
    .function_name = OTLP_FUNCTION_NAME,
    .function_system_name = OTLP_FUNCTION_SYSTEM_NAME,
    .function_filename = OTLP_FUNCTION_FILENAME,
    .function_line = OTLP_FUNCTION_START_LINE,
};
