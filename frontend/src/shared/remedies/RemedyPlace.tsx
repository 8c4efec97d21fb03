import { Link } from "@tanstack/react-router";
import type { Remedy } from "@/lib/api/types";

/** Where a remedy is carried out: an RNIC, or all of a host. */
export function RemedyPlace({ remedy }: { remedy: Pick<Remedy, "host" | "pci"> }) {
  if (!remedy.pci) {
    return (
      <Link to="/" search={{ host: remedy.host }}>
        {remedy.host}
      </Link>
    );
  }
  return (
    <Link to="/rnics/$host/$pci" params={{ host: remedy.host, pci: remedy.pci }}>
      {remedy.host} {remedy.pci}
    </Link>
  );
}
