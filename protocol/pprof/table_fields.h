/*
 * table_fields.h - where pprof's tables and those of an OTLP dictionary differ: in the numbers of
 * their fields, and in what OTLP says by attributes. 0: there is no such field.
 */
#ifndef ISOSCOPE_TABLE_FIELDS_H
#define ISOSCOPE_TABLE_FIELDS_H

#include <stdint.h>

struct table_fields {
    uint32_t mapping, location, function; /* of what they are the tables of */
    uint32_t mapping_id, mapping_start, mapping_limit, mapping_offset, mapping_filename;
    uint32_t mapping_build_id, mapping_has_first, mapping_has_last, mapping_attributes;
    uint32_t location_id, location_mapping, location_address, location_line, location_attributes;
    uint32_t function_id, function_name, function_system_name, function_filename, function_line;
};

extern const struct table_fields pprof_table_fields, otlp_table_fields;

#endif
