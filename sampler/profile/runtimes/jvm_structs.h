/*
 * jvm_structs.h - what HotSpot tells debuggers of itself: where fields lie, how large types are.
 *
 *   libjvm.so's gHotSpotVMStructs, gHotSpotVMTypes, gHotSpotVMIntConstants -> jvm_structs -> jvm_finder
 *
 * The tables are filled when the library is loaded; texts are read of its file.
 *
 * Units      A static field's value is its address, another's its offset.
 * Threads    One at a time.
 * Errors     jvm_structs_read: false, they are not there (yet).
 * Source     HotSpot's vmStructs.hpp
 */
#ifndef ISOSCOPE_JVM_STRUCTS_H
#define ISOSCOPE_JVM_STRUCTS_H

#include "finder.h"

/* Name here, type, field. Versions have each but some of those that say the same. */
#define JVM_FIELDS(X)                                                                              \
    X(HEAPS, "CodeCache", "_heaps")                                                                \
    X(HEAP, "CodeCache", "_heap")                                                                  \
    X(LIST_LENGTH, "GrowableArrayBase", "_len")                                                    \
    X(LIST_LENGTH_GENERIC, "GenericGrowableArray", "_len")                                         \
    X(LIST_DATA, "GrowableArray<int>", "_data")                                                    \
    X(HEAP_MEMORY, "CodeHeap", "_memory")                                                          \
    X(HEAP_SEGMENTS, "CodeHeap", "_segmap")                                                        \
    X(HEAP_LOG2, "CodeHeap", "_log2_segment_size")                                                 \
    X(SPACE_LOW, "VirtualSpace", "_low_boundary")                                                  \
    X(SPACE_HIGH, "VirtualSpace", "_high_boundary")                                                \
    X(BLOCK_HEADER, "HeapBlock", "_header")                                                        \
    X(BLOCK_USED, "HeapBlock::Header", "_used")                                                    \
    X(BLOB_NAME, "CodeBlob", "_name")                                                              \
    X(BLOB_SIZE, "CodeBlob", "_size")                                                              \
    X(BLOB_FRAME_SIZE, "CodeBlob", "_frame_size")                                                  \
    X(BLOB_FRAME_COMPLETE, "CodeBlob", "_frame_complete_offset")                                   \
    X(BLOB_CODE_BEGIN, "CodeBlob", "_code_begin")                                                  \
    X(BLOB_CODE_OFFSET, "CodeBlob", "_code_offset")                                                \
    X(BLOB_DATA_OFFSET, "CodeBlob", "_data_offset")                                                \
    X(BLOB_MUTABLE, "CodeBlob", "_mutable_data")                                                   \
    X(BLOB_RELOCATION_SIZE, "CodeBlob", "_relocation_size")                                        \
    X(NMETHOD_METHOD, "nmethod", "_method")                                                        \
    X(COMPILED_METHOD, "CompiledMethod", "_method")                                                \
    X(COMPILE_ID, "nmethod", "_compile_id")                                                        \
    X(ORIG_PC, "nmethod", "_orig_pc_offset")                                                       \
    X(DEOPT_8, "nmethod", "_deoptimize_offset")                                                    \
    X(DEOPT_MH_8, "nmethod", "_deoptimize_mh_offset")                                              \
    X(DEOPT_BEGIN, "CompiledMethod", "_deopt_handler_begin")                                       \
    X(DEOPT_MH_BEGIN, "CompiledMethod", "_deopt_mh_handler_begin")                                 \
    X(DEOPT_OFFSET, "nmethod", "_deopt_handler_offset")                                            \
    X(DEOPT_MH_OFFSET, "nmethod", "_deopt_mh_handler_offset")                                      \
    X(SCOPES_BEGIN, "CompiledMethod", "_scopes_data_begin")                                        \
    X(SCOPES_OFFSET, "nmethod", "_scopes_data_offset")                                             \
    X(PCS_OFFSET, "nmethod", "_scopes_pcs_offset")                                                 \
    X(DEPENDENCIES_OFFSET, "nmethod", "_dependencies_offset")                                      \
    X(METADATA_OFFSET, "nmethod", "_metadata_offset")                                              \
    X(IMMUTABLE, "nmethod", "_immutable_data")                                                     \
    X(INTERPRETER, "AbstractInterpreter", "_code")                                                 \
    X(QUEUE_BUFFER, "StubQueue", "_stub_buffer")                                                   \
    X(QUEUE_LIMIT, "StubQueue", "_buffer_limit")                                                   \
    X(CALL_STUB_RETURN, "StubRoutines", "_call_stub_return_address")                               \
    X(METHOD_CONST, "Method", "_constMethod")                                                      \
    X(CONST_POOL, "ConstMethod", "_constants")                                                     \
    X(CONST_SIZE, "ConstMethod", "_constMethod_size")                                              \
    X(CONST_FLAGS, "ConstMethod", "_flags")                                                        \
    X(CONST_FLAGS_21, "ConstMethod", "_flags._flags")                                              \
    X(CONST_CODE_SIZE, "ConstMethod", "_code_size")                                                \
    X(CONST_NAME, "ConstMethod", "_name_index")                                                    \
    X(CONST_MAX_STACK, "ConstMethod", "_max_stack")                                                \
    X(POOL_LENGTH, "ConstantPool", "_length")                                                      \
    X(POOL_HOLDER, "ConstantPool", "_pool_holder")                                                 \
    X(POOL_SOURCE_FILE, "ConstantPool", "_source_file_name_index")                                 \
    X(KLASS_SOURCE_FILE, "InstanceKlass", "_source_file_name_index")                               \
    X(KLASS_NAME, "Klass", "_name")                                                                \
    X(SYMBOL_LENGTH, "Symbol", "_length")                                                          \
    X(SYMBOL_BODY, "Symbol", "_body")                                                              \
    X(SYMBOL_BODY_0, "Symbol", "_body[0]")                                                         \
    X(VERSION_MAJOR, "Abstract_VM_Version", "_vm_major_version")

#define JVM_SIZES(X)                                                                               \
    X(BLOCK, "HeapBlock")                                                                          \
    X(BLOB, "CodeBlob")                                                                            \
    X(CONST_METHOD, "ConstMethod")                                                                 \
    X(POOL, "ConstantPool")                                                                        \
    X(PC_DESC, "PcDesc")

#define JVM_CONSTANTS(X)                                                                           \
    X(HAS_LINES, "ConstMethod::_has_linenumber_table")                                             \
    X(HAS_LINES_21, "ConstMethodFlags::_misc_has_linenumber_table")                                \
    X(SENDER_SP, "frame::interpreter_frame_sender_sp_offset")

#define JVM_ENUM_FIELD(name, ...)    JVM_FIELD_##name,
#define JVM_ENUM_SIZE(name, ...)     JVM_SIZE_##name,
#define JVM_ENUM_CONSTANT(name, ...) JVM_CONSTANT_##name,
enum jvm_field { JVM_FIELDS(JVM_ENUM_FIELD) JVM_FIELD_COUNT };
enum jvm_size { JVM_SIZES(JVM_ENUM_SIZE) JVM_SIZE_COUNT };
enum jvm_constant { JVM_CONSTANTS(JVM_ENUM_CONSTANT) JVM_CONSTANT_COUNT };

struct jvm_structs {
    struct jvm_value {
        bool there;
        uint64_t value;
    } fields[JVM_FIELD_COUNT], sizes[JVM_SIZE_COUNT], constants[JVM_CONSTANT_COUNT];
};

bool jvm_structs_read(const struct runtime_module *module, struct jvm_structs *out);

#endif
