"""tandem.lab.file_io: what is removed when a run is interrupted."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from python_on_whales.exceptions import NoSuchContainer

from tandem.lab.file_io import FileIoContainer


class Engine:
    """Docker, as far as a run asks it. A volume that a container uses cannot be removed."""

    def __init__(self, interrupted: str) -> None:
        self.interrupted, self.containers, self.volumes = interrupted, list[str](), list[str]()
        self.container = SimpleNamespace(create=self._create, wait=self._step("wait"), remove=self._remove)
        self.volume = SimpleNamespace(create=self._create_volume, remove=self._remove_volume)

    def _step(self, name: str) -> Any:
        def step(*_: object, **__: object) -> None:
            if name == self.interrupted:
                raise KeyboardInterrupt

        return step

    def _create_volume(self, name: str, labels: dict[str, str]) -> None:
        self.volumes.append(name)
        self._step("volume")()

    def _remove_volume(self, name: str) -> None:
        assert not self.containers, "volume is in use"
        self.volumes.remove(name)

    def _create(self, *_: object, name: str, **__: object) -> Any:
        self.containers.append(name)
        self._step("create")()
        return SimpleNamespace(start=self._step("start"))

    def _remove(self, name: str, *, force: bool, volumes: bool) -> None:
        if name not in self.containers:
            raise NoSuchContainer(["docker"], 1)
        self.containers.remove(name)


@pytest.mark.parametrize("moment", ["volume", "create", "start", "wait"])
def test_an_interrupted_run_leaves_neither_container_nor_volume(tmp_path: Path, moment: str) -> None:
    """Also where the engine has made one of them, and its name is not returned any more."""
    asked, engine = FileIoContainer(tmp_path), Engine(moment)
    asked.docker = engine  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        asked.run(["1"])
    assert (engine.containers, engine.volumes) == ([], [])
