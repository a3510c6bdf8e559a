# SPDX-License-Identifier: Apache-2.0
"""memtrace live --html --serve: the page of a training that goes on, for this machine and whoever has its address."""

import contextlib
import http.client
import json
import re
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from live_runs import live, training

from support import runs


class Served:
    def __init__(self, *arguments):
        line = [str(runs.memtrace()), "live", "--html", "--serve", *map(str, arguments)]
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=runs.environment())
        self.url = self.process.stdout.readline().strip()
        assert self.url, self.process.stderr.read()
        self.place = urlsplit(self.url)

    def ask(self, path: str | None = None, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
        to = http.client.HTTPConnection(self.place.hostname, self.place.port, timeout=60)
        to.request(method, self.place.path if path is None else path, headers=headers)
        answer = to.getresponse()
        answer.text = answer.read().decode()
        to.close()
        return answer

    def facts(self) -> dict:
        page = self.ask()
        assert page.status == 200
        inside, = re.findall(r'<script[^>]*id="memtrace-facts">(.*?)</script>', page.text, re.DOTALL)
        return json.loads(inside)

    def state(self) -> dict:
        return json.loads(self.ask(self.place.path + "state").text)

    def page_with_more(self, than: dict) -> dict:
        """One with more events: a trace also grows by what is none."""
        end = time.monotonic() + 90
        now = than
        while now["report"]["completeness"]["events"] <= than["report"]["completeness"]["events"]:
            assert time.monotonic() < end, "the page stays as it was"
            time.sleep(0.2)
            if self.state()["page"] > now["served"]:
                now = self.facts()
        return now


@contextlib.contextmanager
def served(*arguments):
    one = Served(*arguments)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()


@pytest.fixture(scope="module")
def finished(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    with training(folder / "out", 5, 0) as one:
        one.end()
    return folder / "out"


def test_a_page_becomes_newer_while_the_training_goes_on(tmp_path):
    with training(tmp_path / "out", 100_000, 0.02) as one:
        for _ in range(3):
            one.next_step()
        with served(one.output) as page:
            first = page.facts()
            assert first["kind"] == "report" and first["served"] == page.state()["page"]
            second = page.page_with_more(first)
            assert second["served"] > first["served"]
            # It is of one moment: what was read more than once was the same each time.
            history, = second["histories"]
            device, = second["report"]["devices"]
            assert history["events"] == second["report"]["completeness"]["events"]
            assert device["peak_allocated_bytes"] >= one.latest_step()["allocated"] // 2
            assert one.process.poll() is None
        assert one.process.poll() is None


def test_it_is_the_page_of_the_report_once_the_training_has_ended(finished, tmp_path):
    subprocess.run([runs.memtrace(), "report", finished, "--html", tmp_path / "page.html"], check=True,
                   capture_output=True, env=runs.environment())
    text = (tmp_path / "page.html").read_text()
    with served(finished) as page:
        inside, = re.findall(r'id="memtrace-facts">(.*?)</script>', text, re.DOTALL)
        wanted, found = json.loads(inside), page.facts()
        assert wanted["served"] is None
        for one in (wanted, found):
            del one["served"], one["made_ns"]
        assert found == wanted
        assert "connect-src 'none'" in text and "connect-src 'self'" in page.ask().text
        # Nothing has changed, so there is no other.
        time.sleep(1)
        assert page.state() == {"page": 1}


@pytest.mark.parametrize(("how", "status"), [
    ({"path": "/"}, 404), ({"path": "/state"}, 404), ({"path": "/" + "0" * 32 + "/"}, 404),
    ({"path": "//"}, 404), ({"method": "POST"}, 405), ({"method": "PUT"}, 405),
    ({"Host": "attacker.example"}, 403), ({"Host": "127.0.0.1.attacker.example"}, 403), ({"Host": ""}, 403),
    ({"Host": "localhost:4242"}, 200), ({"method": "HEAD"}, 200),
])
def test_only_who_knows_the_address_reads(finished, how, status):
    with served(finished) as page:
        answer = page.ask(**how)
        assert answer.status == status
        assert ("memtrace-facts" in answer.text) == (status == 200 and how.get("method") != "HEAD")
        for name, value in {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
                            "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff"}.items():
            assert answer.getheader(name) == value


def test_what_is_beneath_the_address_is_not_the_file_system(finished):
    with served(finished) as page:
        for path in ("../", "..%2f..%2fetc/passwd", "state/", "/etc/passwd", "x" * 60_000):
            with contextlib.suppress(ConnectionError, http.client.HTTPException):
                assert page.ask(page.place.path + path).status in (400, 404)
        assert page.facts()["kind"] == "report"


def test_it_listens_on_the_loopback_address_alone(finished):
    with served(finished) as page:
        listening = [line.split() for line in Path(f"/proc/{page.process.pid}/net/tcp").read_text().splitlines()[1:]]
        port = f"{page.place.port:04X}"
        assert [one[1] for one in listening if one[1].endswith(":" + port) and one[3] == "0A"] == [f"0100007F:{port}"]
        assert len(page.place.path.strip("/")) == 32


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_when_it_is_told_to(finished, how):
    with served(finished) as page:
        page.process.send_signal(how)
        assert page.process.wait(timeout=30) == 0


def test_a_client_that_sends_nothing_keeps_nobody_waiting(finished):
    with served(finished) as page:
        silent = [http.client.HTTPConnection(page.place.hostname, page.place.port) for _ in range(20)]
        for one in silent:
            one.connect()
        assert page.facts()["kind"] == "report"
        for one in silent:
            one.close()


def test_a_port_that_is_taken_and_a_run_that_is_missing_are_said(finished, tmp_path):
    with served(finished) as page:
        taken = live("--serve", "--port", page.place.port, finished)
        assert taken.returncode == 1 and "choose another with --port" in taken.stderr
    missing = live("--serve", tmp_path / "none")
    assert missing.returncode == 1 and "no such file" in missing.stderr
    assert live("--html", finished).returncode == 2
    assert live("--serve", "--once", finished).returncode == 2
