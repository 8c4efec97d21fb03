"""Parameters of a device under test, in the form of dut/1, and which configurations are inside their ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["choice", "boolean", "integer"]


@dataclass(frozen=True)
class Parameter:
    """One setting of a device. `values` belongs to choices; minimum, maximum, step, scale and unit to integers."""

    name: str
    kind: Kind
    component: str
    default: Any
    values: tuple[Any, ...] = ()
    minimum: int = 0
    maximum: int = 0
    step: int = 1
    scale: Literal["linear", "log"] = "linear"
    unit: str | None = None

    def described(self) -> dict[str, Any]:
        """The parameter as `describe` answers it."""
        answer: dict[str, Any] = {"name": self.name, "kind": self.kind, "component": self.component}
        if self.kind == "choice":
            answer["values"] = list(self.values)
        if self.kind == "integer":
            answer |= {"min": self.minimum, "max": self.maximum, "step": self.step, "scale": self.scale}
            if self.unit is not None:
                answer["unit"] = self.unit
        return answer

    def problem(self, value: object) -> str | None:
        """Why a value is outside the parameter's range, None if it is inside.

        >>> Parameter("masks", "integer", "classifier", 1, minimum=1, maximum=8).problem(9)
        'masks must be a whole number from 1 to 8 in steps of 1, not 9'
        """
        if self.kind == "boolean":
            return None if isinstance(value, bool) else f"{self.name} must be true or false, not {value!r}"
        if self.kind == "choice":
            inside = any(type(value) is type(one) and value == one for one in self.values)
            return None if inside else f"{self.name} must be one of {list(self.values)}, not {value!r}"
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole and self.minimum <= value <= self.maximum and (value - self.minimum) % self.step == 0:  # type: ignore[operator]  # whole
            return None
        return f"{self.name} must be a whole number from {self.minimum} to {self.maximum} in steps of {self.step}, not {value!r}"


def completed(parameters: Sequence[Parameter], config: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A configuration with the defaults of the parameters that it leaves out, and what is wrong with it."""
    known = {parameter.name: parameter for parameter in parameters}
    full = {name: parameter.default for name, parameter in known.items()} | dict(config)
    problems = [f"unknown parameter {name!r}" for name in config if name not in known]
    problems += [problem for name, parameter in known.items() if (problem := parameter.problem(full[name]))]
    return full, problems
