"""What every part of a record is made of."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer


def _six_digits(value: float) -> float:
    return float(f"{value:.6g}")


Number = Annotated[float, PlainSerializer(_six_digits)]
"""A float that is written with six significant digits, so that a difference of two records is readable."""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
