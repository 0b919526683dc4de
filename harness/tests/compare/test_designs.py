"""The benchmarks that tell what a design of a comparison finds, on data that is known."""

from benchmarks import host_speed, pairing


def test_a_scatter_of_nothing_finds_anything() -> None:
    noisy = pairing.Design("noisy", [0.1, -0.1, 0.05, -0.05, 0.0, 0.0], 45.0)
    calm = pairing.Design("calm", [0.01, -0.01, 0.005, -0.005, 0.0, 0.0], 45.0)
    assert noisy.in_budget == calm.in_budget == 20
    assert noisy.finds
    assert calm.finds
    assert noisy.finds > 9 * calm.finds > 0
    assert "too few blocks" in str(pairing.Design("short", [0.1, 0.2], 45.0))


def test_a_covariate_that_knows_the_noise_takes_it_away() -> None:
    """And one that knows nothing does not."""
    noise = [0.3, -0.2, 0.1, -0.1, 0.05, -0.15]
    slope, correlation = host_speed.within([[(x, 7 - 2 * x) for x in noise], [(x, 3 - 2 * x) for x in noise]])
    assert (round(slope, 6), round(correlation, 6)) == (-2.0, -1.0)
    shuffled = [0.1, 0.05, 0.3, -0.15, -0.2, -0.1]
    _, none = host_speed.within([list(zip(noise, shuffled, strict=True))])
    assert abs(none) < 0.6
