import { Badge, Tooltip } from "@mantine/core";
import { SYMPTOM_TITLES } from "../catalogueText";

/** A symptom's number as a solid chip, its name on hover and for screen readers. */
export function SymptomBadge({ symptom, title, withTitle = false }: { symptom: string; title?: string; withTitle?: boolean }) {
  const name = title ?? SYMPTOM_TITLES[symptom] ?? symptom;
  const badge = (
    <Badge radius="xs" size="sm" variant="filled" tt="none" style={{ background: "var(--ww-text)", color: "var(--ww-panel)" }}>
      {symptom}
      {withTitle ? ` ${name}` : ""}
    </Badge>
  );
  return withTitle ? badge : <Tooltip label={`${symptom}: ${name}`}>{badge}</Tooltip>;
}
