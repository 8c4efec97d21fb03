import { Text, Textarea } from "@mantine/core";
import { useId, useRef } from "react";
import type { PolicyProblem } from "@/lib/api/types";
import classes from "./FormulaField.module.css";

interface Props {
  value: string;
  /** What is wrong with what stands there now. */
  problems: readonly PolicyProblem[];
  onChange: (formula: string) => void;
}

/** The formula around its first problem that has a place; a problem at the end is shown behind it. */
export function cut(
  formula: string,
  { position, length }: Pick<PolicyProblem, "position" | "length">,
): [string, string, string] | null {
  if (position === null || position === undefined || position > formula.length) return null;
  const end = position + Math.max(length ?? 1, 1);
  return [formula.slice(0, position), formula.slice(position, end) || "▯", formula.slice(end)];
}

export function FormulaField({ value, problems, onChange }: Props) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const first = value.trim() === "" ? undefined : problems.find(({ kind }) => kind !== "binding");
  const parts = first && cut(value, first);
  return (
    <div>
      <Textarea
        ref={field}
        label="Formula"
        required
        autosize
        minRows={2}
        maxRows={8}
        spellCheck={false}
        autoComplete="off"
        placeholder="G(LINK_LOST -> X(!LATE W LINK_BACK))"
        description="Operators ! & | -> <-> X (next) F (once) G (always) U (until) W (unless) R (release); names are propositions"
        styles={{ input: { fontFamily: "var(--ww-mono)", fontSize: "0.875rem" } }}
        value={value}
        aria-invalid={first ? true : undefined}
        aria-describedby={first ? id : undefined}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <div id={id} role="status" aria-label="Formula problem">
        {parts && (
          <pre className={classes["echo"]} aria-hidden="true">
            {parts[0]}
            <mark className={classes["wrong"]}>{parts[1]}</mark>
            {parts[2]}
          </pre>
        )}
        {first && (
          <Text size="sm" mt={2} style={{ color: "var(--ww-bad)" }} data-problem={first.kind}>
            {first.position !== null && first.position !== undefined ? `At character ${first.position + 1}: ` : ""}
            {first.message}
          </Text>
        )}
      </div>
    </div>
  );
}
