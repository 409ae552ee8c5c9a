"""What is found in a run, and what is not: shares are known, since samples are told one by one."""

import pytest
from explained import APP, Run
from isoscope import Function
from isoscope.explain import chance
from isoscope.explain.facts import of_file
from isoscope.explain.known_calls import FILE, LOCK, MEMORY, READ, REST, call_of
from isoscope.explain.reading import reading_of
from isoscope.explain.report import Report, text
from isoscope.explain.words import plain
from isoscope.model import ALLOC
from late_loops import busy, loop_stats, quiet_loop, stall


def found(facts) -> dict:
    """By kind; the first of each."""
    findings = {}
    for finding in reading_of(facts).findings:
        findings.setdefault(finding.kind, finding)
    return findings


def told(sentences) -> str:
    return "\n".join(map(plain, sentences))


# Names.


@pytest.mark.parametrize(
    "name, call",
    [
        ("pthread_mutex_lock", LOCK), ("___pthread_mutex_lock", LOCK), ("__GI___pthread_mutex_lock", LOCK),
        ("__lll_lock_wait", LOCK), ("pthread_rwlock_wrlock@@GLIBC_2.34", LOCK), ("flock", LOCK),
        ("std::sys::sync::mutex::futex::Mutex::lock_contended", LOCK), ("parking_lot::RawMutex::lock_slow", LOCK),
        ("pthread_cond_wait", REST), ("pthread_cond_timedwait@@GLIBC_2.3.2", REST), ("epoll_wait", REST),
        ("accept4", REST), ("recvfrom", REST), ("__pthread_clockjoin_ex", REST), ("std::thread::park", REST),
        ("read", READ), ("__GI___libc_read", READ), ("__read_nocancel", READ),
        ("fsync", FILE), ("pwrite64", FILE), ("__libc_pread64", FILE), ("openat", FILE),
        ("malloc", MEMORY), ("cfree", MEMORY), ("_int_malloc", MEMORY), ("operator new(unsigned long)", MEMORY),
        ("operator delete[](void*)", MEMORY), ("malloc@plt", MEMORY), ("unlink_chunk [constprop]", MEMORY),
        ("reader", ""), ("my_malloc_stats", ""), ("Document::read", ""), ("lock", ""), ("", ""),
        ("operator newer", ""),
    ],
)  # fmt: skip
def test_a_functions_name_says_what_it_does(name, call):
    assert call_of(Function("functions/1", name, APP)) == call


# CPU time.


def hot_run(hot: int, others: int, wall: bool = False) -> Run:
    run = Run(wall=wall).add("main>serve>parse:12", samples=hot)
    for number in range(others):
        run.add(f"main>serve>other{number % 10}:5")
    return run


@pytest.mark.parametrize("wall", [False, True])
def test_a_hot_function_is_found_with_its_share_line_way_and_caller(wall):
    finding = found(hot_run(600, 400, wall).facts())["cpu"]
    assert (finding.share.value, round(finding.share.error, 3)) == (0.6, 0.03)
    assert (finding.place.function, finding.place.file, finding.place.line) == ("parse", "/src/app.c", 12)
    assert finding.path == ("main", "serve", "parse")
    assert told(finding.evidence) == "100.0 % of that at /src/app.c:12\ncalled by serve"
    assert finding.check.word == "table" and "--of=parse" in finding.check.options


def test_a_share_that_chance_could_have_made_is_none():
    assert not found(hot_run(31, 69).facts())  # 31 % ± 9
    assert found(hot_run(3100, 6900).facts())


def test_a_program_that_hardly_runs_has_no_hot_function():
    run = Run(wall=False).add("main>parse", samples=200)
    assert not found(run.facts(span_us=20_000_000))
    assert found(run.facts(span_us=1_000_000))


def test_a_few_samples_prove_nothing():
    reading = reading_of(Run(wall=False).add("main>parse", samples=20).facts())
    assert not reading.findings
    assert "too few looks for shares" in told(reading.looked_at) and "only 20 samples" in told(reading.unsure)


def test_what_is_inlined_into_a_function_is_its_own():
    finding = found(Run(wall=False).add("main>walk:7|step:3", samples=900).facts())["cpu"]
    assert (finding.place.function, finding.place.line) == ("walk", 7)


def test_samples_count_as_much_as_they_stand_for():
    run = Run(wall=False).add("main>a", samples=100, weight=9000).add("main>b", samples=900, weight=100)
    finding = found(run.facts())["cpu"]
    assert finding.place.function == "a" and finding.share.value == pytest.approx(0.909, abs=0.001)
    assert finding.share.error > 0.04  # as of a hundred samples, not of a thousand


@pytest.mark.parametrize("name, kind", [("app+0x1234", "Native"), ("0x7f0012", "Unnamed")])
def test_a_function_without_a_name_asks_for_symbols(name, kind):
    run = Run(wall=False)
    run.function(name, kind=kind, file="")
    reading = reading_of(run.add(f"main>{name}", samples=500).facts())
    (finding,) = reading.findings
    assert "symbols" in plain(finding.next)
    assert "100.0 % of the CPU time is in functions without a name, in app" in told(reading.unsure)


def test_addresses_without_functions_are_found_together():
    run = Run(wall=False)
    for number in range(500):
        run.function(f"app+0x{number % 20:x}", kind="Unnamed", file="")
        run.add(f"main>app+0x{number % 20:x}")
    finding = found(run.facts())["cpu"]
    assert plain(finding.title) == "CPU time: functions without a name in app" and finding.share.value == 1.0
    assert "symbols" in plain(finding.next) and "of 20 addresses the hottest is app+0x0 (5.0 %)" in told(finding.evidence)


def test_of_a_program_that_a_runtime_runs_its_own_functions_are_found():
    run = Run(wall=False)
    run.function("handler", kind="Interpreted", runtime="python", file="/src/app.py")
    run.function("__eval_frame")
    finding = found(run.add("handler:7>__eval_frame", samples=500).facts())["cpu"]
    assert (finding.place.function, finding.place.line) == ("handler", 7)
    assert finding.check.options == ("--frames=mine", "--no-inline", "--of=handler")


@pytest.mark.parametrize("begin", ["_start>__libc_start_main>main", "app+0x10>__libc_start_main>main", "clone3>start_thread>main", "main"])
def test_a_way_begins_where_the_programs_own_code_does(begin):
    assert found(Run(wall=False).add(f"{begin}>parse", samples=500).facts())["cpu"].path == ("main", "parse")


def test_a_late_look_of_wall_mode_is_one_however_many_samples_it_stands_for():
    def share(late: bool):
        run = Run(late=late)
        for number in range(40):
            run.add(f"main>{'parse' if number % 2 else f'other{number % 8}'}", samples=20)
        return reading_of(run.facts())

    assert found(Run(late=False).add("main>parse", samples=800).facts())
    (finding,) = share(False).findings
    assert finding.share.error == pytest.approx(0.035, abs=0.001)
    unsure = share(True)
    assert "800 samples (worth 40 equal ones)" in told(unsure.looked_at)
    assert "the hottest function is parse with 50.0 % ± 14.8" in told(unsure.looked_at)


def test_time_between_two_looks_of_wall_mode_is_nobodys():
    run = Run().add("main>work>pthread_cond_wait", "Running", 300, weight=0).add("main>work>parse", samples=100)
    reading = reading_of(run.facts())
    assert not [one for one in reading.findings if one.place.function != "parse"]
    assert "75.0 % of the CPU time was used between two looks" in told(reading.unsure)


def test_at_most_five_are_told_the_largest_first():
    stalls = [
        stall(n, ms=(300, 300), culprit={"function": f"f{n}", "library": "", "micros": 1, "looks": 1, "share": 1.0})
        for n in range(3)
    ]
    run = Run().add("main>parse:1", samples=900).add("main>parse>malloc", samples=600)
    run.add("main>take>pthread_mutex_lock", "Lock", 900, thread="b").add("main>save>fsync", "IO", 600, thread="c")
    reading = reading_of(run.facts(stalls=stalls, loops=loop_stats()))
    assert len(reading.findings) == 5 and reading.left_out == 2
    ranks = [finding.rank for finding in reading.findings]
    assert ranks == sorted(ranks, reverse=True)
    assert "5 findings, and 2 smaller" in text(Report("app", reading))


# Allocations.


def test_churn_is_found_by_whose_allocator_calls_they_are():
    run = Run(wall=False).add("main>build:9>malloc>_int_malloc", samples=400).add("main>drop>cfree", samples=200)
    run.add("main>think", samples=100).add("main>muse", samples=100).add("main>ponder", samples=200)
    finding = found(run.facts())["allocation"]
    assert finding.share.value == 0.6 and finding.place.function == "build" and finding.path == ("main", "build")
    assert "build (app) at /src/app.c:9 (40.0 %), drop (app) at /src/app.c (20.0 %)" in told(finding.evidence)
    assert "isoscope run --alloc" in plain(finding.next)


def test_the_allocator_itself_is_no_hot_function():
    assert set(found(Run(wall=False).add("main>build>malloc", samples=500).facts())) == {"allocation"}


def test_with_allocations_the_sites_are_told():
    sites = Run(kind=ALLOC).add("main>build:9>malloc", samples=300, weight=1 << 20).add("main>log>malloc", weight=100 << 20)
    run = Run(wall=False).add("main>build>malloc", samples=500).allocations(sites)
    finding = found(run.facts())["allocation"]
    assert "of 400.0 MiB allocated: build (app) at /src/app.c:9 (75.0 % ±" in told(finding.evidence)
    assert finding.check.options[0] == "--kind=alloc"


# Waits.


def waiting(stack: str, state: str, samples: int = 600) -> Run:
    """Beside a thread that works in ways too many to be one."""
    run = Run().add(stack, state, samples, thread="waits")
    for number in range(400):
        run.add(f"main>part{number % 8}")
    return run


@pytest.mark.parametrize("leaf", ["pthread_mutex_lock", "pthread_mutex_lock>__lll_lock_wait>__futex_wait", "malloc>__lock"])
def test_threads_that_stand_in_line_for_a_lock_are_found_by_who_takes_it(leaf):
    finding = found(waiting(f"main>update:33>{leaf}", "Lock").facts())["lock"]
    assert finding.share.value == 0.6 and finding.place.function == "update" and finding.place.line == 33
    assert "600 of 1,000 samples: some 0.60 s of waiting in 1 thread" in told(finding.evidence)


@pytest.mark.parametrize(
    "stack, state",
    [
        ("main>work>pthread_cond_wait>__futex_wait", "Lock"), ("main>work>sem_wait", "Lock"),
        ("main>pthread_join", "Lock"), ("main>serve>accept", "IO"), ("main>serve>recvfrom", "IO"),
        ("main>loop>epoll_wait", "Sleep"), ("main>loop>poll", "Sleep"), ("main>nap>nanosleep", "Sleep"),
        ("main>work>app_waits", "Lock"), ("main>work>app_reads", "IO"), ("main>take_commands>read", "IO"),
    ],
)  # fmt: skip
def test_threads_that_wait_for_work_are_not(stack, state):
    facts = waiting(stack, state).facts()
    assert not found(facts)
    assert "0.0 % ± 0.5 of the time that threads needed" in told(reading_of(facts).looked_at)


@pytest.mark.parametrize("call", ["fsync", "write", "pread", "openat", "connect", "sendmsg"])
def test_threads_that_wait_for_a_file_or_a_peer_are_found(call):
    finding = found(waiting(f"main>save:8>{call}", "IO").facts())["io"]
    assert finding.share.value == 0.6 and finding.place.function == "save"
    assert f"in {call}, called by save (app) at /src/app.c:8 (100.0 %)" in told(finding.evidence)


def test_reads_again_and_again_are_waits_and_one_long_read_is_rest():
    def reads(each: int) -> Run:
        run = waiting("main>idle>epoll_wait", "Sleep")
        for _ in range(3000 // each):
            run.add("main>load>read", "IO", each, thread="reads").add("main>load>use", thread="reads")
        return run

    assert found(reads(20).facts())["io"].place.function == "load"
    assert not found(reads(1500).facts())


def test_the_interpreter_lock_is_a_lock():
    assert found(waiting("main>handler>__take_gil", "GilWait").facts())["lock"].place.function == "handler"


def test_a_lock_guard_of_a_header_is_not_who_takes_it():
    run = waiting("main>update:33|std::lock_guard::lock_guard:229>pthread_mutex_lock", "Lock")
    assert found(run.facts())["lock"].place.function == "update"


def test_waits_too_short_to_be_noticed_are_none():
    run = waiting("main>update>pthread_mutex_lock", "Lock")
    assert not found(run.facts(span_us=600_000_000))


def test_in_cpu_mode_waits_are_said_not_to_be_sampled():
    reading = reading_of(Run(wall=False).add("main>a", samples=50).facts())
    assert "waits: not sampled; `isoscope run --mode wall`" in told(reading.looked_at)


# Stalls.


def stalled(*stalls, **more):
    return Run().add("main>loop>epoll_wait", "Sleep", 1000).facts(stalls=list(stalls), loops=loop_stats(), **more)


def test_stalls_by_one_culprit_are_one_finding_with_what_they_took():
    facts = stalled(stall(1), stall(2, at_us=4_000_000, ms=(500, 540)), busy(3), span_us=10_000_000)
    late = [finding for finding in reading_of(facts).findings if finding.kind == "stall"]
    assert [finding.check.last for finding in late] == [("3",), ("1",)]  # a hang is before a stall
    both = late[1]
    assert both.share.value == pytest.approx((611 + 520) / 10_000) and both.share.error == pytest.approx(0.002)
    assert told(both.evidence).startswith("2 stalls, 1,111 ms in all, the longest 611 ms\nculprit pthread_mutex_lock")
    assert both.place.function == "write_log" and both.path == ("main", "run_loop", "on_request", "write_log")
    assert plain(both.cause) == "lock: it waited in futex for thread 43 'worker', which stood in flush_log"


@pytest.mark.parametrize("cause", ["host", "stopped", "starved"])
def test_stalls_that_are_the_machines_doing_only_make_it_unsure(cause):
    reading = reading_of(stalled(stall(1, cause=cause)))
    assert not reading.findings
    assert f"1 stall of cause {cause} not counted" in told(reading.unsure)


def test_a_stall_of_which_nothing_is_known_is_told_all_the_same():
    bare = {name: value for name, value in stall(1, prefix=[]).items() if name not in ("culprit", "caller", "stacks")}
    (finding,) = reading_of(stalled(bare)).findings
    assert plain(finding.title) == "stalls: the loop server is late in [unknown]" and finding.path == ()


# Nothing.


def test_a_healthy_program_says_so_with_what_was_looked_at():
    run = Run()
    for number in range(600):
        run.add(f"main>part{number % 6}").add("main>work>pthread_cond_wait", "Lock", thread=f"w{number % 3}")
    facts = run.facts(stalls=[], loops=loop_stats(loops=[quiet_loop()]))
    shown = text(Report("app", reading_of(facts), sampled_waits=True, told_stalls=True))
    assert shown.startswith("app: nothing stands out: no function has too much of the CPU time, ")
    assert "the hottest function is part0 with 16.7 % ± 3.0" in shown
    assert "stalls: 0 stalls of 1 loop in 12,345 dispatches, the longest 12 ms (from 250 ms on)" in shown


def test_what_makes_figures_unsure_is_told():
    run = Run(wall=False).add("main>a", samples=60, whole=False).add("main>b", samples=60)
    run.profile.lost.update({"ring_full": 70, "throttled": 3})
    facts = run.facts()
    facts.limits.update({"evicted": 1234})
    unsure = told(reading_of(facts).unsure)
    assert "73 samples lost: ring_full 70, throttled 3" in unsure
    assert "the oldest 1,234 samples were dropped" in unsure
    assert "50.0 % of the stacks are truncated" in unsure


def test_a_machine_that_is_busy_is_told():
    unsure = told(reading_of(Run().add("main>a", samples=300).add("main>a", "Runnable", 300).facts()).unsure)
    assert "threads that wanted a processor had none for 50.0 %" in unsure


def test_a_program_that_others_leave_little_cpu_time_is_not_an_idle_one():
    def reading(rest: str):
        run = Run().add("main>work", samples=80)
        return reading_of(run.add("main>work", rest, 920).facts(span_us=1_000_000))

    starved = reading("Runnable")
    assert [one.place.function for one in starved.findings if one.kind == "cpu"] == ["work"]
    assert "8.0 % of one processor" in told(starved.looked_at)
    assert not [one for one in reading("Sleep").findings if one.kind == "cpu"]


def test_cpu_time_that_is_met_too_rarely_is_not_called_healthy():
    run = Run(late=True)
    for number in range(10):
        run.add(f"main>part{number}", samples=50)
    reading = reading_of(run.facts())
    assert "CPU mode (the default of `isoscope run`) has them" in told(reading.unsure)
    assert text(Report("app", reading, told_stalls=False)).splitlines()[0] == (
        "app: nothing stands out: threads hardly wait for locks, files or peers (there is too little of the CPU time in the "
        "samples for shares)"
    )


def test_of_an_empty_profile_nothing_is_said_that_is_not_so():
    reading = reading_of(of_file(Run(wall=False).profile))
    assert not reading.findings and "too few looks for shares" in told(reading.looked_at)


# Chance.


@pytest.mark.parametrize(
    "part, whole, error",
    [(50, 100, 0.0962), (0, 100, 0.0185), (100, 100, 0.0185), (500, 1000, 0.0309), (1, 1, 0.3967)],
)
def test_the_range_of_a_share_is_wilsons(part, whole, error):
    assert chance.share(part, whole, whole).error == pytest.approx(error, abs=0.0001)


def test_a_share_of_nothing_is_none():
    assert chance.share(0, 0, 0) == (0.0, 0.0) and chance.effective([]) == 0
    assert chance.effective([5] * 40) == 40
