# SPDX-License-Identifier: Apache-2.0
"""What the prover says of a program stays the same where the program is said in other words.

The questions are those that heap scans of the corpus led to (tests/corpus/questions.jsonl). Nothing here says what the
right answer is: test_verdicts.py does, by the truths of the manifest.
"""

import functools
import json
import subprocess

import pytest

import corpus
import other_words
import runs

QUESTIONS = corpus.FOLDER / "questions.jsonl"


@functools.cache
def asked() -> list[dict]:
    return [json.loads(line) for line in QUESTIONS.read_text().splitlines()]


def said(question: dict, way: str) -> dict:
    source = (corpus.FOLDER / "programs" / f"{question['program']}.py").read_text()
    if way == "as it stands":
        return {"source": source, "question": question}
    made = other_words.WAYS[way](source, question)
    return {"source": made.source, "question": made.question}


@functools.cache
def answers() -> dict[tuple[str, str], dict]:
    """By program and way; all of them asked at once."""
    keys = [(one, way) for one in asked() for way in ("as it stands", *other_words.WAYS)]
    lines = "".join(json.dumps(said(one, way)) + "\n" for one, way in keys)
    done = subprocess.run([runs.build() / "tests" / "answer_questions"], input=lines, text=True, capture_output=True,
                          timeout=120, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {(one["program"], way): answer for (one, way), answer in zip(keys, found, strict=True)}


def essence(answer: dict) -> tuple:
    """Lines and spellings move with the program."""
    return tuple(answer.get(key) for key in ("answer", "kind", "value", "is_seen", "reallocated", "made_of_itself"))


@pytest.mark.parametrize("way", other_words.WAYS)
@pytest.mark.parametrize("program", [one["program"] for one in asked()])
def test_an_answer_stays_the_same(program, way):
    stands, other = answers()[program, "as it stands"], answers()[program, way]
    assert essence(stands) == essence(other), f"{stands}\n{other}"
