#include "jvm.h"

#include "jvm_step.h"

/* In a cursor: the caller of the frame that was looked at last, which step is asked for next. */
enum { CURSOR_PC, CURSOR_SP, CURSOR_CALLER_PC, CURSOR_CALLER_SP, CURSOR_CALLER_FP, CURSOR_KNOWN };

SIGNAL_SAFE_INLINE void keep_caller(struct runtime_cursor *cursor,
                                    const struct runtime_native *native,
                                    const struct jvm_caller *caller, bool known)
{
    cursor->words[CURSOR_PC] = native->pc;
    cursor->words[CURSOR_SP] = native->sp;
    cursor->words[CURSOR_CALLER_PC] = caller->pc;
    cursor->words[CURSOR_CALLER_SP] = caller->sp;
    cursor->words[CURSOR_CALLER_FP] = caller->fp;
    cursor->words[CURSOR_KNOWN] = known;
}

/* A compiled code's number is not used again, and its methods stay as long as it does: they are not read. */
SIGNAL_SAFE_INLINE uint32_t code_of_scope(struct runtime_scan *scan, uint32_t entry,
                                          const struct jvm_frame *frame,
                                          const struct jvm_scope *scope)
{
    uint64_t key = code_key_begin(entry), address = frame->blob.method;
    struct jvm_method method;
    uint32_t id;

    key = code_key_add(key, frame->blob.address);
    key = code_key_add(key, (uint64_t)frame->blob.compile_id << 32 | scope->method);
    key = code_key_add(key, frame->blob.method);
    id = scan->cache ? code_cache_find(scan->cache, key) : 0;
    if (id)
        return id;
    if (scope->method &&
        !jvm_scope_method(frame->memory, frame->runtime, &frame->blob, scope, &address))
        return 0;
    if (!jvm_method_read(frame->memory, frame->runtime, address, &method))
        return 0;
    id = jvm_method_code(scan, entry, &method);
    if (scan->cache)
        code_cache_put(scan->cache, key, id);
    return id;
}

/* Frames inlined into one another; HotSpot's own limit is 15 by default. */
enum { SCOPES_MAX = 128 };

SIGNAL_SAFE_INLINE void put_compiled(struct runtime_scan *scan, uint32_t entry,
                                     const struct jvm_frame *frame)
{
    const struct runtime_native *native = frame->native;
    const struct jvm_blob *blob = &frame->blob;
    struct jvm_scope scope = { .bci = FEED_NO_POSITION };
    uint64_t pc = native->context ? native->pc : native->pc + 1;
    bool exact;

    if (blob->kind == JVM_BLOB_COMPILED) {
        if (!native->context)
            jvm_code_deopt(frame->memory, frame->runtime, blob, native->sp, &pc);
        if (native->context &&
            (int64_t)(native->pc - blob->code) < (int64_t)blob->frame_complete) {
            scope.bci = 0;
        } else if (!jvm_code_scope(frame->memory, frame->runtime, blob, pc, &scope, &exact)) {
            scope = (struct jvm_scope){ .bci = FEED_NO_POSITION };
        }
    }
    for (uint32_t i = 0; i < SCOPES_MAX; i++) {
        uint32_t code = code_of_scope(scan, entry, frame, &scope);

        if (!code)
            break;
        runtime_put(scan, code, scope.bci);
        if (!jvm_scope_next(frame->memory, frame->runtime, blob, &scope))
            break;
    }
}

uint32_t jvm_frames(struct runtime_scan *scan, uint32_t entry, const struct runtime_native *native)
{
    struct runtime_cursor *cursor = &scan->cursors[entry];
    struct jvm_frame frame = { .memory = &scan->memory,
                               .runtime = &scan->writer->runtimes[entry],
                               .native = native };
    struct jvm_caller caller = { 0 };
    uint32_t before = scan->put, code, bci;
    struct jvm_method method;
    bool known = false;

    if (!jvm_code_find(frame.memory, frame.runtime, native->pc, &frame.blob)) {
        keep_caller(cursor, native, &caller, false);
        return 0;
    }
    if (frame.blob.kind == JVM_BLOB_COMPILED || frame.blob.kind == JVM_BLOB_NATIVE) {
        put_compiled(scan, entry, &frame);
        known = jvm_step_compiled(&frame, &caller);
    } else if (frame.blob.kind == JVM_BLOB_INTERPRETER &&
               jvm_step_interpreted(&frame, &method, &bci, &caller)) {
        code = jvm_method_code(scan, entry, &method);
        if (code)
            runtime_put(scan, code, bci);
        known = true;
    } else {
        code = jvm_stub_code(scan, entry, frame.blob.name);
        if (code)
            runtime_put(scan, code, 0);
        known = frame.blob.kind == JVM_BLOB_STUB && jvm_step_stub(&frame, &caller);
    }
    keep_caller(cursor, native, &caller, known);
    return scan->put - before;
}

bool jvm_step(struct runtime_scan *scan, uint32_t entry, struct runtime_native *native)
{
    struct runtime_cursor *cursor = &scan->cursors[entry];
    uint64_t sp = native->sp;

    /* Where another walker has put the frames. */
    if (cursor->words[CURSOR_PC] != native->pc || cursor->words[CURSOR_SP] != native->sp) {
        uint32_t put = scan->put, room = scan->room;

        scan->room = 0;
        jvm_frames(scan, entry, native);
        scan->put = put;
        scan->room = room;
    }
    /* A caller lies further out: so a walk ends. */
    if (!cursor->words[CURSOR_KNOWN] || cursor->words[CURSOR_CALLER_SP] <= sp)
        return false;
    native->pc = cursor->words[CURSOR_CALLER_PC];
    native->sp = cursor->words[CURSOR_CALLER_SP];
    native->fp = cursor->words[CURSOR_CALLER_FP];
    native->fp_known = true;
    native->context = NULL;
    return true;
}
