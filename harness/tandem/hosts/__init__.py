"""Hosts: the one seam through which machines are read and their processes reached. Nothing outside this folder does that.

`Host` (host.py) is the interface; a probe takes one as a parameter. It has two implementations:

* `Here` (here.py): the machine that the harness's container runs on, whose PID and cgroup namespaces it shares. `HERE` is
  that machine, for the places that build probes.
* `Remote` (remote.py): a machine behind another Docker engine. An agent (agent.py), which is `Here` in a small container there, is
  asked over execnet for whatever `Host` names. `Engine` (engine.py) reaches the engine through one OpenSSH connection (ssh.py),
  gives it images, and starts the agent.

A `Remote` differs from `Here` in this:

* errors are those of the interface, and OSError also where the agent does not answer in time (remote.CALL_S) or is gone;
* PIDs are those that its engine names, and mean nothing on another host;
* moments are this machine's time: `Remote.clock` is measured when it is made, and a clock that cannot be known to a few
  milliseconds is refused;
* `usages` has its own moment, because a counter is worth as much as the moment that it is read at;
* `harness_cgroup` is the agent's, because that is the part of the harness that uses CPU there;
* the files of `psrecord` and `capture` are brought home when they are stopped.

`SeveralHosts` (several.py) counts several hosts as one machine. Where a lab is named, tandem.lab.lab_hosts makes these; otherwise
nothing of SSH and agents is imported. Outside this folder import these names and those of `tandem.hosts.host`, nothing else.
"""

from typing import Final

from tandem.hosts.here import Here
from tandem.hosts.host import Host

__all__ = ["HERE", "Here", "Host"]

HERE: Final[Host] = Here()
"""The machine that this process runs on."""
