import { Link } from "@tanstack/react-router";
import { EmptyState } from "@/lib/ui/EmptyState";

/** Why there are no flows, and what there is instead. */
export function WithoutFlows({ host, pci }: { host: string; pci: string }) {
  return (
    <EmptyState title="Flows are not measured on this host">
      Its numbers come from a node_exporter or from DTS, or its collector does not reach Open vSwitch. Limits and the
      symptoms S1 to S8 cannot be judged without flows. Ports, errors and the PCIe link are under{" "}
      <Link to="/rnics/$host/$pci" params={{ host, pci }} search={{ tab: "hardware" }}>
        Hardware
      </Link>
      .
    </EmptyState>
  );
}
