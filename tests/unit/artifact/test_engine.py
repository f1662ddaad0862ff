import pytest

from hypotree.artifact.engine import Engine, parse_engine
from hypotree.errors import MisuseError, UnreadableError


def package(folder, *, name="sglang", version=None, file="version.py"):
    root = folder / name
    (root / "srt").mkdir(parents=True)
    (root / "srt" / "model.py").write_text("x = 1\n")
    if version is not None:
        (root / file).write_text(version)
    return root


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("sglang@0.5.9", ("sglang", "0.5.9", "")),
        ("sglang@0.5.10rc1.post2+cu128", ("sglang", "0.5.10rc1.post2+cu128", "")),
        ("vllm@0.33.0", ("vllm", "0.33.0", "")),
        ("trtllm", ("trtllm", "", "")),
        ("sglang:/opt/a b:c/sglang", ("sglang", "", "/opt/a b:c/sglang")),
        ("vllm:src", ("vllm", "", "src")),
    ],
)
def test_a_spec_is_a_name_with_a_version_or_a_path(spec, parts):
    assert parse_engine(spec) == parts


@pytest.mark.parametrize(
    "spec", ["", "llama.cpp", "sglang@", "sglang@latest", "sglang:", "SGLANG@1", "sglang@0.5.9\n"]
)
def test_what_is_no_spec_says_how_one_looks(spec):
    with pytest.raises(MisuseError, match=r"for example --engine sglang@0\.5\.9"):
        parse_engine(spec)


@pytest.mark.parametrize("where", ["package", "parent", "bare"])
def test_a_path_is_the_package_folder_or_the_folder_that_holds_it(tmp_path, where):
    root = package(tmp_path, version='__version__ = "0.5.9"\n')
    spec = {"package": f"sglang:{root}", "parent": f"sglang:{tmp_path}", "bare": str(root)}[where]
    engine = Engine(spec)
    assert (engine.name, engine.package, engine.version()) == ("sglang", root, "0.5.9")
    assert "srt/model.py" in engine.members()


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('__version__ = "0.5.9"', "0.5.9"),
        ("__version__ = '0.5.9'  # set by hand", "0.5.9"),
        ("__version__ = version = '0.5.9.dev3+g1234'", "0.5.9.dev3+g1234"),
        ('__version__: str = "0.5.9"', "0.5.9"),
        ("__version__: str\nversion: str\n__version__ = version = '0.33.0'", "0.33.0"),
        ('__version__="0.5.9"', "0.5.9"),
        ("from ._version import version", ""),
        ("__version__ = get()", ""),
        ("", ""),
        ("\xff\x00 binary", ""),
    ],
)
@pytest.mark.parametrize("file", ["version.py", "_version.py"])
def test_a_trees_version_is_what_its_version_file_says(tmp_path, text, version, file):
    package(tmp_path, version=text, file=file)
    assert Engine(f"sglang:{tmp_path}").version() == version


def test_the_next_version_file_is_asked_where_the_first_does_not_tell(tmp_path):
    root = package(tmp_path, name="vllm", version="from ._version import __version__\n")
    (root / "_version.py").write_text("__version__ = version = '0.33.0'\n")
    assert Engine(f"vllm:{tmp_path}").version() == "0.33.0"


def test_a_spec_without_a_path_is_its_own_content():
    one, same, other = Engine("sglang@0.5.9"), Engine("sglang@0.5.9"), Engine("sglang@0.5.10")
    assert one.content_digest() == same.content_digest() != other.content_digest()
    assert one.members() == one.identities() == ()
    assert [r.kind for r in one.reads] == ["spec"]


def test_a_changed_source_file_changes_a_trees_content(tmp_path):
    root = package(tmp_path)
    before = Engine(f"sglang:{root}").content_digest()
    (root / "srt" / "model.py").write_text("x = 2\n")
    assert Engine(f"sglang:{root}").content_digest() != before


def test_a_path_that_is_not_there_is_said(tmp_path):
    with pytest.raises(UnreadableError, match="no such file or folder"):
        Engine(f"sglang:{tmp_path / 'nope'}")
