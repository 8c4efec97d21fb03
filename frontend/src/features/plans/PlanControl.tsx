import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useCreatePlan, usePlansOf } from "./queries";

interface Props {
  host: string;
  pci: string;
  incidentId: string;
  /** It is the one action that the page puts first. */
  primary: boolean;
}

/** Opens the newest plan that can be applied, or starts one. Creating a plan only reads. */
export function PlanControl({ host, pci, incidentId, primary }: Props) {
  const plans = usePlansOf({ host, pci });
  const create = useCreatePlan();
  const variant = primary ? "filled" : "default";
  const newest = plans.data?.items[0];
  if (newest && newest.offered && newest.applied_by === null)
    return (
      <Button variant={variant} renderRoot={(props) => <Link to="/plans/$id" params={{ id: newest.id }} {...props} />}>
        Review plan
      </Button>
    );
  return (
    <div>
      <Button
        variant={variant}
        loading={create.isPending || newest?.state === "reading" || newest?.state === "planning"}
        onClick={() => create.mutate({ host, pci, then: "nothing", incident_id: incidentId })}
      >
        Create mask plan
      </Button>
      {create.isError && <ProblemNotice error={create.error} />}
    </div>
  );
}
