import { useRef, useState } from "react";
import type { NewRemedy } from "@/lib/api/types";
import { useStates } from "@/lib/api/useStates";
import { newKey } from "@/lib/orderKey";
import { isOver } from "@/lib/states";
import { useCreateRemedy, useRemedy } from "../queries";

type Order = Pick<NewRemedy, "action" | "host" | "pci" | "params" | "incident_id">;

/** A dry run is valid for its exact order: another action, parameter or target requires a new one. */
export function useDryRun(order: Order | null) {
  const create = useCreateRemedy();
  const [made, setMade] = useState<{ of: string; id: string } | null>(null);
  const pending = useRef<{ of: string; key: string } | null>(null);
  const of = JSON.stringify(order);
  const id = made?.of === of ? made.id : null;
  const plan = useRemedy(id);
  const states = useStates("remedy");
  const start = () => {
    if (!order) return;
    // The same order pressed again after a lost answer keeps its key.
    if (pending.current?.of !== of) pending.current = { of, key: newKey() };
    create.mutate(
      { order: { ...order, mode: "dry_run", propose: false }, key: pending.current.key },
      {
        onSuccess: (remedy) => {
          pending.current = null;
          setMade({ of, id: remedy.id });
        },
      },
    );
  };
  const remedy = id === null ? undefined : plan.data;
  return {
    start,
    remedy,
    planned: remedy?.state === "planned",
    waiting:
      create.isPending || (id !== null && (remedy === undefined ? !plan.isError : !isOver(states, remedy.state))),
    error: create.error ?? (id === null ? null : plan.error),
  };
}
