import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { NfModel, NfVersionSummary } from "@/lib/api/types";
import { formatShare, plural } from "@/lib/format";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { ReasonDialog } from "@/lib/ui/ReasonDialog";
import { useMayChange } from "@/shared/session";
import { FunctionsHeader } from "../FunctionsHeader";
import { HowToStart } from "../HowToStart";
import { useNfModels, usePromote, useRollBack } from "../queries";
import { TermsDialog } from "./TermsDialog";
import { UploadDialog } from "./UploadDialog";
import { VersionTable } from "./VersionTable";

type Open =
  | { kind: "upload" }
  | { kind: "terms"; model: NfModel }
  | { kind: "promote" | "rollback"; model: NfModel; version: NfVersionSummary }
  | null;

function scopeText({ nic_model, firmware }: NfModel): string {
  return firmware ? `${nic_model}, firmware ${firmware}` : nic_model;
}

function termsText({ terms }: NfModel): string {
  const sla = terms.sla_drop === null ? "nothing promised" : `may lose ${formatShare(terms.sla_drop)}`;
  return `${plural(terms.cores, "core")}, ${sla}`;
}

/** Models of functions by card model and firmware: upload profiles, review errors, promote, roll back. */
export function ModelsPage() {
  const models = useNfModels();
  const mayChange = useMayChange();
  const [open, setOpen] = useState<Open>(null);
  const promote = usePromote();
  const rollBack = useRollBack();
  const close = () => {
    setOpen(null);
    promote.reset();
    rollBack.reset();
  };
  return (
    <Stack gap={12}>
      <FunctionsHeader
        actions={mayChange && <Button onClick={() => setOpen({ kind: "upload" })}>Upload profiles…</Button>}
      >
        One model per function, card model and firmware, trained on measured profiles. Predictions and placements use
        the active version; each version keeps the hashes of its data, its errors and its ranges.
      </FunctionsHeader>
      <QueryState
        query={models}
        lines={8}
        isEmpty={(items) => items.length === 0}
        empty={
          <Panel title="Models">
            <HowToStart title="No model yet" here />
          </Panel>
        }
      >
        {(items) => (
          <Stack gap={12}>
            {items.map((model) => (
              <Panel
                key={`${model.function} ${scopeText(model)}`}
                title={model.function}
                flush
                aside={<Text span size="xs" c="dimmed">{`${scopeText(model)}; ${termsText(model)}`}</Text>}
                actions={
                  mayChange && (
                    <Group gap={6}>
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`Change the terms of ${model.function}`}
                        onClick={() => setOpen({ kind: "terms", model })}
                      >
                        Cores and SLA…
                      </Button>
                    </Group>
                  )
                }
              >
                <VersionTable
                  model={model}
                  mayChange={mayChange}
                  onPromote={(version) => setOpen({ kind: "promote", model, version })}
                  onRollBack={(version) => setOpen({ kind: "rollback", model, version })}
                />
              </Panel>
            ))}
          </Stack>
        )}
      </QueryState>
      {open?.kind === "upload" && <UploadDialog onClose={close} />}
      {open?.kind === "terms" && <TermsDialog model={open.model} onClose={close} />}
      {open?.kind === "promote" && (
        <ReasonDialog
          title={`Promote version ${open.version.number} of ${open.model.function}`}
          submit="Promote"
          request={promote}
          onClose={close}
          onReason={(reason) => promote.mutate({ id: open.version.id, reason }, { onSuccess: close })}
        >
          It {open.model.active === null ? "becomes the first active version" : `replaces version ${open.model.active}`}{" "}
          for {scopeText(open.model)}. You can roll back.
        </ReasonDialog>
      )}
      {open?.kind === "rollback" && (
        <ReasonDialog
          title={`Roll back ${open.model.function} from version ${open.version.number}`}
          submit="Roll back"
          request={rollBack}
          onClose={close}
          onReason={(reason) => {
            const { nic_model, firmware } = open.model;
            rollBack.mutate({ function: open.model.function, nic_model, firmware, reason }, { onSuccess: close });
          }}
        >
          The previously active version is restored for {scopeText(open.model)}; if there is none, the function is no
          longer predicted.
        </ReasonDialog>
      )}
    </Stack>
  );
}
