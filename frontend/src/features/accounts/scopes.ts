import type { components } from "@/lib/api/schema";

type Scope = components["schemas"]["TokenScope"];
type Token = components["schemas"]["Token"];

export const SCOPES: readonly { value: Scope; label: string }[] = [
  { value: "read", label: "read: the fleet, incidents, remedies and all other lists" },
  { value: "incidents", label: "incidents: acknowledge, resolve, comment, silence" },
  { value: "remedies", label: "remedies: request, approve and undo remedies, plans and rollouts" },
  { value: "lab", label: "lab: start and stop campaigns" },
  { value: "admin", label: "admin: everything else that the role allows" },
];

export function toScopes(values: readonly string[]): Scope[] {
  return SCOPES.map((scope) => scope.value).filter((scope) => values.includes(scope));
}

/** Names from a text with commas, spaces or line breaks between them. */
export function namesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter(Boolean))];
}

/** Racks from a text with commas or line breaks between them: a rack's name may have spaces. */
export function racksIn(text: string): string[] {
  const names = text.split(/[,\n]/).map((name) => name.trim());
  return [...new Set(names.filter(Boolean))];
}

/** What a token is limited to, in a few words. */
export function limitsOf(token: Pick<Token, "hosts" | "racks">): string {
  const shown = [...token.hosts.map((host) => `host ${host}`), ...token.racks.map((rack) => `rack ${rack}`)];
  if (shown.length === 0) return "all hosts";
  const rest = shown.length - 2;
  return shown.slice(0, 2).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** Why a token does not work, or that it may do less than its role; nothing for one that works as created. */
export function stateNote(token: Pick<Token, "state" | "role" | "effective_role">): string | null {
  if (token.state === "owner_disabled") return "not valid: its owner is disabled";
  if (token.state === "no_owner") return "not valid: it has no owner; create a new one";
  return token.effective_role && token.effective_role !== token.role
    ? `${token.effective_role} only: its owner's role`
    : null;
}
