"""The outline of reports, module text, and thunk sequences."""

from textwrap import dedent

import marked_dump
from hlo_lsp.model.dump_file import DumpFile
from ide.navigation.test_outline import drawn


def _drawn(text: str) -> str:
    return drawn(DumpFile.of_text(dedent(text)))


def test_report_has_memory_spaces_and_tables() -> None:
    drawing = _drawn("""\
        Memory Space: default (color=0)
        Total bytes: 1024 (1.0KiB)
          cumulative_size;       size;       offset; used_by_n_values; shapes_list
          ------------------------------------------------------------
               512B(100%);       512B;            0;                1; f32[128]

          cumulative_size;       size;       offset; used_by_n_values; shapes_list
          ------------------------------------------------------------
               512B(100%);       512B;            0;                1; f32[128]


        Memory Space: vmem (color=1)
        Total bytes: 512 (512B)
          cumulative_size;       size;       offset; used_by_n_values; shapes_list
          ------------------------------------------------------------
               512B(100%);       512B;            0;                2; 2×f32[128]

        """)
    assert drawing == dedent("""\
        Memory Space default (color 0) 0-8
          table 2-4
          table 6-8
        Memory Space vmem (color 1) 11-15
          table 13-15""")


def test_old_report_lists_allocations_twice() -> None:
    drawing = _drawn("""\
        Total bytes used: 758680 (740.9KiB)

        Allocations sorted by size:

        cumulative_size; total_size - cumulative_size; allocation
        ------------------------------------------------------------------------------
          472.9KiB( 64%);   268.0KiB; allocation 7: size 472.9KiB, preallocated-temp:
          604.9KiB( 82%);   136.0KiB; allocation 0: size 132.0KiB, constant:


        Allocations sorted by size with their values:
        allocation 7: size 472.9KiB, preallocated-temp:

        \tcumulative_size;       size;       offset; used_by_n_values; shapes_list
        \t------------------------------------------------------------
        \t 132.0KiB( 28%);   132.0KiB;          896;                5; 5×f32[33,8,128]

        allocation 0: size 132.0KiB, constant:
        """)
    assert drawing == dedent("""\
        Total bytes used (740.9 KiB) 0-0
        Allocations sorted by size 2-7
          allocation 7 (472.9KiB) 6-6
          allocation 0 (132.0KiB) 7-7
        Allocations with their values 10-17
          allocation 7 (472.9KiB) 11-15
            table 13-15
          allocation 0 (132.0KiB) 17-17""")


def test_computations_contain_their_instructions() -> None:
    assert drawn(marked_dump.split().dump.files[-1]) == dedent("""\
        jit_f (HloModule) 0-0
        region 2-6
          p (parameter) 3-3
          q (parameter) 4-4
          add.9 (add) 5-5
        fused 8-13
          param (parameter) 9-9
          constant.1 (constant) 10-10
          reduce.1 (reduce) 11-11
          tuple.1 (tuple) 12-12
        fused.1 15-20
          param.1 (parameter) 16-16
          param.2 (parameter) 17-17
          broadcast.1 (broadcast) 18-18
          add.1 (add) 19-19
        main (ENTRY) 22-29
          x.1 (parameter) 23-23
          fusion (fusion) 24-24
          get-tuple-element (get-tuple-element) 25-25
          get-tuple-element.1 (get-tuple-element) 26-26
          negate.7 (negate) 27-27
          fusion.2 (fusion) 28-28""")


def test_location_tables_are_sections() -> None:
    drawing = _drawn("""\
        HloModule m

        FileNames
        1 "a.py"
        2 "b.py"

        StackFrames
        1 {file_location_id=1 parent_frame_id=1}


        %region (p: f32[]) -> f32[] {
          ROOT %p = f32[] parameter(0)
        }
        """)
    assert drawing == dedent("""\
        m (HloModule) 0-0
        FileNames 2-4
        StackFrames 6-7
        region 10-12
          p (parameter) 11-11""")


def test_thunks_nest_by_indentation() -> None:
    drawing = _drawn("""\
        001: kCopy         [source       | next=002 (1)] kCopy
        002: kWhile        [prev=001 (1) | sink        ]
        condition:
            003: kCustomKernel [source | sink] compare grid: [1, 1, 1] threads: [1, 1, 1]
          body:
            004: kDynamicSliceFusion [source       | next=006 (1)] params=1, results=1
                005: kCopy [source | sink] kCopy
            006: kCustomKernel       [prev=004 (1) | sink        ] add grid: [8, 1, 1]
        """)
    assert drawing == dedent("""\
        001 kCopy 0-0
        002 kWhile 1-7
          003 kCustomKernel (compare) 3-3
          004 kDynamicSliceFusion 5-6
            005 kCopy 6-6
          006 kCustomKernel (add) 7-7""")


def test_thunks_of_older_releases() -> None:
    drawing = _drawn("""\
        kKernel\t, kernel = loop_a, launch dimensions = blocks: {2, 1, 1}
        kGemm  \t
        """)
    assert drawing == "kKernel (loop_a) 0-0\nkGemm 1-1"
