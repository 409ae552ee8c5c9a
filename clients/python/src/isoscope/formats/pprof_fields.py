"""The numbers of the fields in pprof's profile.proto."""

from __future__ import annotations


class PROFILE:
    sample_type, sample, mapping, location, function, string_table = 1, 2, 3, 4, 5, 6
    duration_nanos, period_type, period, default_sample_type = 10, 11, 12, 14


class VALUE_TYPE:
    type, unit = 1, 2


class SAMPLE:
    location_id, value, label = 1, 2, 3


class LABEL:
    key, str, num = 1, 2, 3


class MAPPING:
    id, memory_start, memory_limit, file_offset, filename, build_id = 1, 2, 3, 4, 5, 6
    has = (7, 8, 9, 10)  # functions, filenames, line numbers, inlined frames


class LOCATION:
    id, mapping_id, address, line = 1, 2, 3, 4


class LINE:
    function_id, line = 1, 2


class FUNCTION:
    id, name, system_name, filename, start_line = 1, 2, 3, 4, 5
