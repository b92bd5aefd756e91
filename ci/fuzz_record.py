"""What campaigns and coverage came to, kept for ci/evidence."""

import json

from evidence_record import circumstances, place_of, write
from fuzz_campaign import never_evaluated, rows

LOG = place_of("fuzz", True).with_name("fuzz_log.jsonl")  # A line for each campaign, in order.


def added(counts):
    """Of several counts by invariant one: how often each was evaluated."""
    total = {}
    for one in counts:
        for invariant, times in one.items():
            total[invariant] = total.get(invariant, 0) + times
    return dict(sorted(total.items(), key=lambda pair: (pair[0][0], int(pair[0][1:]))))


def summed(campaigns):
    """Of lines of the log."""
    def total(name):
        return sum(campaign[name] for campaign in campaigns)

    return {"campaigns": len(campaigns), "core_hours": round(total("core_seconds") / 3600, 2),
            "programs": total("programs"), "operations": total("operations"),
            "findings": total("findings"),
            "evaluations": added(campaign["evaluations"] for campaign in campaigns)}


def record_campaign(campaign, command):
    """Writes fuzz.json, and a line to the log, from which fuzz.json has the sums of all."""
    table = list(rows(campaign))
    figures = circumstances(["ci/fuzz", *command], campaign.seconds)
    line = {**figures, "core_seconds": round(sum(row["seconds"] for row in table), 1),
            "programs": sum(row["programs"] for row in table),
            "operations": sum(row["operations"] or 0 for row in table),
            "findings": sum(len(row["findings"]) for row in table),
            # Of the runs that came to their end, by invariant.
            "evaluations": added(one.evaluations for one in campaign.results.values())}
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with open(LOG, "a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")
    campaigns = [json.loads(text) for text in LOG.read_text().splitlines()]
    write(place_of("fuzz", True), {
        **line, "interrupted": campaign.interrupted, "targets": table,
        "failed": [str(run.log) for run in campaign.failed],
        "invariants_never_evaluated": never_evaluated(campaign),
        "all_campaigns": summed(campaigns),
        "all_campaigns_of_this_revision":
            summed([one for one in campaigns if one["revision"] == figures["revision"]])})
