"""Every figure that a document may ask for: name -> function of the records and the mark's arguments."""

from tandem.docs import campaign, comparisons, experiments, selftest
from tandem.docs.fill import Figure

FIGURES: dict[str, Figure] = {
    # the reference campaign
    "reference-table": campaign.reference_table,
    "reference-length": campaign.length,
    "reference-goodput": campaign.goodput,
    "reference-cpu": campaign.cpu,
    "reference-cpu-mean": campaign.cpu_mean,
    "reference-steal": campaign.steal,
    "reference-shared-cpus": campaign.shared_cpus,
    "reference-app-share": campaign.app_share,
    "reference-ceiling": campaign.ceiling,
    "reference-hiccup-cost": campaign.hiccup_cost,
    "reference-in-flight": campaign.in_flight,
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
    # the self-test
    "selftest-checks": selftest.checks,
    "selftest-date": selftest.date,
    "selftest": selftest.found,
}
