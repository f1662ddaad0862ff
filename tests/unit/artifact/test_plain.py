from hypothesis import given
from hypothesis import strategies as st

from hypotree.artifact.plain import plain


def test_ordinary_text_in_any_script_stays_as_it_is():
    assert plain("layers.0.q_proj/重み ë C:\\x") == "layers.0.q_proj/重み ë C:\\x"


def test_escape_codes_line_ends_and_bidi_marks_become_visible():
    assert plain("a\x1b[31mb\r\n\tc") == r"a\x1b[31mb\x0d\x0a\x09c"
    assert plain("a\u202eb\u200bc\u2066d\ufeff") == r"a\u202eb\u200bc\u2066d\ufeff"
    assert plain("\x9b2J\x7f\u2028\u00a0\U000e0041") == r"\x9b2J\x7f\u2028\xa0\U000e0041"


def test_blank_fillers_and_lone_surrogates_become_visible():
    assert plain("a\u3164\u2800\ufe0f\ud800") == r"a\u3164\u2800\ufe0f\ud800"


def test_long_text_loses_its_middle():
    assert plain("a" * 300, 21) == "a" * 10 + "…" + "a" * 10
    assert plain("head" + "x" * 10**7 + "tail", 20).startswith("headx")
    assert plain("head" + "x" * 10**7 + "tail", 20).endswith("xtail")


@given(st.text(st.characters(), max_size=300), st.integers(8, 60))
def test_whatever_comes_out_is_short_visible_encodable_and_stable(text, limit):
    shown = plain(text, limit)
    assert len(shown) <= limit
    assert shown.isprintable()
    shown.encode()
    assert plain(shown, limit) == shown
