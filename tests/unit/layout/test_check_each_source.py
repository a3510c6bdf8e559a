# SPDX-License-Identifier: Apache-2.0
"""A source that gets by with what another one of its unit includes is found."""

import json

import check_each_source


def made(folder, compiler="c++ -std=c++20"):
    sources = {
        "analyzer/whole.cpp": "#include <vector>\nint first(const std::vector<int>& all) { return all[0]; }\n",
        "analyzer/lacking.cpp": "int last(const std::vector<int>& all) { return all.back(); }\n",
    }
    unit = folder / "build" / "joined" / "unit_0.cpp"
    for name, text in {**sources, str(unit): "".join(f'#include "{name}"\n' for name in sources)}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = f"{compiler} -I{folder} -O2 -o unit_0.o -c {unit}"
    entries = [{"directory": str(folder), "file": str(unit), "command": command}]
    (folder / "build" / "compile_commands.json").write_text(json.dumps(entries))
    return folder / "build"


def run(monkeypatch, folder, *arguments):
    monkeypatch.setattr(check_each_source, "ROOT", folder)
    monkeypatch.setattr("sys.argv", ["check_each_source.py", *arguments])
    return check_each_source.main()


def test_source_that_lacks_an_include_is_found(tmp_path, monkeypatch, capsys):
    assert run(monkeypatch, tmp_path, "--build", str(made(tmp_path))) == 1
    said = capsys.readouterr().out
    assert "analyzer/lacking.cpp does not compile by itself" in said
    assert "2 sources, 1 of which" in said


def test_sources_elsewhere_are_left_alone(tmp_path, monkeypatch):
    assert run(monkeypatch, tmp_path, "--build", str(made(tmp_path)), "analyzer/whole") == 0


def test_nothing_to_check_is_no_success(tmp_path, monkeypatch):
    assert run(monkeypatch, tmp_path, "--build", str(made(tmp_path)), "interpose/") == 2
    assert run(monkeypatch, tmp_path, "--build", str(tmp_path / "none")) == 2
