import { Badge, Tooltip } from "@mantine/core";
import { useNames } from "../api/useCatalogue";

/** A symptom's number as a solid chip, its name on hover and for screen readers. */
export function SymptomBadge({ symptom, withTitle = false }: { symptom: string; withTitle?: boolean }) {
  const name = useNames().symptom(symptom);
  const both = name === symptom ? symptom : `${symptom} ${name}`;
  const badge = (
    <Badge radius="xs" size="sm" variant="filled" tt="none" style={{ background: "var(--ww-text)", color: "var(--ww-panel)" }}>
      {withTitle ? both : symptom}
    </Badge>
  );
  return withTitle ? badge : <Tooltip label={both}>{badge}</Tooltip>;
}
