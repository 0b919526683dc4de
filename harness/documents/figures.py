"""Every figure that a document may ask for: name -> function of the records and the mark's arguments."""

from documents import bench, comparisons, experiments, pairs, selftest, verification
from documents.fill import Figure

FIGURES: dict[str, Figure] = {
    # the reference bench
    "reference-table": bench.reference_table,
    "reference-length": bench.length,
    "reference-goodput": bench.goodput,
    "reference-cpu": bench.cpu,
    "reference-cpu-mean": bench.cpu_mean,
    "reference-steal": bench.steal,
    "reference-shared-cpus": bench.shared_cpus,
    "reference-app-share": bench.app_share,
    "reference-ceiling": bench.ceiling,
    "reference-hiccup-cost": bench.hiccup_cost,
    "reference-in-flight": bench.in_flight,
    # published experiments
    "experiments": experiments.summary,
    "claims": experiments.claims,
    "sentence": experiments.sentence,
    "mean": experiments.mean,
    "published": experiments.published,
    "ratio": experiments.ratio,
    "published-ratio": experiments.published_ratio,
    "claim": experiments.word,
    "of-ceiling": experiments.of_ceiling,
    "span": experiments.least_and_greatest,
    "held": experiments.held,
    # comparisons
    "compared-table": comparisons.compared_table,
    "compared": comparisons.compared,
    "compared-verdict": comparisons.word,
    "compared-mean": comparisons.mean,
    "compared-length": comparisons.length,
    "compared-steal": comparisons.steal,
    "known-difference": comparisons.added,
    "designs": comparisons.designs,
    "wake-up-slope": comparisons.wake_up_slope,
    "wake-up-scatter": comparisons.wake_up_scatter,
    "wake-up-effect": comparisons.wake_up_effect,
    # what verification costs
    "verification-on-the-wire": verification.on_the_wire,
    "verification-of-a-start": verification.of_a_start,
    # sources
    "pairs": pairs.all_pairs,
    # the self-test
    "selftest-checks": selftest.checks,
    "selftest-date": selftest.date,
    "selftest": selftest.found,
}
