"""Navigation, hovers, and completion for FileCheck variables in HLO tests."""

import pytest

from completion_cursor import candidates_at, split_at_cursor
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.ide.hover.hover import hover_card
from hlo_lsp.ide.navigation.definitions import definitions
from hlo_lsp.ide.navigation.references import declarations_and_references
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from marks import mark

_TEST = mark("""
    // RUN: hlo-opt %s --passes=simplify | FileCheck %s
    HloModule m

    // CHECK: %[[SUM:.*]] = f32[] add(
                 ^^^ capture
    // CHECK-NEXT: ROOT %{{.*}} = f32[] negate(%[[SUM]]), operand [[SUM]]
                                                  ^^^ use
    // CHECK: [[OTHER:.*]]
                ^^^^^ other
    ENTRY main {
      a = f32[] parameter(0)
      sum = f32[] add(a, a)
      ROOT n = f32[] negate(sum)
    }
    """)


@pytest.fixture(scope="module")
def file() -> DumpFile:
    return DumpFile.of_text(_TEST.text)


def _target(file: DumpFile, name: str) -> CursorTarget:
    found = cursor_target_at(file, *_TEST[name].position)
    assert found is not None
    return found


def test_use_leads_to_its_capture(file: DumpFile) -> None:
    (place,) = definitions(Compile([file]), _target(file, "use"))
    capture = _TEST["capture"]
    assert (place.line, place.start, place.end) == (capture.line, capture.start, capture.end)


def test_references_have_every_use(file: DumpFile) -> None:
    for name in ("capture", "use"):
        captures, uses = declarations_and_references(Compile([file]), _target(file, name))
        assert [place.line for place in captures] == [_TEST["capture"].line]
        assert [place.line for place in uses] == [_TEST["use"].line] * 2


def test_hover_shows_the_line_of_the_capture(file: DumpFile) -> None:
    card = hover_card(Compile([file]), _target(file, "use"))
    assert card is not None
    assert card.title == "SUM"
    facts = [(fact.label, fact.text) for fact in card.facts]
    assert facts == [("line 4", "`// CHECK: %[[SUM:.*]] = f32[] add(`"), ("uses", "2 uses")]


def test_captures_and_instructions_are_completed() -> None:
    head = "HloModule m\n\n// CHECK: [[A:.*]] = [[B:.*]]\n"
    body = "\nENTRY e {\n  x.1 = f32[] parameter(0)\n}\n"
    for line, labels in (("// CHECK: [[|", ["B", "A"]), ("// CHECK-SAME: %|", ["x.1"])):
        found = candidates_at(split_at_cursor(head + line + body))
        assert [each.label for each in found] == labels
    assert candidates_at(split_at_cursor(f"{head}// CHECK: f|{body}")) == []
