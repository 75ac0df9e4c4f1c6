"""Which candidates make it into a list."""

from hlo_lsp.ide.completion.candidates import LIMIT, Kind, best, matcher, word


def test_a_short_list_is_for_the_editor_to_narrow_down() -> None:
    few = [word(name, Kind.INSTRUCTION) for name in ("%a", "%b")]
    assert best(few, "%b") == (few, True)


def test_of_a_long_list_those_are_chosen_that_match() -> None:
    many = [word(f"%fusion.{number}", Kind.INSTRUCTION) for number in range(3 * LIMIT)]
    found, complete = best(many, "")
    assert (found, complete) == (many[:LIMIT], False)
    found, complete = best([*many, word("%copy.7", Kind.INSTRUCTION)], "%co")
    assert [candidate.label for candidate in found] == ["%copy.7"]
    assert not complete


def test_beginnings_come_before_words_inside_and_those_before_scattered_characters() -> None:
    names = ["%d_copy", "%cxoxpxy", "%copy.1", "%other"]
    many = [word(name, Kind.INSTRUCTION) for name in names * LIMIT]
    found, _ = best(many, "copy")
    assert {candidate.label for candidate in found[:LIMIT]} == {"%copy.1"}
    assert [matcher("copy")(name) for name in names] == [1, 2, 0, None]
    assert matcher("%COPY")("copy") == 0


def test_signs_of_expressions_are_signs() -> None:
    assert matcher("a.b")("aXb") is None
    assert matcher("(f32[")("(f32[8], s32[])") == 0
