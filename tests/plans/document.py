"""The evaluation of plans as figures and as a page."""
# ruff: noqa: E501  # lines of the page are as long as those of the other pages

from statistics import mean
from typing import Any

from tests.plans.cases import END_S, MIXED_HOSTS, MIXED_SEEDS, MIXED_WINDOW, PAIR, PLAN_AT, WINDOWS
from tests.plans.workloads import CAPACITY, MASKS

from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.performance.formulas import latency_us

PAPER = {"bandwidth": 0.404, "latency": 0.305, "harmed": 0.0003}
"""Section 5.2 (at 15,000 flows) and section 5.3."""
HARM = 0.05
Row = dict[str, Any]


def figures(found: dict[str, Row], flows: int) -> Row:
    """The figures of all cases."""
    models = {model: _model(model, found[f"with {model}"], found[f"without {model}"]) for model in CAPACITY}
    gains = {
        window: {name: mean(one["windows"][window][name] for one in models.values()) for name in ("bandwidth_gain", "latency_gain")}
        for window in WINDOWS
    }
    return {
        "flows": flows,
        "paper": PAPER,
        "mean_gains": gains,
        "models": models,
        "mixed": _mixed(found),
        "warm_up": {
            name: {
                "missed_per_s": mean(one["missed_per_s"] for one in found[name]["windows"].values()),
                "sent_gbps": mean(one["sent_gbps"] for one in found[name]["windows"].values()),
                "likely": sum(plan["likely"] for plan in found[name]["plans"]),
                "warmed": sum(plan["warmed"] for plan in found[name]["plans"]),
            }
            for name in found
            if "max-idle" in name
        },
        "cpu_s": sum(one["cpu_s"] for one in found.values()),
    }


def _model(model: str, planned: Row, alone: Row) -> Row:
    windows = {}
    for window in WINDOWS:
        ours, others = (
            {name: mean(one["windows"][host][window][name] for host in PAIR) for name in planned["windows"][PAIR[0]][window]}
            for one in (planned, alone)
        )
        windows[window] = {
            "with": ours,
            "without": others,
            "bandwidth_gain": ours["bandwidth_gbps"] / others["bandwidth_gbps"] - 1.0,
            "latency_gain": 1.0 - ours["latency_us"] / others["latency_us"],
        }
    first = [plan for plan in planned["plans"] if plan["at_s"] < PLAN_AT[1]]
    expected, low, high = (
        {name: mean(plan[f"expected_{when}"][name] for plan in first) for name in first[0]["expected_after"]}
        for when in ("after", "low", "high")
    )
    return {
        "windows": windows,
        "expected": expected,
        "expected_low": low,
        "expected_high": high,
        "latency_gain_at_most": 1.0 - latency_us(profiles()[model].performance, 0.0, 0.0) / windows["after"]["without"]["latency_us"],
        "gain_met": (windows["after"]["with"]["bandwidth_gbps"] - windows["after"]["without"]["bandwidth_gbps"])
        / (expected["bandwidth_gbps"] - windows["after"]["without"]["bandwidth_gbps"]),
        "cost": {
            name: [
                mean(plan[name] for plan in plans) if plans else 0.0 for plans in (first, [p for p in planned["plans"] if p not in first])
            ]
            for name in ("operations", "took_s", "newcomers", "in_software", "longest_in_software_s", "missed", "proof_ms", "plan_ms")
        },
        "refused": {
            reason: sum(plan["refused"].get(reason, 0) for plan in planned["plans"])
            for reason in sorted({reason for plan in planned["plans"] for reason in plan["refused"]})
        },
    }


def _mixed(found: dict[str, Row]) -> Row:
    """How many RNICs of the mixed fleets lost more than 5% of bandwidth or latency."""
    planned = harmed = cards = 0
    sent, later = [], []
    harmed_planned, harmed_sent = 0, []
    for seed in MIXED_SEEDS:
        ours, others = found[f"mixed {seed} with"], found[f"mixed {seed} without"]
        touched = {plan["host"] for plan in ours["plans"]}
        for host, one in ours["hosts"].items():
            alone = others["hosts"][host]
            sent.append(one["sent_gbps"] / alone["sent_gbps"] - 1.0)
            later.append(one["latency_us"] / alone["latency_us"] - 1.0)
            cards += 1
            planned += host in touched
            if sent[-1] < -HARM or later[-1] > HARM:
                harmed += 1
                harmed_planned += host in touched
                harmed_sent.append(sent[-1])
    return {
        "cards": cards,
        "planned": planned,
        "harmed": harmed,
        "harmed_planned": harmed_planned,
        "harmed_sent": harmed_sent,
        "harmed_at_most": 3.0 / cards if not harmed else None,
        "sent_gain": mean(sent),
        "least_sent_gain": min(sent),
        "latency_gain": -mean(later),
        "least_latency_gain": -max(later),
    }


def _behind_us(f: Row, kind: str) -> float:
    """Time in both RNICs for a packet whose flow has no exact entry, if its mask has the same position at both ends."""
    lookups = f["models"]["CX-6"]["windows"]["after"][kind]["queries_of_others"]
    return latency_us(profiles()["CX-6"].performance, lookups, lookups)


def document(f: Row) -> str:
    """The page."""
    sections = [_introduction(f), _gains(f), _lookups(f), _cost(f), _bursts(f), _harm(f["mixed"]), _warm_up(f["warm_up"])]
    lines = [line for section in sections for line in section]
    return "\n".join([*lines, "", f"All cases took {f['cpu_s']:.0f} s of CPU time.", ""])


def _introduction(f: Row) -> list[str]:
    fewer = "" if f["flows"] == 15_000 else f"\nThe paper's RNICs had 15,000 flows; this run has fewer (`ARGS='--flows {f['flows']}'`)."
    return [
        "# Evaluation of mask plans",
        "",
        "`make evaluate-plans` writes this page; [plans.md](plans.md) describes what a plan does.",
        "",
        f"- **Simulated**: pairs of RNICs of one model, each with {f['flows']:,} flows (half of its own tenants, half of its peer's), in",
        "  `fleetsim drive`: ordered mask chains, ageing, insertions, software forwarding and the paper's law of performance, written in Go",
        "  separately from the planner.",
        "- **Plans** come from the shipped planner, from dumps of the simulated switch.",
        "  They are applied to that switch (`dpctl/add-flow`, `dpctl/del-flow`) at the plan's pace while traffic continues.",
        f"- **No figure comes from a real RNIC.**{fewer}",
        "",
        f"The {MASKS} masks per RNIC were chosen before any measurement with a plan, so that RNICs without plans lose about as much as the",
        "paper's at 15,000 flows (Figure 14: 41% on a CX-4, 70 Gbit/s on an E810).",
        "Demand is what the RNIC forwards without masks, in eight groups of flows with equal shares (Zipf's law).",
        "A fifth of the flows send for 4 s and pause for 20 s, a fifth live for two minutes, and new tenants with new masks arrive at 130 s.",
        f"Plans run at {' s and '.join(f'{at:g}' for at in PLAN_AT)} s of {END_S:g} s.",
        "",
    ]


def _gains(f: Row) -> list[str]:
    after, again, new = (f["mean_gains"][name] for name in ("after", "planned again", "new tenants"))
    at_most = mean(one["latency_gain_at_most"] for one in f["models"].values())
    lines = [
        "## Bandwidth and latency",
        "",
        "Bandwidth is what the chains of both ends allow, latency the time in both RNICs; each is the mean of both RNICs.",
        "The gain compares runs with and without plans at the same time.",
        "Expected is the plan's prediction: one minute after its dump, and (in brackets) from three minutes after it to an unchanged state.",
        "",
        "| | without | with | expected (from, to) | gain | latency without | with | gain | share of the expected gain |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for model, one in f["models"].items():
        window = one["windows"]["after"]
        expected, low, high = (one[name]["bandwidth_gbps"] for name in ("expected", "expected_low", "expected_high"))
        lines.append(
            f"| {model} | {window['without']['bandwidth_gbps']:.1f} Gbit/s | {window['with']['bandwidth_gbps']:.1f} | "
            f"{expected:.1f} ({low:.1f}, {high:.1f}) | {window['bandwidth_gain']:+.1%} | {window['without']['latency_us']:.2f} us | "
            f"{window['with']['latency_us']:.2f} | {-window['latency_gain']:+.1%} | {one['gain_met']:.0%} |"
        )
    return [
        *lines,
        f"| mean | | | | {after['bandwidth_gain']:+.1%} | | | {-after['latency_gain']:+.1%} | |",
        "| paper | | | | +40.4% | | | -30.5% | |",
        "",
        f"After new tenants arrived, the gains were {new['bandwidth_gain']:+.1%} and {-new['latency_gain']:+.1%};",
        f"after a second plan for them, {again['bandwidth_gain']:+.1%} and {-again['latency_gain']:+.1%}.",
        "The paper's gain depends on what its RNICs had lost, which it does not print per model; a chain that costs more leaves more to gain.",
        f"Latency could gain at most {at_most:.1%} here (no lookups at all, Table 3):",
        "by these laws, RNICs that lose 41% of bandwidth have less latency to lose than the paper's gain.",
        "",
        "Two effects reduce the gain below that of masks alone, and the plan accounts for both from the changes between its two dumps:",
        "",
        "- Flows that pause for longer than `max-idle` would lose their exact entry, so they get none.",
        "- Flows that begin after the plan match a mask behind the hyper mask.",
        "",
    ]


def _lookups(f: Row) -> list[str]:
    lines = [
        "| CX-6 | mean lookups per packet here / at the peer | by exact entries | lookups per packet of the other flows | misses per second |",
        "|---|---|---|---|---|",
    ]
    for name, window in f["models"]["CX-6"]["windows"].items():
        for kind in ("without", "with"):
            one = window[kind]
            lines.append(
                f"| {name}, {kind} | {one['q_l']:.1f} / {one['q_r']:.1f} | {one['exact_share']:.0%} | {one['queries_of_others']:.1f} | "
                f"{one['missed_per_s']:.0f} |"
            )
    return [*lines, ""]


def _cost(f: Row) -> list[str]:
    cost, refused = (f["models"]["CX-6"][name] for name in ("cost", "refused"))
    return [
        "## Cost",
        "",
        "| CX-6, per RNIC | first plan | second plan |",
        "|---|---|---|",
        *(
            f"| {text} | {cost[name][0]:{form}} | {cost[name][1]:{form}} |"
            for name, text, form in (
                ("operations", "operations", ".0f"),
                ("took_s", "seconds", ".0f"),
                ("in_software", "flows through software", ".0f"),
                ("longest_in_software_s", "longest time of a flow in software, s (expected)", ".2f"),
                ("newcomers", "flows that started meanwhile and were moved with their mask", ".0f"),
                ("missed", "packets that missed meanwhile", ".0f"),
            )
        ),
        "",
        *(() if cost["operations"][1] else ("A second plan was not worth applying: it would have gained less than 5%.", "")),
        f"The switch refused {', '.join(f'{count} ({reason})' for reason, count in refused.items()) or 'nothing'} in total:",
        "flows that had aged out, or that Open vSwitch had installed again by itself.",
        "",
        "This evaluation showed three requirements for applying a plan:",
        "",
        "- The entries of a mask are added right before the mask moves, because entries that wait behind it are idle and age out.",
        "- Flows that match a mask since the dump move with it, because a mask frees its position only when its last flow leaves.",
        "- Flows whose packets have an exact entry are not added again. When they were, thousands of idle flows remained, which Open vSwitch",
        "  deletes at 200 per second, 2.5 ms each. Insertions waited behind these deletions for a minute, and first packets with them",
        "  (43% more packets missed); the gain was 83% of the expected one.",
        "",
    ]


def _bursts(f: Row) -> list[str]:
    after = f["models"]["CX-6"]["windows"]["after"]
    misses, installed = ([after[kind][name] for kind in ("with", "without")] for name in ("missed_per_s", "inserted_per_s"))
    return [
        "## Small bursty flows",
        "",
        "The first packet of a new or resumed flow goes to the virtual switch with and without plans.",
        f"Plans change the number of packets that miss by {misses[0] / misses[1] - 1.0:+.0%} (CX-6, after), and of insertions by {installed[0] / installed[1] - 1.0:+.0%}.",
        f"{misses[0] / installed[0]:.0f} packets per flow with plans and {misses[1] / installed[1]:.0f} without arrive before the flow is installed, "
        "so an installation takes as long.",
        "Packets after the first pass the masks behind the hyper mask until the next plan activates the flow.",
        f"That takes {_behind_us(f, 'with'):.2f} us in the RNICs, and {_behind_us(f, 'without'):.2f} us without plans; the paper allows 5 us more.",
        "",
    ]


def _harm(mixed: Row) -> list[str]:
    bound = f" (below {mixed['harmed_at_most']:.1%} with 95% confidence)" if mixed["harmed_at_most"] else ""
    harmed = [
        "",
        f"Of the harmed RNICs, {mixed['harmed_planned']} got a plan themselves; they sent {', '.join(f'{one:+.1%}' for one in mixed['harmed_sent'])}.",
        "The cause are the chains of their peers: a plan there optimises the traffic of all senders, so more packets of senders whose masks",
        "are far behind pass through.",
    ]
    return [
        "## Harm",
        "",
        f"The mixed fleets have {mixed['cards']} RNICs of all models ({MIXED_HOSTS} hosts, {len(MIXED_SEEDS)} seeds): few flows, computing "
        "with little traffic, flows that live for 10 s, and long chains.",
        f"{mixed['planned']} RNICs got a plan; the others had less than 5% to gain.",
        f"From {MIXED_WINDOW[0]:g} to {MIXED_WINDOW[1]:g} s, {mixed['harmed']} sent more than 5% less, or had more than 5% more latency, "
        f"than without plans{bound}.",
        "The paper reports 0.03%, which is too rare to observe with this number of RNICs.",
        f"The smallest gains were {mixed['least_sent_gain']:+.1%} sent and {mixed['least_latency_gain']:+.1%} latency; the means "
        f"{mixed['sent_gain']:+.1%} and {mixed['latency_gain']:+.1%}.",
        *(harmed if mixed["harmed"] else ()),
        "",
    ]


def _warm_up(cases: Row) -> list[str]:
    return [
        "## Warm-up",
        "",
        "CX-6 with 3,600 flows; a Gaussian mixture over six dumps of the previous minute predicts flows, which get entries in advance.",
        "",
        "| | predicted flows | entries in advance | misses per second in the next 40 s | sent, Gbit/s |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {one['likely']} | {one['warmed']} | {one['missed_per_s']:.0f} | {one['sent_gbps']:.1f} |"
            for name, one in cases.items()
        ),
        "",
        "The warm-up does not help.",
        "The mixture predicts flows that come back, but a flow gets an entry only if a current rule decides its packets.",
        "Without such a rule, the entry would repeat a rule of the past, which cannot be proven.",
        "Here each rule belongs to one flow and leaves with it, so an inactive flow has no rule.",
        "",
        "Where rules are wide enough to outlive their flows, entries are created (`--history`), but another limit applies: an unused entry is",
        "deleted after `max-idle`, whoever added it. With the default of 10 s, it helps only flows that arrive within ten seconds of the plan.",
        "A longer history does not change that, so the backend stores none.",
        "`max-idle` itself matters most: with 60 s, flows that pause for 20 s keep their entries.",
    ]
