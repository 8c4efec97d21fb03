import type { Role } from "@/lib/api/types";

export const ROLES: readonly { value: Role; label: string }[] = [
  { value: "viewer", label: "viewer: sees everything, changes nothing" },
  { value: "operator", label: "operator: also applies remedies and works incidents" },
  { value: "admin", label: "admin: also users, tokens, agents and webhooks" },
];

export function toRole(value: string | null): Role {
  return ROLES.find((role) => role.value === value)?.value ?? "viewer";
}
