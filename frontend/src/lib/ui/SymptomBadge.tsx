import { Badge, VisuallyHidden } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useNames } from "../api/useCatalogue";
import { symptomMark, symptomWord } from "../symptoms";

interface Props {
  symptom: string;
  withTitle?: boolean;
  /** Where there is no room for a word: the mark alone, the word for screen readers. */
  short?: boolean;
  /** It has cleared: drawn hollow, with the word. */
  over?: boolean;
}

const SOLID = { background: "var(--ww-text)", color: "var(--ww-panel)" };
const HOLLOW = { background: "transparent", color: "var(--ww-text)", border: "1px dashed var(--ww-dim)" };

/** A symptom's number as a solid chip, hollow once it has cleared; its name on hover and for screen readers. */
export function SymptomBadge({ symptom, withTitle = false, short = false, over = false }: Props) {
  const name = useNames().symptom(symptom);
  const both = name === symptom ? symptom : `${symptomWord(symptom)} · ${name}`;
  return (
    <Badge
      title={withTitle ? undefined : over ? `${both}: recently cleared` : both}
      radius="xs"
      size="sm"
      variant="filled"
      tt="none"
      style={{ flex: "none", minWidth: "max-content", ...(over ? HOLLOW : SOLID) }}
    >
      {withTitle ? both : short ? symptomMark(symptom) : symptomWord(symptom)}
      {short && symptomMark(symptom) !== symptom && <VisuallyHidden>{symptom}</VisuallyHidden>}
      {over ? " cleared" : ""}
    </Badge>
  );
}

/** The chip as the way to the page that explains the symptom. */
export function SymptomLink({ symptom, over }: { symptom: string; over?: boolean }) {
  const name = useNames().symptom(symptom);
  return (
    <Link
      to="/symptoms/$symptom"
      params={{ symptom }}
      aria-label={`${symptom}: ${name}`}
      style={{ textDecoration: "none" }}
    >
      <SymptomBadge symptom={symptom} over={over} />
    </Link>
  );
}
