"""The lies of contract/broken that a run has to notice, and by what: containers/test_conditions.py makes them, and
docs/reference/lies.md tells them."""

LIARS = {
    "missing-statement": ("recipe", "sql-mismatch"),
    "extra-statement": ("recipe", "sql-extra"),
    "wrong-body": ("recipe", "wrong-on-wire"),
    "spaces-in-json": ("recipe", "wrong-body"),
    "several-in-flight": ("recipe", "witnesses-disagree"),
    "synced-in-flight": ("recipe", "witnesses-disagree"),
    "blank-line-first": ("recipe", "wrong-on-wire"),
    "known-beforehand": ("recipe", "wrong-length"),
    "long-body-at-times": ("recipe", "wrong-length"),
    "closes-at-times": ("recipe", "not-kept-alive"),
    "pool-unbounded": ("recipe", "too-many-connections"),
    "rows-not-found": ("recipe", "sql-rows"),
    "first-recipe": ("recipes", "not-random"),
    "answers-first": ("recipe", "too-early"),
    "delay-shortened": ("work", "too-early"),
    "commit-unflushed": ("note-write", "foreign-settings"),
    "role-unflushed": ("note-write", "foreign-settings"),
    "start-unflushed": ("note-write", "not-flushed"),
    "delay-ignored": ("work", "wrong-on-wire"),
    "note-lost-under-load": ("note-write", "not-stored"),
    "short-keep-alive": ("idle", "idle-lost"),
    "closes-always": ("recipe", "not-kept-alive"),
    "slow-statements": ("recipe", "sql-extra-time"),
    "last-in-first-out": ("recipe", "starving"),
    "nagle": ("index", "held-back"),
    "large-refused": ("mixed", "wrong-answers"),
    "numbers-dropped": ("mixed", "wrong-on-wire"),
}
"""Fault of contract/broken -> the scenario in which a window must notice it, and the finding that says so. What the
self-test's liars do (tandem.selftest.liars) is not among them. Two seconds hold four whole bodies that are compared by a
request of the harness's own, so that `wrong-body` is asked of a fault of every body; one body of seven shows on the wire."""

CHALLENGED = {
    "cached": ("recipe", {"answered-locked", "change-unseen"}),
    "answers-first": ("recipe", {"answered-locked", "change-unseen"}),
    "rows-dropped": ("recipe", {"change-unseen"}),
    "steps-kept": ("recipe", {"change-unseen"}),
    "rows-known": ("recipe", {"rows-remembered"}),
    "session-ahead": ("recipe", {"session-not-awaited"}),
    "session-unheeded": ("fan-out", {"change-unseen"}),
    "work-remembered-under-load": ("work-large", {"work-remembered"}),
    "acknowledged-early": ("note-write", {"not-readable"}),
    "never-reads": ("idle", {"idle-unanswered"}),
}
"""Fault -> the scenario, and the findings of a start that is challenged after its load."""
BY_CHANCE = {
    "answers-first": {"answered-first"},
    "answers-first, far away": {"answered-first"},
    "session-ahead": {"answered-locked"},
    "session-ahead, far away": {"answered-locked"},
}
"""What shows only by chance. The last of the few who ask may meet a recipe that this liar has not in its memory, and is so slow that
nothing is left to come. What was asked ahead of the session may be all, and then the other table is not needed any more."""
CHALLENGED_FAR = ("answers-first", "session-ahead")
"""Those that are challenged with a database that is far away, too."""
UNDECIDED = "not-challenged"

WARNED = {"starving", "held-back"}
"""Findings that leave a window valid."""
HIDDEN_MEMORY = "heap-in-shared-memory", "app_memory_peak_bytes", 300 << 20
"""A fault that no finding tells, the figure of a window that shows it, and how much it is at least."""

LEAK = "leaks-memory", "memory_growth_mib_per_minute"
"""A fault that only a long run shows, and its figure (test_soak_end_to_end.py)."""

PATHS = dict.fromkeys(("start-unflushed", "closes-always", "blank-line-first", "nagle"), "direct")
"""Where the lie needs a path of its own: PgBouncer passes no options on; HAProxy counts connections itself, passes no blank line, and joins the parts of an answer."""
RTT_MS = {"answers-first": 5}
"""Where a window sees the lie only if the database is far away: next door the statements take less than all the rest."""
