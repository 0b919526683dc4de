"""Hosts: the one seam through which roles and probes are reached. Nothing outside this folder reads a machine.

`Host` (host.py) is the interface; a probe takes one as a parameter. `Here` (here.py) is its one constructor today: the
machine that the harness's container runs on, whose PID and cgroup namespaces it shares. `HERE` is that machine, for
the places that build probes. Outside this folder import these names and those of `tandem.hosts.host`, nothing else.

A host behind another Docker engine would be a second constructor beside `Here`, in a file of its own here, such as
`Remote(engine: DockerClient)`. It would start one small agent per host, a container of that engine with the host's PID
and cgroup namespaces and SYS_NICE as harness/run gives them to this one, and let it run `Here` there. It must provide:

* every member of `Host`, with the same units and meanings, and errors as the interface tells them: OSError where a
  process or container is gone, and also where the agent no longer answers;
* PIDs as that engine tells them (`docker inspect`), which are numbers of that host and mean nothing on another;
* moments in this machine's time: `Oversleep.at_s` and the wall time of `Clocks` are compared with when a load began
  here, so it has to know how far its clock is from ours, and void what it cannot know well enough;
* readings that take no longer than tandem.probes.sampler.READ_S between question and answer, or that carry their own
  moment with them: a counter is worth as much as the moment that it is read at;
* `harness_cgroup`: the agent's own, because that is the part of the harness that uses CPU there;
* `is_harness`: False for every container, because this process runs here;
* `psrecord` and `capture`: their files brought home to `file` when they are stopped. A capture needs the host's network
  namespace and NET_RAW.

Whoever plans then asks the host of the role, not `HERE`: how many CPUs it has, what it can hold, whether it is quiet.
"""

from typing import Final

from tandem.hosts.here import Here
from tandem.hosts.host import Host

__all__ = ["HERE", "Here", "Host"]

HERE: Final[Host] = Here()
"""The machine that this process runs on."""
