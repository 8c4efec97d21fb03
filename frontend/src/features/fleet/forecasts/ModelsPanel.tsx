import { Stack, Table, Text } from "@mantine/core";
import { useState } from "react";
import type { ForecastModel } from "@/lib/api/types";
import { formatShare } from "@/lib/format";
import { formatAgo } from "@/lib/time/format";
import { useNow } from "@/lib/time/useNow";
import { EmptyState } from "@/lib/ui/EmptyState";
import { HeadedTable } from "@/lib/ui/HeadedTable";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { StatusMark } from "@/lib/ui/StatusMark";
import { activeModel } from "./activeModel";
import { useForecastModels, useModelChanges } from "./queries";
import { roleText, verdictText } from "./times";

function numberOf(model: ForecastModel, name: string): number | null {
  const value: unknown = model.live[name];
  return typeof value === "number" ? value : null;
}

function Live({ model }: { model: ForecastModel }) {
  if (model.problem !== null) return <StatusMark tone="bad">{`Cannot be used: ${model.problem}`}</StatusMark>;
  if (!numberOf(model, "minutes")) return <>not measured yet</>;
  return (
    <>
      {formatShare(numberOf(model, "mean_error"))} of the limit at 15 min, interval coverage{" "}
      {formatShare(numberOf(model, "coverage"))}
      {model.judged && (
        <Text size="xs" c="dimmed">
          {verdictText(model.judged)}
        </Text>
      )}
    </>
  );
}

/** What became of the models, who did it and why. */
function Changes() {
  const changes = useModelChanges(true);
  const now = useNow();
  return (
    <Panel title="Model history" flush={changes.isSuccess}>
      <QueryState
        query={changes}
        lines={2}
        isEmpty={(items) => items.length === 0}
        empty={
          <EmptyState title="No changes yet">
            Training, promotion, rollback and removal of models are listed here.
          </EmptyState>
        }
      >
        {(items) => (
          <HeadedTable label="Model history" titles={["When", "What", "Model", "By", "Why"]}>
            {items.map((one) => (
              <Table.Tr key={`${one.at}|${one.action}|${one.model}`}>
                <Table.Td>{formatAgo(one.at, now)}</Table.Td>
                <Table.Td>{one.action.replace("_", " ")}</Table.Td>
                <Table.Td style={{ fontFamily: "var(--ww-mono)" }}>{one.model}</Table.Td>
                <Table.Td>{one.by}</Table.Td>
                <Table.Td>{one.reason}</Table.Td>
              </Table.Tr>
            ))}
          </HeadedTable>
        )}
      </QueryState>
    </Panel>
  );
}

/** Who forecasts, in a line; a click opens the list. */
function summaryOf(models: readonly ForecastModel[] | undefined): string {
  if (models === undefined) return "Forecast models";
  const active = activeModel(models);
  const drifted = active.kind !== "none" && active.model.live["drifted"] === true;
  const name = active.kind === "own" ? active.model.id : active.kind === "base" ? "base model" : "none";
  return `Active model: ${name}${drifted ? ", which has drifted: retrain it" : ""}`;
}

/** Who forecasts, and how it fares. It stands above a list as long as the fleet, so it is folded unless it has bad news. */
export function ModelsPanel() {
  const models = useForecastModels();
  const now = useNow();
  const [open, setOpen] = useState(false);
  const bad =
    models.data?.some(
      (model) => (model.role === "champion" && model.live["drifted"] === true) || model.problem !== null,
    ) ?? false;
  return (
    <details open={bad || models.isError} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary style={{ cursor: "pointer", marginBottom: 6 }}>{summaryOf(models.data)}</summary>
      <Stack gap="sm">
        <Panel title="Models" flush={models.isSuccess}>
          <QueryState
            query={models}
            lines={3}
            isEmpty={(items) => items.length === 0}
            empty={
              <EmptyState title="No trained model">
                Forecasts continue the growth of the last minutes. Train a model with: wallwatch forecast train
              </EmptyState>
            }
          >
            {(items) => (
              <HeadedTable label="Models" titles={["Model", "Role", "Trained", "On live data", "Drift"]}>
                {items.map((model) => (
                  <Table.Tr key={model.id} data-model={model.id}>
                    <Table.Td style={{ fontFamily: "var(--ww-mono)" }}>{model.id}</Table.Td>
                    <Table.Td>{roleText(model)}</Table.Td>
                    <Table.Td>{formatAgo(model.trained_at, now)}</Table.Td>
                    <Table.Td>
                      <Live model={model} />
                    </Table.Td>
                    <Table.Td>
                      {model.live["drifted"] === true ? <StatusMark tone="warn">Drifted: retrain</StatusMark> : "none"}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </HeadedTable>
            )}
          </QueryState>
        </Panel>
        {open && <Changes />}
      </Stack>
    </details>
  );
}
