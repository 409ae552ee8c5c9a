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

/* Frames inlined into one another; HotSpot's own limit is 15 by default. */
enum { SCOPES_MAX = 128 };

SIGNAL_SAFE_INLINE uint64_t blob_key(uint32_t entry, const struct jvm_blob *blob)
{
    return code_key_add(code_key_add(code_key_begin(entry), blob->address), blob->method);
}

/* A compiled code's number is not used again, and its methods stay as long as it does: they are not read. */
SIGNAL_SAFE_INLINE uint32_t code_of_scope(struct runtime_scan *scan, uint32_t entry,
                                          const struct jvm_frame *frame,
                                          const struct jvm_scope *scope)
{
    uint64_t key = code_key_add(blob_key(entry, &frame->blob),
                                (uint64_t)frame->blob.compile_id << 32 | scope->method);
    uint64_t address = frame->blob.method;
    struct jvm_method method;
    uint32_t id;

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

/* pc: a return address, or where the leaf stands. */
SIGNAL_SAFE_INLINE bool find_scope(const struct jvm_frame *frame, uint64_t pc,
                                   struct jvm_scope *out)
{
    const struct jvm_blob *blob = &frame->blob;
    struct jvm_scope next;
    bool exact, found;

    if (blob->kind != JVM_BLOB_COMPILED)
        return false;
    if (frame->native->context && (int64_t)(pc - blob->code) < (int64_t)blob->frame_complete) {
        *out = (struct jvm_scope){ 0 };
        return true;
    }
    found = jvm_code_scope(frame->memory, frame->runtime, blob, pc, out, &exact);
    /* What stands there may be what called; and it is what follows that runs. */
    if (frame->native->context && exact && jvm_step_called(frame) &&
        jvm_code_scope(frame->memory, frame->runtime, blob, pc + 1, &next, &exact))
        *out = next;
    return found;
}

/* What stands at a return address is remembered, method by method: its code, and where that stands with a
 * mark of the outermost one. So most callers are told by their blob alone. */
struct known_place {
    struct code_cache *cache; /* NULL: nothing is */
    uint64_t key;
};

enum { KNOWN_CODE = 1, KNOWN_POSITION };

SIGNAL_SAFE_INLINE uint64_t place_key(const struct known_place *place, uint32_t scope,
                                      uint32_t what)
{
    return code_key_add(place->key, (uint64_t)scope << 8 | what);
}

/* False: it is not known, or not all of it any more; then none of it is put. */
SIGNAL_SAFE_INLINE bool put_known(struct runtime_scan *scan, const struct known_place *place)
{
    uint32_t before = scan->put;

    for (uint32_t i = 0; place->cache && i < SCOPES_MAX; i++) {
        uint32_t code = code_cache_find(place->cache, place_key(place, i, KNOWN_CODE));
        uint32_t where = code_cache_find(place->cache, place_key(place, i, KNOWN_POSITION));

        if (!code || !where)
            break;
        runtime_put(scan, code, (where >> 2) - 1);
        if (where & 1)
            return true;
    }
    scan->put = before;
    return false;
}

SIGNAL_SAFE_INLINE void remember(const struct known_place *place, uint32_t scope, uint32_t code,
                                 uint32_t bci, bool outermost)
{
    if (!place->cache || bci > UINT16_MAX)
        return;
    code_cache_put(place->cache, place_key(place, scope, KNOWN_CODE), code);
    code_cache_put(place->cache, place_key(place, scope, KNOWN_POSITION),
                   (bci + 1) << 2 | 2 | outermost);
}

SIGNAL_SAFE_INLINE void put_scopes(struct runtime_scan *scan, uint32_t entry,
                                   const struct jvm_frame *frame, uint64_t pc,
                                   const struct known_place *place)
{
    struct jvm_scope scope;

    if (!find_scope(frame, pc, &scope))
        scope = (struct jvm_scope){ .bci = FEED_NO_POSITION };
    for (uint32_t i = 0; i < SCOPES_MAX; i++) {
        uint32_t code = code_of_scope(scan, entry, frame, &scope), bci = scope.bci;
        bool outermost;

        if (!code)
            break;
        runtime_put(scan, code, bci);
        outermost = !jvm_scope_next(frame->memory, frame->runtime, &frame->blob, &scope);
        remember(place, i, code, bci, outermost);
        if (outermost)
            break;
    }
}

SIGNAL_SAFE_INLINE void put_compiled(struct runtime_scan *scan, uint32_t entry,
                                     const struct jvm_frame *frame)
{
    const struct jvm_blob *blob = &frame->blob;
    struct known_place place = { 0 };
    uint64_t pc = frame->native->pc;

    if (!frame->native->context) {
        pc++;
        if (blob->kind == JVM_BLOB_COMPILED)
            jvm_code_deopt(frame->memory, frame->runtime, blob, frame->native->sp, &pc);
        place = (struct known_place){
            scan->cache, code_key_add(code_key_add(blob_key(entry, blob), blob->compile_id), pc)
        };
    }
    if (!put_known(scan, &place))
        put_scopes(scan, entry, frame, pc, &place);
}

/* show: its frames are put. Its caller is kept in any case. */
SIGNAL_SAFE_INLINE void look(struct runtime_scan *scan, uint32_t entry,
                             const struct runtime_native *native, bool show)
{
    struct jvm_frame frame = { .memory = &scan->memory,
                               .runtime = &scan->writer->runtimes[entry],
                               .native = native };
    struct jvm_caller caller = { 0 };
    struct jvm_method method;
    uint32_t code = 0, position = 0;
    bool known = false;

    if (!jvm_code_find(frame.memory, frame.runtime, native->pc, &frame.blob)) {
        keep_caller(&scan->cursors[entry], native, &caller, false);
        return;
    }
    if (frame.blob.kind == JVM_BLOB_COMPILED || frame.blob.kind == JVM_BLOB_NATIVE) {
        known = jvm_step_compiled(&frame, &caller);
        if (show)
            put_compiled(scan, entry, &frame);
    } else if (frame.blob.kind == JVM_BLOB_INTERPRETER &&
               jvm_step_interpreted(&frame, &method, &position, &caller)) {
        known = true;
        code = show ? jvm_method_code(scan, entry, &method) : 0;
    } else {
        known = frame.blob.kind == JVM_BLOB_STUB && jvm_step_stub(&frame, &caller);
        position = 0;
        code = show ? jvm_stub_code(scan, entry, frame.blob.name) : 0;
    }
    if (code)
        runtime_put(scan, code, position);
    keep_caller(&scan->cursors[entry], native, &caller, known);
}

uint32_t jvm_frames(struct runtime_scan *scan, uint32_t entry, const struct runtime_native *native)
{
    uint32_t before = scan->put;

    look(scan, entry, native, true);
    return scan->put - before;
}

bool jvm_step(struct runtime_scan *scan, uint32_t entry, struct runtime_native *native)
{
    const uint64_t *words = scan->cursors[entry].words;
    struct runtime_native asked = *native;

    if (!native->context)
        asked.pc--;
    /* Else its frames were asked for just now. */
    if (words[CURSOR_PC] != asked.pc || words[CURSOR_SP] != asked.sp)
        look(scan, entry, &asked, false);
    /* A caller lies further out: so a walk ends. */
    if (!words[CURSOR_KNOWN] || words[CURSOR_CALLER_SP] <= asked.sp)
        return false;
    native->pc = words[CURSOR_CALLER_PC];
    native->sp = words[CURSOR_CALLER_SP];
    native->fp = words[CURSOR_CALLER_FP];
    native->fp_known = true;
    native->context = NULL;
    return true;
}
