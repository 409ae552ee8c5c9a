/*
 * runtimes.h - whose code ends stacks, and what helps.
 *
 *   paths of a process's modules -> runtime_of -> process
 *     -> counters ("runtime_java": 1) -> clients' words
 *
 * Of those whose code cannot be walked as they start by default. What their option does was tried,
 * but for .NET's, which is as its manual says.
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_RUNTIMES_H
#define ISOSCOPE_RUNTIMES_H

#include <stdint.h>

/* Found by what is in the file instead: go_frames.h. No name begins so. */
#define RUNTIME_ANY_NAME "/"

/* Word on the wire, how a module's file name begins, what to do. */
#define RUNTIMES(X)                                                                                \
    X(JAVA, "java", "libjvm.so",                                                                   \
      "Java: -XX:+PreserveFramePointer, and a perf map early on (jcmd PID Compiler.perfmap)")      \
    X(ERLANG, "erlang", "beam.", "Erlang: erl +JPperf true (isoscope run --runtime-options auto)") \
    X(LUAJIT, "luajit", "luajit", "LuaJIT: luajit -joff")                                          \
    X(MONO, "mono", "mono", "Mono: mono --jitmap")                                                 \
    X(GUILE, "guile", "libguile-", "Guile: GUILE_JIT_THRESHOLD=-1 in its environment")             \
    X(DOTNET, "dotnet", "libcoreclr.so",                                                           \
      ".NET: DOTNET_PerfMapEnabled=1 in its environment (isoscope run --runtime-options auto)")    \
    X(GO, "go", RUNTIME_ANY_NAME, "Go: go build without -ldflags=-s and -w")

#define RUNTIME_ENUM(name, ...) RUNTIME_##name,
enum runtime { RUNTIMES(RUNTIME_ENUM) RUNTIME_COUNT };
#undef RUNTIME_ENUM

/* A set of them: bit n is runtime n. 0: none. */
uint32_t runtime_of(const char *module_path);
/* The same, of a set of feed_runtime_kind: those whose frames are shown, which need no advice. */
uint32_t runtimes_of_kinds(uint32_t kinds);

#endif
