import { NumberInput, Text } from "@mantine/core";
import { useState } from "react";
import type { NfModel } from "@/lib/api/types";
import { FormDialog } from "@/lib/ui/FormDialog";
import { useSetTerms } from "../queries";

/** Cores and SLA of a function, whichever card it runs on. */
export function TermsDialog({ model, onClose }: { model: NfModel; onClose: () => void }) {
  const [cores, setCores] = useState<number | string>(model.terms.cores);
  const [percent, setPercent] = useState<number | string>(
    model.terms.sla_drop == null ? "" : Number((100 * model.terms.sla_drop).toPrecision(4)),
  );
  const set = useSetTerms();
  return (
    <FormDialog
      title={`Terms of ${model.function}`}
      submit="Save"
      request={set}
      disabled={typeof cores !== "number"}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        const terms = { cores: Number(cores), sla_drop: typeof percent === "number" ? percent / 100 : null };
        set.mutate({ name: model.function, terms }, { onSuccess: onClose });
      }}
    >
      <NumberInput
        label="Cores"
        description="It needs so many on a card"
        min={1}
        max={64}
        value={cores}
        onChange={setCores}
      />
      <NumberInput
        label="May lose"
        description="Share of its solo throughput that neighbours may take; empty: nothing is promised"
        suffix="%"
        min={0.1}
        max={99}
        value={percent}
        onChange={setPercent}
      />
      <Text size="xs" c="dimmed">
        Predictions, placements and alerts of this function use these terms on every card.
      </Text>
    </FormDialog>
  );
}
