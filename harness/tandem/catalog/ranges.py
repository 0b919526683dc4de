"""Ranges as people write them."""


def expand(text: str) -> list[int]:
    """The whole numbers of "0,2-3": both ends of a range included, in the order written; none for ""."""
    out: list[int] = []
    for span in filter(None, text.split(",")):
        low, _, high = span.partition("-")
        out.extend(range(int(low), int(high or low) + 1))
    return out
