import { Button, Select, Text } from "@mantine/core";
import { useState } from "react";
import type { SloClass, SloRule } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { MatcherRows } from "@/shared/matchers/MatcherRows";
import { promiseText } from "../text";
import { VF_LABELS } from "./labels";

interface Props {
  /** The rule to edit; null adds one. */
  known: SloRule | null;
  classes: readonly SloClass[];
  onRule: (rule: SloRule) => void;
  onClose: () => void;
}

/** Nothing is sent from here: a rule takes effect when all rules are saved. */
const NO_REQUEST = { error: null, isPending: false };

/** One rule: which VFs, and what they are promised. */
export function RuleDialog({ known, classes, onRule, onClose }: Props) {
  const [matchers, setMatchers] = useState<SloRule["matchers"]>(
    known?.matchers ?? [{ name: "namespace", op: "=", value: "" }],
  );
  const [name, setName] = useState<string | null>(known?.slo_class ?? classes[0]?.name ?? null);
  const chosen = classes.find((each) => each.name === name);
  const complete = name !== null && matchers.every((matcher) => matcher.value !== "");
  return (
    <FormDialog
      title={known ? "Edit rule" : "Add a rule"}
      submit={known ? "Change rule" : "Add rule"}
      request={NO_REQUEST}
      disabled={!complete}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        if (name === null || !complete) return;
        onRule({ matchers, slo_class: name });
        onClose();
      }}
    >
      <MatcherRows title="VFs where" labels={VF_LABELS} matchers={matchers} onChange={setMatchers} />
      {matchers.length === 0 ? (
        <Text size="xs" c="dimmed">
          No conditions: the rule is about every VF that no rule before it matches.
        </Text>
      ) : (
        <Button variant="subtle" style={{ alignSelf: "flex-start" }} onClick={() => setMatchers([])}>
          Match every VF
        </Button>
      )}
      <Select
        label="Get the SLO class"
        required
        allowDeselect={false}
        data={classes.map((each) => each.name)}
        value={name}
        onChange={setName}
        description={
          chosen
            ? promiseText({
                ...chosen,
                p50_us: chosen.p50_us ?? null,
                p99_us: chosen.p99_us ?? null,
                loss: chosen.loss ?? null,
              })
            : undefined
        }
      />
      <Text size="xs" c="dimmed">
        The preview shows which VFs the rule is about; nothing changes until you save the rules.
      </Text>
    </FormDialog>
  );
}
