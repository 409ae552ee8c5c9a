"""The protocol's inspector, on its command line, asks `isoscope mcp` all that it can: ./dev editors.

    inspector.py PACKAGES      the folder whose node_modules has the inspector
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from assistant import environment
from harness import DEADLINE_S, ISOSCOPE, record, workload


def asked(inspector: Path, folder: Path, method: str, *words: str) -> Any:
    command = [str(inspector), "--cli", ISOSCOPE, "mcp", "--method", method, *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=DEADLINE_S, env=environment())
    assert done.returncode == 0, (command, done.stderr)
    return json.loads(done.stdout)


def called(inspector: Path, folder: Path, tool: str, *arguments: str) -> dict[str, Any]:
    words = [word for one in arguments for word in ("--tool-arg", one)]
    (content,) = asked(inspector, folder, "tools/call", "--tool-name", tool, *words)["content"]
    answer: dict[str, Any] = json.loads(content["text"])
    return answer


def main(inspector: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = record(folder / "hot.isoscope", [workload("planted"), "hot", "1"], "--quiet")
        assert done.returncode == 0, done.stderr
        tools = asked(inspector, folder, "tools/list")["tools"]
        assert len(tools) == 10 and all(one["inputSchema"]["type"] == "object" for one in tools)
        function = called(inspector, folder, "function", "function=score_rows")["facts"]
        assert function["function"] == "score_rows" and 70 < function["total_percent"] < 90, function
        assert called(inspector, folder, "hot_functions", "budget=300", "by=total")["next_cursor"]
        assert called(inspector, folder, "explain")["rows"][0][0] == "cpu"
        refused = asked(inspector, folder, "tools/call", "--tool-name", "summary", "--tool-arg", "source=none")
        assert refused["isError"] and "there is none with this id" in refused["content"][0]["text"]
        (resource,) = asked(inspector, folder, "resources/list")["resources"]
        (content,) = asked(inspector, folder, "resources/read", "--uri", resource["uri"])["contents"]
        assert json.loads(content["text"])["facts"]["source"] == "hot.isoscope"
        assert len(asked(inspector, folder, "prompts/list")["prompts"]) == 3
        prompt = asked(inspector, folder, "prompts/get", "--prompt-name", "triage", "--prompt-args", "source=hot.isoscope")
        assert "hot.isoscope" in prompt["messages"][0]["content"]["text"]
    print(f"inspector: {len(tools)} tools, resources, prompts: fine")


if __name__ == "__main__":
    main(Path(sys.argv[1]) / "node_modules" / ".bin" / "mcp-inspector")
