import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMayChange } from "@/shared/session";
import { useLabCatalogue } from "./queries";

/** From a likely cause to a campaign that varies only what the cause shows in; nothing for a cause that no device can vary. */
export function ConfirmInLab({ cause, incidentId }: { cause: string; incidentId: string }) {
  const catalogue = useLabCatalogue();
  const mayChange = useMayChange();
  if (!mayChange || !catalogue.data?.causes.some((each) => each.cause === cause)) return null;
  return (
    <Button
      size="compact-xs"
      variant="default"
      style={{ justifySelf: "start" }}
      renderRoot={(props) => <Link to="/lab/new" search={{ cause, incident: incidentId }} {...props} />}
    >
      Confirm in the lab
    </Button>
  );
}
