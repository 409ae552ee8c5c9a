"""What a client and a service said to each other, as a file: written by a proxy, replayed to a
service, or played in a service's place. README.md has the format.

    client <-> proxy <-> service             proxy.py   -> recorder.py -> T.jsonl
    T.jsonl -> transcript.py -> replay.py <-> service -> verdicts, report.py
    T.jsonl -> transcript.py -> script.py -> player.py <-> client
"""
