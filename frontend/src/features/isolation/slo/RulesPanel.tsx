import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import type { SloClass, SloRule, SloRules } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { RuleDialog } from "./RuleDialog";
import { edited, type RulesDraft, undone, withRule } from "./rulesDraft";
import { RuleTable } from "./RuleTable";
import { useSaveRules } from "./queries";

interface Props {
  stored: SloRules;
  classes: readonly SloClass[];
  mayChange: boolean;
  draft: RulesDraft | null;
  onDraft: (draft: RulesDraft | null) => void;
  /** Why the rules would be refused as they are; null when they may be saved. */
  refusal: string | null;
}

/** Which VFs get which class. Changes are collected, previewed and saved together. */
export function RulesPanel({ stored, classes, mayChange, draft, onDraft, refusal }: Props) {
  const { time } = useTimeFormat();
  const save = useSaveRules();
  const [dialog, setDialog] = useState<{ at: number | null } | null>(null);
  const rules = draft?.rules ?? stored.rules;
  const change = (next: SloRule[]) => {
    save.reset();
    onDraft(edited(draft, stored, next));
  };
  const outdated = draft !== null && draft.version !== stored.version;
  return (
    <Panel
      title="Rules"
      aside={
        <Text size="xs" c="dimmed">
          {draft
            ? "not saved yet"
            : stored.updated_at === null
              ? "the first rule that matches a VF assigns its class"
              : `the first rule that matches a VF assigns its class · saved ${time(stored.updated_at)} by ${stored.updated_by ?? "unknown"}`}
        </Text>
      }
      actions={
        mayChange && (
          <Group gap={6}>
            {draft && (
              <>
                <Button size="compact-sm" variant="subtle" onClick={() => onDraft(null)}>
                  Discard changes
                </Button>
                <Button size="compact-sm" variant="default" onClick={() => onDraft(undone(draft))}>
                  Undo
                </Button>
                <Button
                  size="compact-sm"
                  loading={save.isPending}
                  disabled={refusal !== null}
                  title={refusal ?? undefined}
                  onClick={() =>
                    save.mutate({ rules: draft.rules, version: draft.version }, { onSuccess: () => onDraft(null) })
                  }
                >
                  Save rules
                </Button>
              </>
            )}
            <Button
              size="compact-sm"
              variant={draft ? "default" : "filled"}
              disabled={classes.length === 0}
              title={classes.length === 0 ? "Create an SLO class first" : undefined}
              onClick={() => setDialog({ at: null })}
            >
              Add rule
            </Button>
          </Group>
        )
      }
      flush={rules.length > 0}
    >
      {save.error !== null && (
        <div style={{ padding: 12 }}>
          <ProblemNotice error={save.error} />
        </div>
      )}
      {outdated && (
        <Text size="sm" role="status" p={12} style={{ color: "var(--ww-warn)" }}>
          ▲ {stored.updated_by ?? "Someone"} saved other rules meanwhile. Discard your changes to see them; saving yours
          is refused.
        </Text>
      )}
      {rules.length === 0 ? (
        <EmptyState title="No rules: VFs are promised only what their CNI configuration says">
          {mayChange ? "Add a rule to assign a class by tenant, pod, host or model." : "An operator can add rules."}
        </EmptyState>
      ) : (
        <RuleTable rules={rules} mayChange={mayChange} onRules={change} onEdit={(at) => setDialog({ at })} />
      )}
      {dialog && (
        <RuleDialog
          known={dialog.at === null ? null : (rules[dialog.at] ?? null)}
          classes={classes}
          onRule={(rule) => change(withRule(rules, dialog.at, rule))}
          onClose={() => setDialog(null)}
        />
      )}
    </Panel>
  );
}
