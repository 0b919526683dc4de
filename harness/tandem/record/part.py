"""What every part of a record is made of."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer


def _six_digits(value: float) -> float:
    return float(f"{value:.6g}")


Number = Annotated[float, PlainSerializer(_six_digits)]
"""A float that is written with six significant digits, so that a difference of two records is readable."""


Figure = Annotated[Number, AfterValidator(_six_digits)]
"""A float that is measured: it has six significant digits from the start, so that what was made is what is read again."""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True, validate_assignment=True)
