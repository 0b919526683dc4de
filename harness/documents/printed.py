"""What a benchmark printed, as it is."""

from documents.records import BENCHMARKS, Records


def printed(records: Records, name: str) -> str:
    """As a block of code. name: of the file that holds it, beside the others' figures."""
    file = records.root / BENCHMARKS / f"{name}.txt"
    return f"```text\n{file.read_text().rstrip()}\n```" if file.is_file() else "not measured"
