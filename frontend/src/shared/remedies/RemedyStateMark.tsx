import type { RemedyState } from "@/lib/api/types";
import { StatusMark } from "@/lib/ui/StatusMark";
import { STATES } from "./states";

export function RemedyStateMark({ state }: { state: RemedyState }) {
  return <StatusMark tone={STATES[state].tone}>{STATES[state].label}</StatusMark>;
}
