"""harness/benchmarks/instructions.py: what callgrind_annotate prints, and the table that is made of it."""

from benchmarks.instructions import by_function, table

ANNOTATED = """\
--------------------------------------------------------------------------------
Profile data file '/tmp/counted' (creator: callgrind-3.24.0)
--------------------------------------------------------------------------------
Events recorded:  Ir
Auto-annotation:  on

--------------------------------------------------------------------------------
Ir
--------------------------------------------------------------------------------
534,993,416 (100.0%)  PROGRAM TOTALS

--------------------------------------------------------------------------------
Ir                   file:function
--------------------------------------------------------------------------------
69,176,696 (12.93%)  ???:serde_json::ser::format_escaped_str_contents [/usr/local/bin/rust-sync]
32,690,881 ( 6.11%)  ./malloc/./malloc/malloc.c:_int_free [/usr/lib/x86_64-linux-gnu/libc.so.6]
11,782,377 ( 2.20%)  ???:<W as serde_core::ser::SerializeStruct>::serialize_field'2 [/usr/local/bin/rust-sync]
    20,000 ( 0.00%)  ???:<W as serde_core::ser::SerializeStruct>::serialize_field [/usr/local/bin/rust-sync]
     2,000 ( 0.00%)  ???:common::rows::time::h0123456789abcdef [/usr/local/bin/rust-sync]
"""


def test_recursions_and_builds_of_a_function_are_one() -> None:
    assert by_function(ANNOTATED) == {
        "serde_json::ser::format_escaped_str_contents": 69_176_696,
        "_int_free": 32_690_881,
        "<W as serde_core::ser::SerializeStruct>::serialize_field": 11_802_377,
        "common::rows::time": 2_000,
    }


def test_what_differs_is_told_per_request_and_the_most_first() -> None:
    first = by_function(ANNOTATED)
    later = first.copy()
    later["memset"] = 28_000_000
    later["_int_free"] -= 40_000_000 - 8_000_000
    later["common::rows::time"] += 1_000
    assert list(table({"a@1": first, "b@2": later}, 2_000)) == [
        "a@1                     56,836",
        "b@2                     54,836  -3.5%",
        "    -16,000  _int_free",
        "    +14,000  memset",
    ]
