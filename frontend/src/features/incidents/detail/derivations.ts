import type { RemedyAction, SuggestedRemedy } from "@/lib/api/types";
import { paramsText } from "@/shared/remedies/paramsText";

type Action = Pick<RemedyAction, "params"> | undefined;

function labelOf(name: string, action: Action): string {
  return action?.params.find((param) => param.name === name)?.label ?? name.replaceAll("_", " ");
}

/** `max-idle: longest counter gap 87.3 s x 2, rounded up to 180,000 ms`, one line for each measured value. */
export function derivationText({ derivations }: Pick<SuggestedRemedy, "derivations">, action: Action): string[] {
  return Object.entries(derivations ?? {}).map(([name, text]) => `${labelOf(name, action)}: ${text}`);
}

/** `max-idle 90,000 ms (present max-idle 30,000 ms x 3)`; null where deriving again would change nothing. */
export function newestText({ newest }: Pick<SuggestedRemedy, "newest">, action: Action): string | null {
  if (!newest) return null;
  const reasons = Object.values(newest.derivations).join("; ");
  return `${paramsText(newest.params, action)}${reasons ? ` (${reasons})` : ""}`;
}
