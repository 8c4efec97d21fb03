import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { vfName } from "./text";

interface Props {
  host: string;
  pci: string;
  vf: number;
  pod: string | null;
  /** Next to the name, such as how many seconds. */
  note?: string;
}

/** A VF by the pod that holds it, as the way to its page. */
export function VfLink({ host, pci, vf, pod, note }: Props) {
  return (
    <span style={{ overflowWrap: "anywhere" }}>
      <Link to="/tenants/rnics/$host/$pci/vfs/$vf" params={{ host, pci, vf: String(vf) }}>
        {vfName({ vf, pod })}
      </Link>{" "}
      <Text span size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
        {[pod !== null && `VF ${vf}`, note].filter(Boolean).join(" · ")}
      </Text>
    </span>
  );
}
