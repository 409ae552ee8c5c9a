"""What a reading says of locks where waits for them were sampled (`--lock`): which, how long, who had it."""

import pytest
from explained import Run
from isoscope.explain.reading import reading_of
from isoscope.explain.report import Report, text
from isoscope.explain.words import plain
from isoscope.model import WAIT

TAKES = "main>update:33>pthread_mutex_lock"
OWNER = 43


def told(sentences) -> str:
    return "\n".join(map(plain, sentences))


def convoy(wall: bool, *, waits: float = 1.0) -> Run:
    """The owner runs for 600 ms, half of it inlined; another thread runs for 100 ms and waits for 300."""
    run = Run(wall=wall).add("main>think:9", samples=100).add(TAKES, "Lock", 300 if wall else 0)
    run.add("main>update:34>merge:51|copy:7", samples=600, thread="owner")
    for _ in range(30):
        run.wait_for(TAKES, "table_lock", 10, holder=OWNER, waits=waits)
    return run


def lock_finding(run: Run):
    (finding,) = [one for one in reading_of(run.facts()).findings if one.kind == "lock"]
    return finding


@pytest.mark.parametrize("wall", [True, False])
def test_a_convoys_lock_holder_and_time_are_told_and_how_to_see_them(wall):
    finding = lock_finding(convoy(wall))
    evidence = told(finding.evidence)
    assert plain(finding.title) == "lock waits: update for table_lock" and finding.path == ("main", "update")
    assert "threads waited for locks 0.30 s ± 0.00 in about 30 waits, of which 30 were sampled" in evidence
    assert "for table_lock (app) (mutex); the longest wait 10.0 ms" in evidence
    assert f"held by owner ({OWNER}) 100.0 %" in evidence
    assert "whoever had it was mostly in merge (app) at /src/app.c:51" in evidence  # not in what is inlined into it
    assert "waited for by update (app) at /src/app.c:33 (100.0 %)" in evidence
    assert plain(finding.next) == "hold it for less time in merge, or split what it protects"
    assert finding.check.word == "locks"


def test_in_cpu_mode_the_share_is_of_what_threads_ran_and_waited():
    finding = lock_finding(convoy(wall=False))
    assert finding.of.startswith("of the time that threads ran or waited for locks")
    assert finding.share.value == pytest.approx(0.3)  # of 700 ms and 300
    few = lock_finding(convoy(wall=False, waits=50.0))  # 30 samples stand for 1,500 waits
    assert few.share.value == pytest.approx(15 / 15.7)
    error, chance = (one.share.error / one.share.value / (1 - one.share.value) for one in (finding, few))
    assert error == pytest.approx(1.96 * 700**-0.5)  # of the CPU time alone: each of its waits was sampled for sure
    assert chance == pytest.approx(1.96 * (1 / 700 + 0.98 / 30) ** 0.5)
    assert "± 5.31 in about 1,500 waits, of which 30 were sampled" in told(few.evidence)


def test_in_wall_mode_the_share_stays_that_of_the_samples():
    finding = lock_finding(convoy(wall=True))
    assert finding.share.value == pytest.approx(0.3) and "of the time that threads needed" in finding.of
    assert told(finding.evidence).startswith("300 of 1,000 samples")


def test_a_lock_of_futexes_is_one_by_who_waits_and_a_condition_is_not():
    run = convoy(wall=False)
    for _ in range(100):
        run.wait_for("main>push:5>std::sys::sync::mutex::futex::Mutex::lock_contended", "futex 0x10", 10, kind=WAIT)
        run.wait_for("main>sleep:6>pthread_cond_wait", "ready", 10, kind=WAIT)
    finding = lock_finding(run)
    evidence = told(finding.evidence)
    assert plain(finding.title) == "lock waits: push for futex 0x10"
    assert "locks 1.30 s" in evidence and "76.9 % of that" in evidence and "ready" not in evidence
    assert "held by" not in evidence and plain(finding.next).startswith("hold it for less time, or")


def test_what_names_of_locks_hold_stays_a_name():
    run = Run(wall=False).add("main>think", samples=100)
    for _ in range(30):
        run.wait_for(TAKES, "lock\x1b[31m`ls`", 10)
    report = text(Report("app", reading_of(run.facts()), sampled_waits=False, sampled_locks=True))
    assert "\x1b" not in report and "isoscope locks" in report


def test_waits_for_locks_that_are_few_are_only_told():
    run = Run(wall=False).add("main>think", samples=900).wait_for(TAKES, "table_lock", 20)
    reading = reading_of(run.facts())
    assert "lock" not in {one.kind for one in reading.findings}
    looked_at = told(reading.looked_at)
    assert "waits for locks: 2.2 % ± 0.1 of the time that threads ran or waited for locks (from 5 % on)" in looked_at
    assert "1 lock waited for: 0.02 s" in looked_at and "waits for anything but locks: not sampled" in looked_at
    headline = Report("app", reading, sampled_waits=False, sampled_locks=True).headline
    assert headline.endswith("(threads that wait for anything else were not sampled)") or reading.findings


def test_a_program_of_which_no_thread_waited_is_said_to_be():
    run = Run(wall=False)
    run.add("main>a", samples=90)
    run.others["lock"] = run.wait_for(TAKES, "x", 1).others["lock"].choose([])
    assert "locks: no thread was seen waiting for one" in told(reading_of(run.facts()).looked_at)
