import { Text, Tooltip } from "@mantine/core";

interface Facts {
  owner: string | null;
  labels: Readonly<Record<string, string>>;
}

/** What a pod belongs to, and its labels, a line each; null where Kubernetes said nothing. */
export function podFacts({ owner, labels }: Facts): string | null {
  const known = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const parts = [owner && `owned by ${owner}`, ...known].filter(Boolean);
  return parts.length > 0 ? parts.join("\n") : null;
}

/** Who runs a pod; its labels on request, also those of a pod that nobody owns. Nothing where Kubernetes said nothing. */
export function PodOwner({ owner, labels }: Facts) {
  const facts = podFacts({ owner, labels });
  if (facts === null) return null;
  return (
    <Tooltip
      label={<span style={{ whiteSpace: "pre-line", overflowWrap: "anywhere" }}>{facts}</span>}
      multiline
      maw={420}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Text
        span
        tabIndex={0}
        size="xs"
        c="dimmed"
        style={{ overflowWrap: "anywhere", textDecoration: "underline dotted", textUnderlineOffset: 3 }}
      >
        {owner ?? "labels"}
      </Text>
    </Tooltip>
  );
}
