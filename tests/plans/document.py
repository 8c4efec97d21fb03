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
    """What the cases come to."""
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
    """How many cards of the mixed fleets sent less, or later, by more than 5 %."""
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
    """Time in both cards of a packet whose flow has no exact entry, when its mask stands alike at both ends."""
    queries = f["models"]["CX-6"]["windows"]["after"][kind]["queries_of_others"]
    return latency_us(profiles()["CX-6"].performance, queries, queries)


def document(f: Row) -> str:
    """The page."""
    after, again, new = (f["mean_gains"][name] for name in ("after", "planned again", "new tenants"))
    fewer = "" if f["flows"] == 15_000 else f" The paper's cards had 15,000 flows; this run has fewer (`ARGS='--flows {f['flows']}'`)."
    lines = [
        "# What are mask plans worth?",
        "",
        "Written by `make evaluate-plans`; what a plan does is in [plans.md](plans.md).",
        "",
        f"Simulated: pairs of cards of one model, each with {f['flows']:,} flows (half of its own tenants, half of its peer's), in `fleetsim drive`: mask",
        "chains that are queried in order, ageing, insertions, software forwarding and the paper's law of performance, written in Go apart from",
        "the planner. Plans are made by the planner that ships from dumps of the simulated switch, and typed at that switch (`dpctl/add-flow`,",
        f"`dpctl/del-flow`) at the plan's pace while traffic goes on.{fewer} No figure here comes from an RNIC.",
        "",
        f"The {MASKS} masks of a card were chosen so that cards without plans lose about what the paper's lose at 15,000 flows (Figure 14: 41 % on a",
        "CX-4, 70 Gbit/s on an E810), before anything was measured with a plan. Demand is what the card forwards without masks, in eight groups of",
        "flows with equal shares (as Zipf's law); a fifth of the flows send for 4 s and rest for 20 s, a fifth live for two minutes, and new tenants",
        f"with new masks come at 130 s. Plans at {' s and '.join(f'{at:g}' for at in PLAN_AT)} s of {END_S:g} s.",
        "",
        "## Bandwidth and latency",
        "",
        "What the chains of both ends let through, and the time in both cards; mean of both cards. The gain is with against without at the same time.",
        "Expected is what the plan said: a minute after its dump, and from three minutes after it to while nothing changes.",
        "",
        "| | without | with | expected (from, to) | gain | latency without | with | gain | share of the expected gain |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for model, one in f["models"].items():
        window = one["windows"]["after"]
        lines.append(
            f"| {model} | {window['without']['bandwidth_gbps']:.1f} Gbit/s | {window['with']['bandwidth_gbps']:.1f} | "
            f"{one['expected']['bandwidth_gbps']:.1f} ({one['expected_low']['bandwidth_gbps']:.1f}, {one['expected_high']['bandwidth_gbps']:.1f}) | {window['bandwidth_gain']:+.1%} | {window['without']['latency_us']:.2f} us | "
            f"{window['with']['latency_us']:.2f} | {-window['latency_gain']:+.1%} | {one['gain_met']:.0%} |"
        )
    lines += [
        f"| mean | | | | {after['bandwidth_gain']:+.1%} | | | {-after['latency_gain']:+.1%} | |",
        "| paper | | | | +40.4% | | | -30.5% | |",
        "",
        f"After new tenants came, {new['bandwidth_gain']:+.1%} and {-new['latency_gain']:+.1%}; after they were planned for,",
        f"{again['bandwidth_gain']:+.1%} and {-again['latency_gain']:+.1%}. The paper's gain depends on what its cards had lost, which it does not",
        "print for each model; a chain that costs more than its leaves more to gain. Latency could gain "
        f"{mean(one['latency_gain_at_most'] for one in f['models'].values()):.1%} at most here (no queries at",
        "all, Table 3): cards that lose 41 % of bandwidth by these laws have less latency to lose than the paper's gain.",
        "",
        "Why it is not what masks alone would give: flows that rest for longer than `max-idle` would lose their exact entry, so they get none; those that",
        "begin after the plan come under a mask behind the hyper mask. The plan counts both, from what came between its two dumps.",
        "",
        "| CX-6 | mean queries here / at the peer | by exact entries | queries of the other flows | misses a second |",
        "|---|---|---|---|---|",
    ]
    for name, window in f["models"]["CX-6"]["windows"].items():
        for kind in ("without", "with"):
            one = window[kind]
            lines.append(
                f"| {name}, {kind} | {one['q_l']:.1f} / {one['q_r']:.1f} | {one['exact_share']:.0%} | {one['queries_of_others']:.1f} | "
                f"{one['missed_per_s']:.0f} |"
            )
    cost = f["models"]["CX-6"]["cost"]
    misses = [f["models"]["CX-6"]["windows"]["after"][kind]["missed_per_s"] for kind in ("with", "without")]
    installed = [f["models"]["CX-6"]["windows"]["after"][kind]["inserted_per_s"] for kind in ("with", "without")]
    refused = f["models"]["CX-6"]["refused"]
    lines += [
        "",
        "## What it costs",
        "",
        "| CX-6, per card | first plan | second plan |",
        "|---|---|---|",
        *(
            f"| {text} | {cost[name][0]:{form}} | {cost[name][1]:{form}} |"
            for name, text, form in (
                ("operations", "operations", ".0f"),
                ("took_s", "seconds", ".0f"),
                ("in_software", "flows through software", ".0f"),
                ("longest_in_software_s", "longest time of one in software, s (expected)", ".2f"),
                ("newcomers", "flows that came meanwhile and were moved with their mask", ".0f"),
                ("missed", "packets that missed meanwhile", ".0f"),
            )
        ),
        "",
        *(() if cost["operations"][1] else ("A second plan was not worth it: it would have gained less than 5 %.", "")),
        f"The switch refused {', '.join(f'{count} ({reason})' for reason, count in refused.items()) or 'nothing'} in all: flows that had aged, or that",
        "Open vSwitch had installed again by itself. Applying needs three things that were found here: the entries of a mask are added right before",
        "it is moved (while they wait behind it they are idle, and age); what came under a mask since the dump is moved with it (a mask gives up its",
        "place only when its last flow goes); and flows whose packets have an entry are not added again. When they were, thousands of idle flows were",
        "left, which Open vSwitch deletes 200 a second, each in 2.5 ms; insertions waited behind these deletions for a minute, first packets with them",
        "(43 % more packets missed), and the gain was 83 % of what was expected.",
        "",
        "## Small bursty flows",
        "",
        "The first packet of a flow that is new or has rested asks the virtual switch with and without plans. With plans there are",
        f"{misses[0] / misses[1] - 1.0:+.0%} packets that miss (CX-6, after), and {installed[0] / installed[1] - 1.0:+.0%} insertions: {misses[0] / installed[0]:.0f} packets each with plans and",
        f"{misses[1] / installed[1]:.0f} without come before their flow is installed, so an installation takes as long. The packets after the first meet the masks behind the",
        f"hyper mask until the next plan activates the flow. In the cards that takes {_behind_us(f, 'with'):.2f} us, and {_behind_us(f, 'without'):.2f} us without plans: the paper allows 5 us more.",
        "",
        "## Harm",
        "",
    ]
    mixed = f["mixed"]
    bound = f" (below {mixed['harmed_at_most']:.1%} with 95 % confidence)" if mixed["harmed_at_most"] else ""
    lines += [
        f"{mixed['cards']} cards of all models ({MIXED_HOSTS} hosts, {len(MIXED_SEEDS)} seeds): few flows, computing that hardly talks, flows that",
        f"live for 10 s, long chains. {mixed['planned']} got a plan (the others had less than 5 % to gain). From {MIXED_WINDOW[0]:g} to {MIXED_WINDOW[1]:g} s",
        f"{mixed['harmed']} sent more than 5 % less, or had more than 5 % more latency, than without plans{bound}. The paper has 0.03 %: so few cannot",
        f"be seen among so many cards. Least gain {mixed['least_sent_gain']:+.1%} sent, {mixed['least_latency_gain']:+.1%} latency; mean "
        f"{mixed['sent_gain']:+.1%} and {mixed['latency_gain']:+.1%}.",
        *(
            (
                "",
                f"Of those harmed {mixed['harmed_planned']} got a plan themselves; they sent {', '.join(f'{one:+.1%}' for one in mixed['harmed_sent'])}. What they meet are the chains of their peers: a plan",
                "there is made for the traffic of all senders, and more packets of those whose masks stand far behind come through.",
            )
            if mixed["harmed"]
            else ()
        ),
        "",
        "## Does the warm-up help?",
        "",
        "CX-6 with 3,600 flows; entries for flows that are likely to come, by a Gaussian mixture over six dumps of the minute before.",
        "",
        "| | flows that it expects | entries in advance | misses a second in the 40 s after | sent, Gbit/s |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {one['likely']} | {one['warmed']} | {one['missed_per_s']:.0f} | {one['sent_gbps']:.1f} |"
            for name, one in f["warm_up"].items()
        ),
        "",
        "No. The mixture finds flows that come back, but a flow gets an entry only where a rule that is there today decides its packets: otherwise the",
        "entry would do what nobody can prove, namely what a rule of the past said. Here each rule is of one flow and leaves with it, so there is none",
        "for a flow that is away. Where rules are wide enough to outlive their flows, entries are made (`--history`), and then another limit holds: an",
        "entry that nobody uses is deleted after `max-idle`, whoever added it, so with the default of 10 s it helps a flow that comes within ten seconds",
        "of the plan. That does not depend on how long the history is, so the backend keeps none. `max-idle` itself is what matters: with 60 s the flows",
        "that rest for 20 s keep their entries.",
        "",
        f"All cases took {f['cpu_s']:.0f} s of CPU time.",
        "",
    ]
    return "\n".join(lines)
