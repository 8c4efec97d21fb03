"""The profile of an RNIC: a promoted calibration may apply to one driver or firmware only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from wallwatch.domain.catalogue.models import Profile
from wallwatch.domain.catalogue.promoted import profile_of


class RnicModel(str):
    """A model's name that also carries the driver and firmware; usable wherever a model's name is.

    >>> rnic_model = RnicModel("CX-6", "mlx5_core", "20.35.1012")
    >>> rnic_model == "CX-6", rnic_model.fw_ver
    (True, '20.35.1012')
    """

    __slots__ = ("driver", "fw_ver", "key")
    driver: str
    fw_ver: str
    key: tuple[str, str, str]
    """Model, driver, firmware: cached, because it is read forty thousand times per minute."""

    def __new__(cls, model: str, driver: str | None = None, fw_ver: str | None = None) -> RnicModel:
        rnic_model = super().__new__(cls, model)
        rnic_model.driver, rnic_model.fw_ver = driver or "", fw_ver or ""
        rnic_model.key = (str(model), rnic_model.driver, rnic_model.fw_ver)
        return rnic_model


def by_profile(models: Sequence[str | None], row: Callable[[Profile | None], Sequence[float]]) -> npt.NDArray[np.float64]:
    """A row of numbers for each RNIC, from the profile of its model, driver and firmware (None where it is unknown).

    Parameters
    ----------
    models : sequence
        Each a `RnicModel`, or a model's name, which stands for all its drivers and firmwares.
    row : function
        It is called once for each profile.

    Returns
    -------
    array (rnics, numbers)
    """
    keys = [one.key if isinstance(one, RnicModel) else (one or "", "", "") for one in models]
    places = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    rows = np.array([row(profile_of(*key)) for key in places], dtype=np.float64)
    return rows[[places[key] for key in keys]] if keys else np.empty((0, len(row(None))))
