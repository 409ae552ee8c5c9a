// The numbers of the fields in pprof's profile.proto.
export const PROFILE = {
  sampleType: 1,
  sample: 2,
  mapping: 3,
  location: 4,
  function: 5,
  string: 6,
  duration_ns: 10,
  periodType: 11,
  period: 12,
  defaultType: 14,
};
export const VALUE_TYPE = { type: 1, unit: 2 };
export const SAMPLE = { location: 1, value: 2, label: 3 };
export const LABEL = { key: 1, text: 2, number: 3 };
export const MAPPING = { id: 1, file: 5, has: [7, 8, 9, 10] }; // functions, files, lines, inlined frames
export const LOCATION = { id: 1, mapping: 2, address: 3, line: 4 };
export const LINE = { function: 1, line: 2 };
export const FUNCTION = { id: 1, name: 2, systemName: 3, file: 4, line: 5 };
