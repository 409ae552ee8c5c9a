#include "jvm_step.h"

#include "jvm_arch.h"

/* Of an interpreted frame, in words from its frame pointer. */
enum {
    SLOT_RETURN = 1,
    SLOT_SENDER_SP = -1,
    SLOT_METHOD = -3,
    /* Monitors, and what calls of the runtime push. */
    INTERPRETED_MORE_WORDS = 160,
};

SIGNAL_SAFE_INLINE bool slot(const struct jvm_frame *frame, uint64_t fp, int64_t words,
                             uint64_t *out)
{
    return guarded_word(frame->memory, fp + (uint64_t)(words * 8), out);
}

SIGNAL_SAFE_INLINE bool in_method(const struct jvm_method *method, uint64_t bcp)
{
    return bcp >= method->bytecode && bcp < method->bytecode_end;
}

/* What is at fp is a whole frame of the interpreter whose top is at sp. */
SIGNAL_SAFE_INLINE bool is_interpreted(const struct jvm_frame *frame, uint64_t sp, uint64_t fp,
                                       struct jvm_method *method, struct jvm_caller *caller)
{
    uint64_t fixed = (frame->runtime->words[JVM_BCP_SLOT] + 1) * 8, address;

    return fp % 8 == 0 && sp + fixed <= fp && slot(frame, fp, SLOT_METHOD, &address) &&
           jvm_method_read(frame->memory, frame->runtime, address, method) &&
           fp - sp <= (method->max_stack + INTERPRETED_MORE_WORDS) * UINT64_C(8) &&
           slot(frame, fp, SLOT_RETURN, &caller->pc) &&
           slot(frame, fp, SLOT_SENDER_SP, &caller->sp) && slot(frame, fp, 0, &caller->fp) &&
           caller->sp > fp && caller->sp % 8 == 0;
}

SIGNAL_SAFE_INLINE bool follows_call(const struct jvm_frame *frame, uint64_t pc)
{
    uint8_t bytes[JVM_CALL_BYTES];

    return guarded_read(frame->memory, bytes, pc - sizeof bytes, sizeof bytes) &&
           jvm_arch_is_call(bytes);
}

/* Can a call of Java have come from there? strict: none that debug info does not know. */
SIGNAL_SAFE_INLINE bool is_caller(const struct jvm_frame *frame, const struct jvm_caller *caller,
                                  bool strict)
{
    struct jvm_method method;
    struct jvm_caller next;
    struct jvm_scope scope;
    struct jvm_blob blob;
    uint64_t pc = caller->pc;
    bool exact;

    if (pc == frame->runtime->words[JVM_CALL_STUB_RETURN])
        return true;
    if (!jvm_code_find(frame->memory, frame->runtime, pc - 1, &blob))
        return false;
    if (blob.kind == JVM_BLOB_INTERPRETER)
        return is_interpreted(frame, caller->sp, caller->fp, &method, &next);
    if (blob.kind == JVM_BLOB_COMPILED) {
        if (jvm_code_deopt(frame->memory, frame->runtime, &blob, caller->sp, &pc))
            return true;
        jvm_code_scope(frame->memory, frame->runtime, &blob, pc, &scope, &exact);
        if (exact)
            return true;
    }
    return !strict && (blob.kind != JVM_BLOB_STUB || blob.frame_bytes) && follows_call(frame, pc);
}

/* Stubs are called by native code, too. */
SIGNAL_SAFE_INLINE bool is_native_caller(const struct jvm_frame *frame,
                                         const struct jvm_caller *caller)
{
    for (uint32_t i = 0; i < frame->runtime->range_count && i < FEED_RUNTIME_RANGES_MAX; i++)
        if (caller->pc >= frame->runtime->ranges[i].start &&
            caller->pc <= frame->runtime->ranges[i].end)
            return false;
    return follows_call(frame, caller->pc);
}

SIGNAL_SAFE_INLINE bool is_caller_of_stub(const struct jvm_frame *frame,
                                          const struct jvm_caller *caller)
{
    return is_caller(frame, caller, false) || is_native_caller(frame, caller);
}

/* The return address lies behind `saved` words, of which the first is the frame pointer. */
SIGNAL_SAFE_INLINE bool caller_behind(const struct jvm_frame *frame, uint32_t saved,
                                      struct jvm_caller *caller)
{
    const struct runtime_native *native = frame->native;

    if (!JVM_RETURN_ON_STACK) {
        *caller =
            (struct jvm_caller){ arch_register(native->context, ARCH_RA), native->sp, native->fp };
        return true;
    }
    caller->sp = native->sp + (saved + 1) * UINT64_C(8);
    caller->fp = native->fp;
    return guarded_word(frame->memory, caller->sp - 8, &caller->pc) &&
           (!saved || guarded_word(frame->memory, native->sp, &caller->fp));
}

SIGNAL_SAFE_INLINE bool caller_by_size(const struct jvm_frame *frame, struct jvm_caller *caller)
{
    uint64_t bytes = frame->blob.frame_bytes;

    caller->sp = frame->native->sp + bytes;
    return bytes && guarded_word(frame->memory, caller->sp - 8, &caller->pc) &&
           guarded_word(frame->memory, caller->sp - 16, &caller->fp);
}

SIGNAL_SAFE_INLINE bool caller_by_pointer(const struct jvm_frame *frame, struct jvm_caller *caller)
{
    const struct runtime_native *native = frame->native;

    caller->sp = native->fp + 16;
    return native->fp_known && native->fp % 8 == 0 && native->fp >= native->sp &&
           guarded_word(frame->memory, native->fp + 8, &caller->pc) &&
           guarded_word(frame->memory, native->fp, &caller->fp);
}

/* In the interpreter's entries the return address is taken off the stack, which is then made longer. */
SIGNAL_SAFE_INLINE bool caller_in_registers(const struct jvm_frame *frame,
                                            struct jvm_caller *caller)
{
    const ucontext_t *context = frame->native->context;

    *caller = (struct jvm_caller){ arch_register(context, JVM_RETURN),
                                   arch_register(context, JVM_SENDER_SP), frame->native->fp };
    return caller->sp >= frame->native->sp && caller->sp % 8 == 0;
}

/* A frame that is being made: its frame pointer stands, and perhaps the caller's stack pointer below. */
SIGNAL_SAFE_INLINE bool caller_of_new(const struct jvm_frame *frame, struct jvm_caller *caller)
{
    const struct runtime_native *native = frame->native;

    if (native->fp - native->sp >= frame->runtime->words[JVM_BCP_SLOT] * 8 ||
        !caller_by_pointer(frame, caller))
        return false;
    caller->sp = arch_register(native->context, JVM_SENDER_SP);
    if (native->fp > native->sp && !slot(frame, native->fp, SLOT_SENDER_SP, &caller->sp))
        return false;
    return caller->sp > native->fp && caller->sp % 8 == 0;
}

bool jvm_step_interpreted(const struct jvm_frame *frame, struct jvm_method *method, uint32_t *bci,
                          struct jvm_caller *caller)
{
    const struct runtime_native *native = frame->native;
    const ucontext_t *context = native->context;
    uint64_t bcp;

    *bci = FEED_NO_POSITION;
    if (native->fp_known && is_interpreted(frame, native->sp, native->fp, method, caller)) {
        if (context && in_method(method, arch_register(context, JVM_BCP)))
            *bci = (uint32_t)(arch_register(context, JVM_BCP) - method->bytecode);
        else if (slot(frame, native->fp, -(int64_t)frame->runtime->words[JVM_BCP_SLOT], &bcp) &&
                 in_method(method, bcp))
            *bci = (uint32_t)(bcp - method->bytecode);
        return true;
    }
    if (!context ||
        !jvm_method_read(frame->memory, frame->runtime, arch_register(context, JVM_METHOD), method))
        return false;
    *bci = method->bytecode_end > method->bytecode ? 0 : FEED_NO_POSITION;
    return (caller_of_new(frame, caller) && is_caller(frame, caller, true)) ||
           (caller_in_registers(frame, caller) && is_caller(frame, caller, true)) ||
           (caller_behind(frame, 0, caller) && is_caller(frame, caller, true));
}

SIGNAL_SAFE_INLINE bool in_epilogue(const struct jvm_frame *frame, uint32_t *saved)
{
    uint8_t bytes[JVM_EPILOGUE_BYTES] = { 0 };
    uint64_t left = frame->blob.end - frame->native->pc;

    return guarded_read(frame->memory, bytes, frame->native->pc,
                        left < sizeof bytes ? left : sizeof bytes) &&
           jvm_arch_epilogue(bytes, saved);
}

bool jvm_step_compiled(const struct jvm_frame *frame, struct jvm_caller *caller)
{
    const struct runtime_native *native = frame->native;
    const struct jvm_blob *blob = &frame->blob;
    bool complete =
        blob->frame_complete >= 0 && native->pc >= blob->code + (uint32_t)blob->frame_complete;
    uint32_t saved;

    if (!native->context)
        return caller_by_size(frame, caller);
    if (in_epilogue(frame, &saved))
        return caller_behind(frame, saved, caller);
    if (complete && caller_by_size(frame, caller) && is_caller(frame, caller, false))
        return true;
    /* In the prologue, or in what lies behind the method and is come to from its end. */
    return (caller_behind(frame, 0, caller) && is_caller(frame, caller, true)) ||
           (!complete && caller_behind(frame, 1, caller) && is_caller(frame, caller, true)) ||
           (!complete && caller_by_size(frame, caller) && is_caller(frame, caller, true));
}

bool jvm_step_stub(const struct jvm_frame *frame, struct jvm_caller *caller)
{
    const struct runtime_native *native = frame->native;
    const struct jvm_blob *blob = &frame->blob;

    if (!native->context) {
        /* Native code called it, and goes on behind it. */
        if (native->pc + 1 == frame->runtime->words[JVM_CALL_STUB_RETURN])
            return caller_by_pointer(frame, caller);
        if (blob->frame_bytes)
            return caller_by_size(frame, caller);
        return caller_by_pointer(frame, caller) && is_caller_of_stub(frame, caller);
    }
    if (blob->frame_bytes && blob->frame_complete >= 0 &&
        native->pc >= blob->code + (uint32_t)blob->frame_complete &&
        caller_by_size(frame, caller) && is_caller(frame, caller, false))
        return true;
    return (caller_behind(frame, 0, caller) && is_caller_of_stub(frame, caller)) ||
           (caller_by_pointer(frame, caller) && is_caller_of_stub(frame, caller)) ||
           (caller_in_registers(frame, caller) && is_caller(frame, caller, true)) ||
           (caller_behind(frame, 1, caller) && is_caller_of_stub(frame, caller));
}

bool jvm_step_called(const struct jvm_frame *frame)
{
    return follows_call(frame, frame->native->pc);
}
