import { Link } from "@tanstack/react-router";
import { plural } from "@/lib/format";
import { EmptyState } from "@/lib/ui/EmptyState";
import type { FleetRange } from "./filters";

const SPANS: Readonly<Record<FleetRange, string>> = {
  "1h": "the last hour",
  "24h": "the last day",
  "7d": "the last week",
};

interface Props {
  range: FleetRange;
  /** Promises were broken, but not where the filters look. */
  filtered: boolean;
  /** RNICs with broken promises that the API has, but does not list. */
  unlisted: number;
  /** No VF has an SLO. */
  unpromised: boolean;
}

/** Why the list is empty, which is good news only where something was promised. */
export function NothingBroken({ range, filtered, unlisted, unpromised }: Props) {
  if (filtered)
    return (
      <EmptyState title="No RNIC matches these filters">
        {unlisted > 0
          ? `Only the worst RNICs are searched: ${plural(unlisted, "other")} had broken promises too. Choose a shorter range to have fewer.`
          : "Clear the filters to see every RNIC."}
      </EmptyState>
    );
  if (unpromised)
    return (
      <EmptyState title="Nothing is promised to any VF yet">
        A promise (SLO) is a bandwidth envelope with bounds of delay and loss.{" "}
        <Link to="/tenants/slos">Define SLOs</Link> and assign them to tenants, or set <code>wallwatch.io/slo</code> in
        a CNI configuration; Wallwatch then counts each second in which one is broken, and names the VF whose traffic
        broke it.
      </EmptyState>
    );
  return (
    <EmptyState title={`No promise was broken in ${SPANS[range]}`}>
      Choose a longer range to look further back. Seconds without evidence count as unknown, never as kept.
    </EmptyState>
  );
}
