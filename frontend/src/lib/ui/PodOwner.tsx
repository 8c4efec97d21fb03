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

/** Who runs a pod; its labels on request. Nothing where Kubernetes said nothing. */
export function PodOwner({ owner, labels }: Facts) {
  if (!owner) return null;
  return (
    <Tooltip
      label={<span style={{ whiteSpace: "pre-line" }}>{podFacts({ owner, labels })}</span>}
      multiline
      maw={420}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Text
        span
        tabIndex={0}
        size="xs"
        c="dimmed"
        style={{ whiteSpace: "nowrap", textDecoration: "underline dotted", textUnderlineOffset: 3 }}
      >
        {owner}
      </Text>
    </Tooltip>
  );
}
