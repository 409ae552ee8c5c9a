"""A request, read by the classes that are made of the published schema: what is in it, as JSON."""

import json
import sys
from collections import Counter
from importlib.metadata import version

from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2 import ExportProfilesServiceRequest


def unknown(message) -> int:
    count = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type:
            many = not hasattr(value, "ListFields")
            count += sum(map(unknown, value)) if many else unknown(value)
    return count


def value_of(value):
    return getattr(value, value.WhichOneof("value"))


request = ExportProfilesServiceRequest.FromString(open(sys.argv[1], "rb").read())
tables = request.dictionary
stacks = [[tables.string_table[tables.function_table[line.function_index].name_strindex]
           for place in stack.location_indices for line in tables.location_table[place].lines]
          for stack in tables.stack_table]
(resource_profiles,) = request.resource_profiles
(scope_profiles,) = resource_profiles.scope_profiles
totals = []
for profile in scope_profiles.profiles:
    total: Counter = Counter()
    for sample in profile.samples:
        for name in set(stacks[sample.stack_index]):
            total[name] += sample.values[0]
    totals.append([tables.string_table[profile.sample_type.type_strindex],
                   tables.string_table[profile.sample_type.unit_strindex], total])
json.dump({"unknown": unknown(request), "totals": totals,
           "resource": {one.key: value_of(one.value) for one in resource_profiles.resource.attributes},
           "version": version("opentelemetry-proto")}, sys.stdout)
