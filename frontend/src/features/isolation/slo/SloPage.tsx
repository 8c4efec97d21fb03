import { Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { useMayChange } from "@/shared/session";
import { TenantsHeader } from "../TenantsHeader";
import { ClassPanel } from "./ClassPanel";
import { PreviewPanel } from "./PreviewPanel";
import { refusalOf } from "./previewText";
import { usePreview, useSloClasses, useSloRules } from "./queries";
import type { RulesDraft } from "./rulesDraft";
import { RulesPanel } from "./RulesPanel";

/** What tenants are promised: classes, the rules that assign them, and whom they are about. */
export function SloPage() {
  const mayChange = useMayChange();
  const classes = useSloClasses();
  const rules = useSloRules();
  const [draft, setDraft] = useState<RulesDraft | null>(null);
  // The server previews for those who may change rules.
  const shown = draft?.rules ?? rules.data?.rules;
  const preview = usePreview(mayChange && shown ? shown : null);
  return (
    <Stack gap={12}>
      <TenantsHeader />
      {!mayChange && (
        <Text size="sm" c="dimmed">
          You can read SLOs. Changing them needs the role operator or admin.
        </Text>
      )}
      <ClassPanel mayChange={mayChange} />
      {rules.data ? (
        <RulesPanel
          stored={rules.data}
          classes={classes.data ?? []}
          mayChange={mayChange}
          draft={draft}
          onDraft={setDraft}
          refusal={refusalOf(preview.data)}
        />
      ) : (
        <Panel title="Rules">
          <QueryState query={rules} lines={4}>
            {() => null}
          </QueryState>
        </Panel>
      )}
      {mayChange && rules.data && <PreviewPanel preview={preview} draft={draft !== null} />}
    </Stack>
  );
}
