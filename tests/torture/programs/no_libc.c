/*
 * no_libc LEFT: becomes itself again LEFT times by system calls of its own. It needs no library, so
 * nobody's wrappers stand between it and the kernel; its dynamic loader is the usual one.
 */
#include <asm/unistd.h>

enum { SPIN = 12000000 }; /* longer than the period of CPU-time timers: it gets no others */

#if defined(__x86_64__)
__asm__(".globl _start\n_start: xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");

static long call3(long number, long a, long b, long c)
{
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
__asm__(".globl _start\n_start: mov x29, #0\n mov x0, sp\n bl begin\n");

static long call3(long number, long a, long b, long c)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;

    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}
#endif

__attribute__((noreturn)) static void end(long status)
{
    for (;;)
        call3(__NR_exit_group, status, 0, 0);
}

static int number_in(const char *text)
{
    int number = 0;

    while (*text >= '0' && *text <= '9')
        number = number * 10 + *text++ - '0';
    return number;
}

static void write_number(char *text, int number)
{
    int digits = 1;

    for (int left = number; left >= 10; left /= 10)
        digits++;
    text[digits] = 0;
    while (digits-- > 0) {
        text[digits] = (char)('0' + number % 10);
        number /= 10;
    }
}

/* stack: as the kernel left it, with the count of words, the words, and the environment. */
__attribute__((noreturn, used)) void begin(long *stack)
{
    long count = stack[0];
    char **words = (char **)(stack + 1), **environment = words + count + 1;
    char left[16], *next[] = { words[0], left, 0 };

    if (count != 2)
        end(2);
    for (volatile int i = 0; i < SPIN; i++)
        ;
    if (number_in(words[1]) == 0)
        end(call3(__NR_write, 1, (long)"fine\n", 5) != 5);
    write_number(left, number_in(words[1]) - 1);
    call3(__NR_execve, (long)"/proc/self/exe", (long)next, (long)environment);
    end(1);
}
