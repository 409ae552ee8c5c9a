"""`isoscope stalls`: what it lists, tells of one, follows and says of loops; and the client's calls."""

import asyncio
import io
import json
import re

import pytest
from fakes import AsyncFake, FakeService, samples_reply
from isoscope import AsyncClient, Client, Event, Profile, Thread, Timeline, cli, formats
from isoscope.cli import source as source_of_commands
from isoscope.errors import ProtocolError
from isoscope.stalls import words
from isoscope.timeline import SLICE
from late_loops import BASE_US, LOOP, PROCESS, busy, event, loop_stats, quiet_loop, stall

URI = "http://127.0.0.1:8181/token=/"
VM = {"type": "VM", "isolates": [{"id": PROCESS.id, "name": "server:main()"}]}


def samples(params):
    reply = samples_reply({"main;work": 1})
    reply["samples"][0]["timestamp"] = BASE_US
    return reply


def service(*stalls, stats=None):
    return FakeService(
        {
            "getVM": lambda params: VM,
            "_getCpuSamples": samples,
            "_getStalls": lambda params: {"type": "_StallList", "next": "9", "stalls": list(stalls)},
            "_getLoopStats": lambda params: stats or loop_stats(),
            "streamListen": lambda params: {"type": "Success"},
        }
    )


def notify(fake, told, stream="Extension"):
    params = {"streamId": stream, "event": told}
    fake.unread.append(json.dumps({"jsonrpc": "2.0", "method": "streamNotify", "params": params}))


@pytest.fixture
def run(monkeypatch, capsys):
    def run(fake, *words):
        monkeypatch.setattr(source_of_commands, "Client", lambda uri, name=None: Client(transport=fake))
        try:
            status = cli.main(["stalls", URI, *words])
        except SystemExit as end:
            status = end.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


def rows(out):
    return [re.split(r"  +", line.strip()) for line in out.splitlines()]


# The list.


def test_stalls_are_listed_with_cause_culprit_and_who_called_it(run):
    status, out, err = run(service(stall(), busy()))
    assert (status, err) == (0, "")
    assert rows(out) == [
        ["no", "at", "loop", "level", "duration", "cause", "culprit", "called by", "equal"],
        ["1", "2.100", "server", "stall", "611 ms", "lock", "pthread_mutex_lock", "write_log", "1"],
        ["2", "7.000", "server", "hang", "2,250-2,254 ms so far", "busy", "compress", "3"],
    ]


def test_the_list_is_in_the_order_of_numbers_not_of_changes(run):
    _, out, _ = run(service(busy(), stall()))
    assert [row[0] for row in rows(out)[1:]] == ["1", "2"]


def test_a_stall_whose_culprit_is_not_known_says_so(run):
    unknown = stall()
    del unknown["culprit"], unknown["caller"]
    _, out, _ = run(service(unknown))
    assert "[unknown]" in out


def test_a_loop_with_another_name_than_its_thread_has_both(run):
    _, out, _ = run(service(stall(name="render", thread="ui")))
    assert "render (ui)" in out


def test_what_had_no_event_is_counted_below_the_list(run):
    _, out, _ = run(service(stall(), stall(2, told=False), stall(3, told=False)))
    assert out.splitlines()[-1].startswith("2 stalls of these had no event")


@pytest.mark.parametrize("words_, numbers", [
    (("--level", "hang"), ["2"]),
    (("--cause", "lock"), ["1"]),
    (("--thread", "42"), ["1", "2"]),
    (("--loop", "server"), ["1", "2"]),
    (("--from", "3"), ["2"]),
    (("--to", "3"), ["1"]),
    (("--from", "2.5", "--to", "2.6"), ["1"]),  # it overlaps
    (("--last", "1"), ["2"]),
    (("--process", "server"), ["1", "2"]),
])  # fmt: skip
def test_filters_leave_some_out(run, words_, numbers):
    status, out, _ = run(service(stall(), busy()), *words_)
    assert (status, [row[0] for row in rows(out)[1:]]) == (0, numbers)


def test_filters_that_leave_none_say_how_many_there_were(run):
    status, out, err = run(service(stall(), busy()), "--cause", "io")
    assert (status, out) == (1, "")
    assert err == "isoscope: no stalls match the filters; there are 2 without them\n"


def test_one_process_is_asked_for_by_its_id(run):
    fake = service(stall())
    run(fake, "--process", "42")
    (asked,) = [r["params"] for r in fake.requests if r["method"] == "_getStalls"]
    assert asked == {"isolateId": PROCESS.id}


def test_json_has_the_wires_objects(run):
    _, out, _ = run(service(stall(), busy()), "--json")
    assert json.loads(out) == {"type": "isoscope.stalls", "originMicros": BASE_US, "stalls": [stall(), busy()]}
    _, out, _ = run(service(stall(), busy()), "2", "--json")
    assert json.loads(out) == busy()


# One.


def test_one_in_full_has_its_story_its_stack_and_how_to_look_closer(run):
    status, out, err = run(service(stall(), busy()), "1")
    assert (status, err) == (0, "")
    lines = [line.strip() for line in out.splitlines()]
    assert lines[0] == "stall 1: server, 611 ms (stall)"
    assert "cause      lock: it waited in futex for thread 43 'worker', which stood in flush_log" in lines
    assert "culprit    pthread_mutex_lock (libc.so.6): 590 ms without a break, 97% of the looks" in lines
    assert "called by  write_log (server) at /src/log.c:42" in lines
    assert "thread     ran 11 ms, slept 599 ms, wanted a processor for 1.0 ms" in lines
    assert "tag        request" in lines and "slice      GET /" in lines
    story = lines[lines.index("story") + 2 :]
    assert re.split(r"  +", story[0]) == ["0 us", "21 ms", "#", "parse", "1"]
    assert re.split(r"  +", story[1]) == ["21 ms", "590 ms", "#" * 24, "pthread_mutex_lock", "29"]
    assert lines[lines.index("all its stacks begin with") + 1] == "main > run_loop > on_request"
    stack = lines[lines.index("stack at 600 ms: Lock") + 1 :]
    assert stack[:5] == ["pthread_mutex_lock", "write_log", "on_request", "run_loop", "main"]
    assert lines[-1] == "isoscope tree --from 2.100 --to 2.711 SOURCE"


def test_stacks_that_are_the_same_are_printed_once(run):
    (stack,) = stall()["stacks"]
    times = [BASE_US + 2_100_000 + ms * 1000 for ms in (400, 500, 600)]
    other = {**stack, "functions": ["read", "main"]}
    stacks = [{**one, "micros": micros} for one, micros in zip((other, stack, stack), times)]
    _, out, _ = run(service(stall(stacks=stacks)), "1")
    assert [line for line in out.splitlines() if line.startswith("stack at")] == [
        "stack at 400 ms: Lock", "stack at 500 ms, 600 ms: Lock",
    ]  # fmt: skip
    assert out.count("  on_request\n") == 1


def test_the_window_is_one_that_tree_takes(run, monkeypatch, capsys):
    """Of a service with two processes: the one that stalled, from its own first sample on."""
    other = {"id": "isolates/7", "name": "sh:main()"}
    fake = service(stall())
    fake.answers["getVM"] = lambda params: {"type": "VM", "isolates": [*VM["isolates"], other]}
    _, out, _ = run(fake, "1")
    command = out.splitlines()[-1].split()
    assert command[:4] == ["isoscope", "tree", "--process", PROCESS.id]
    monkeypatch.setattr(source_of_commands, "Client", lambda uri, name=None: Client(transport=fake))
    late = BASE_US + 2_200_000

    def with_a_late_sample(params):
        reply = samples_reply({"main;work": 1, "main;write_log": 1})
        for sample, timestamp in zip(reply["samples"], (BASE_US, late)):
            sample["timestamp"] = timestamp
        return reply

    fake.answers["_getCpuSamples"] = with_a_late_sample
    capsys.readouterr()
    assert cli.main([*command[1:-1], URI]) == 0
    shown = capsys.readouterr().out
    assert "write_log" in shown and "work" not in shown.replace("write_log", "")


def test_a_sleeper_is_not_looked_for_among_samples_of_cpu_time(run):
    _, out, _ = run(service(stall(runningMicros=900)), "1")
    assert "isoscope tree" not in out and "--mode wall" in out


def test_a_number_that_is_not_there_names_those_that_are(run):
    status, _, err = run(service(stall(), busy()), "7")
    assert (status, err) == (1, "isoscope: no stall 7; there are 2, from 1 to 2\n")


def test_a_stall_without_any_look_is_told_all_the_same(run):
    bare = stall(story=[], prefix=[], looks=0, stacks=[])
    for word in ("culprit", "caller", "tag", "slice"):
        del bare[word]
    status, out, _ = run(service(bare), "1")
    assert status == 0 and "without a break" not in out and "story" not in out


# None.


def test_without_stalls_it_says_what_is_watched_and_what_cannot_be(run):
    status, out, err = run(service(stats=loop_stats(loops=[quiet_loop()])))
    assert (status, out) == (1, "")
    assert "none of 12,345 dispatches took longer than 250 ms, the longest 12 ms; watched: server (epoll)" in err
    assert "thread 45 'uring' of process 42: it waits in io_uring_enter" in err
    assert "isoscope_loop_register" in err


def test_without_loops_it_says_what_makes_one(run):
    _, _, err = run(service(stats=loop_stats(loops=[], unwatched=[])))
    assert "no loop is watched; a thread is one when it has waited again and again in epoll_wait" in err
    _, _, err = run(service(stats=loop_stats(loops=[], watch="io-*")))
    assert "(stall_watch is io-*)" in err


def test_where_no_loop_is_watched_it_says_by_whose_wish(run):
    _, _, err = run(service(stats=loop_stats(loops=[], watch="none")))
    assert "--watch-loops none" in err


def test_a_service_that_knows_no_stalls_is_named(run):
    fake = service()
    del fake.answers["_getStalls"]
    status, _, err = run(fake)
    assert (status, err) == (1, "isoscope: this service has no _getStalls: it is another's, or older\n")


# Loops.


def test_loops_have_times_levels_and_causes(run):
    status, out, _ = run(service(), "--loops")
    assert status == 0
    told = rows(out)
    assert ["watched: auto; late from jank 50 ms, stall 250 ms, hang 2,000 ms, dead 5,000 ms on"] in told
    assert ["server", "server", "epoll", "12,345", "127 us", "4.1 ms", "611 ms", "2,254 ms", "2,765 ms"] in told
    assert ["server", "4", "1", "1", "0", "0", "busy 1, lock 1"] in told
    assert ["server", "7", "127 us", "255 us", "255 us", "1.0 ms"] in told
    assert "not watched: thread 45 'uring'" in out


def test_loops_that_have_ended_or_are_not_watched_say_so(run):
    loops = [quiet_loop(ended=True), quiet_loop(watched=False, name="io")]
    _, out, _ = run(service(stats=loop_stats(loops=loops, unwatched=[])), "--loops")
    assert "server (ended)" in out and "io (not watched)" in out


def test_loops_as_json_are_the_wires(run):
    _, out, _ = run(service(), "--loops", "--json")
    assert json.loads(out) == loop_stats()


def test_loops_can_be_chosen(run):
    loops = [LOOP, quiet_loop(name="io", thread="io", tid=44)]
    _, out, _ = run(service(stats=loop_stats(loops=loops)), "--loops", "--loop", "io", "--json")
    assert [loop["name"] for loop in json.loads(out)["loops"]] == ["io"]


# As they come.


def following(*stalls):
    """The events come behind the replies to what is asked first."""
    fake = service(*stalls)
    answer = fake.answers["_getStalls"]
    later = []

    def then(params):
        later[:] = fake.told
        return answer(params)

    fake.told = []
    fake.answers["_getStalls"] = then
    send = fake.send

    def send_then(text):
        send(text)
        for told in later:
            notify(fake, told)
        del later[:]

    fake.send = send_then
    return fake


def test_follow_prints_begin_and_end_and_ends_with_the_service(run):
    fake = following()
    fake.told = [
        event("Begin", busy(3)),
        event("Update", busy(3)),
        {"type": "Event", "kind": "Extension", "extensionKind": "Flutter.Frame", "extensionData": {}},
        event("End", busy(3, ongoing=False)),
    ]
    status, out, err = run(fake, "--follow")
    assert (status, err) == (0, "isoscope: the service has ended\n")
    begin, end = out.splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.123  begin     3  server: 2,250-2,254 ms so far, busy, in compress", begin)
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.123  end       3  server: 2,250-2,254 ms, busy, in compress", end)


def test_follow_begins_with_what_lasts_already_and_tells_it_once(run):
    fake = following(stall(), busy(2))
    fake.told = [event("Begin", busy(2)), event("End", busy(2, ongoing=False))]
    _, out, _ = run(fake, "--follow")
    assert [line.split()[1:3] for line in out.splitlines()] == [["begin", "2"], ["end", "2"]]


def test_follow_as_json_is_a_line_each(run):
    fake = following()
    fake.told = [event("Begin", stall())]
    _, out, _ = run(fake, "--follow", "--json")
    told = json.loads(out)
    assert (told["kind"], told["timestamp"], told["stall"]["number"]) == ("begin", 1_700_000_000_123, 1)


def test_follow_takes_filters(run):
    fake = following()
    fake.told = [event("Begin", stall()), event("Begin", busy())]
    _, out, _ = run(fake, "--follow", "--cause", "busy")
    assert len(out.splitlines()) == 1 and "compress" in out


# Words.


@pytest.mark.parametrize("micros, text", [
    ([611_000, 611_400], "611 ms"),
    ([250_000, 254_000], "250-254 ms"),
    ([1_900_000, 1_904_000], "1,900-1,904 ms"),
    ([9_998_000, 10_002_000], "10.00 s"),
    ([12_340_000, 12_350_000], "12.34-12.35 s"),
    ([300, 900], "300 us to 900 us"),
    ([5_000, 5_010], "5.0 ms"),
])  # fmt: skip
def test_a_duration_is_a_number_or_a_range(micros, text):
    assert words.span(micros) == text


@pytest.mark.parametrize("given, said", [
    (("1", "--loops"), "NUMBER and --loops exclude each other"),
    (("--follow", "--loops"), "--follow and --loops exclude each other"),
    (("--for", "3"), "--for needs --follow"),
    (("--follow", "--last", "3"), "--follow takes no --from, --to and --last"),
    (("--stall-limit", "100"), "--watch-loops and --stall-limit need `-- COMMAND`"),
    ((URI, "1"), "stalls takes one SOURCE and one NUMBER"),
])  # fmt: skip
def test_words_that_do_not_go_together_are_refused(run, given, said):
    status, _, err = run(service(), *given)
    assert status == 2 and said in err


def test_a_file_that_is_no_session_has_no_stalls(tmp_path, capsys):
    file = tmp_path / "stacks.folded"
    file.write_text("main;work 3\n")
    assert cli.main(["stalls", str(file)]) == 1
    assert "session files keep them" in capsys.readouterr().err
    assert cli.main(["stalls", "--follow", str(file)]) == 2


# The client.


def test_the_client_has_stalls_loops_and_events():
    fake = service(stall(), busy())
    with Client(transport=fake) as client:
        assert [one["number"] for one in client.stalls(process=PROCESS)] == [1, 2]
        assert client.loop_stats()["loops"][0]["dispatches"] == 12_345
        notify(fake, event("End", stall()))
        told = next(client.stall_events(timeout_s=5))
    assert (told.kind, told.stall["cause"]) == ("end", "lock")
    assert [r["params"] for r in fake.requests if r["method"] == "streamListen"] == [{"streamId": "Extension"}]


def test_the_client_of_asyncio_has_them_too():
    async def ask():
        fake = service(stall())
        async with AsyncClient(connect=lambda: connected(fake)) as client:
            told = await client.stalls()
            stats = await client.loop_stats(process=PROCESS)
            return told, stats

    async def connected(fake):
        return AsyncFake(fake)

    told, stats = asyncio.run(ask())
    assert [one["number"] for one in told] == [1] and stats["watch"] == "auto"


def test_a_process_that_is_gone_has_none():
    gone = {"type": "Sentinel", "kind": "Collected", "valueAsString": "<collected>"}
    fake = service(stats=gone)
    fake.answers["_getStalls"] = lambda params: gone
    with Client(transport=fake) as client:
        assert (client.stalls(process=PROCESS), client.loop_stats(process=PROCESS)) == ([], None)


@pytest.mark.parametrize("word", ["number", "cause", "durationMicros", "story"])
def test_a_stall_that_lacks_something_is_refused(word):
    broken = stall()
    del broken[word]
    with Client(transport=service(broken)) as client, pytest.raises(ProtocolError, match=word):
        client.stalls()


# Files: a stall is a slice of its loop's thread among the events.


def profile_with_a_stall():
    thread = Thread(PROCESS, PROCESS.pid, "server")
    begin_ns = (BASE_US + 2_100_000) * 1000
    profile = Profile()
    profile.timeline = Timeline()
    arguments = {"culprit": "compress", "cause": "busy"}
    profile.timeline.add(Event(SLICE, thread, "Stall", "Embedder", begin_ns, 611_000_000, 0, "", 0, arguments))
    return profile


def written(name):
    out = io.BytesIO()
    formats.write(profile_with_a_stall(), name, out)
    return out.getvalue()


def test_trace_events_have_stalls_with_their_culprit():
    (told,) = [e for e in json.loads(written("trace"))["traceEvents"] if e["ph"] == "X"]
    assert (told["name"], told["dur"]) == ("Stall", 611_000)
    assert told["args"] == {"culprit": "compress", "cause": "busy"}


def test_firefox_has_stalls_as_markers_with_their_culprit():
    told = json.loads(written("firefox"))
    strings = told["shared"]["stringArray"]
    (markers,) = [thread["markers"] for thread in told["threads"] if thread["markers"]["data"]]
    place = [strings[name] for name in markers["name"]].index("Stall")
    assert markers["endTime"][place] - markers["startTime"][place] == pytest.approx(611)
    assert "culprit=compress" in json.dumps(markers["data"][place]).replace('": "', "=").replace(": ", "=")


@pytest.mark.parametrize("name", ["perfetto", "devtools-performance"])
def test_traces_for_perfetto_and_devtools_have_stalls_with_their_culprit(name):
    content = written(name)
    if name == "devtools-performance":
        content = bytes(json.loads(content)["performance"]["traceBinary"])
    for text in (b"Stall", b"culprit", b"compress", b"cause", b"busy"):
        assert text in content
