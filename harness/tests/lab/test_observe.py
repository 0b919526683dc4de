"""tandem.lab.observe: what each application's window sees of a load that several had at once."""

from dataclasses import replace

from harness_windows import series

from tandem.hosts.host import Usage
from tandem.lab.observe import Counters
from tandem.probes.sampler import Sample, Series


def counters(samples: list[Sample]) -> Counters:
    """As they are after a window of A and B."""
    found = Counters.__new__(Counters)
    found._apps = {"A": "app A", "B": "app B"}
    found._series, found._busiest = Series(samples), {"A": 1.0, "B": 2.0}
    found._addresses = {"A": {"10.0.0.2"}, "B": {"10.0.0.3"}}
    return found


def test_each_window_sees_its_own_application_and_forgets_none() -> None:
    both = [
        replace(
            one,
            connected={"10.0.0.2": 19 + n % 2, "10.0.0.3": n, "10.0.0.9": 500},
            usage={
                **{role: usage for role, usage in one.usage.items() if role != "app"},
                "app A": one.usage["app"],
                "app B": Usage(cpu_s=10.0 + 3 * n, anonymous_bytes=7, throttled_s=0.0),
            },
        )
        for n, one in enumerate(series().samples)
    ]
    seen = counters(both)
    first, second = (seen.part(label).series for label in ("A", "B"))
    assert second.samples[0].usage["app"].cpu_s == 10.0
    assert second.samples[0].usage["app A"] == first.samples[0].usage["app"] == both[0].usage["app A"]
    assert {sum(u.cpu_s for u in s.usage.values()) for s in second.samples} == {
        sum(u.cpu_s for u in s.usage.values()) for s in both
    }
    assert seen.part("B").busiest_thread_s == 2.0
    assert [seen.part(label).db_connections_max for label in ("A", "B")] == [20, len(both) - 1]
    seen._addresses = {}
    assert seen.part("A").db_connections_max is None, "nobody knows whose they are"
